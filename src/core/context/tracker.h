// The live allocations of a context: their sizes and where they were made. Costs two additions per
// allocation while tracking is off.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernelmill/tracking.h"

namespace km {

struct TrackedAllocation {
  uint64_t id = 0;  // in the order of allocation, from 1
  km_allocation_kind kind = KM_ALLOCATION_UNKNOWN;
  uint64_t address = 0, size_bytes = 0;
  int64_t time_ns = 0;  // since the Unix epoch
  std::string tag;
  std::array<void*, KM_ALLOCATION_FRAMES> frames{};
  uint32_t frame_count = 0;

  km_allocation_info info() const;
  /// The allocation in messages: "1024 bytes at 0x7f... of device memory, tag 'weights'".
  std::string describe() const;
  /// One line for each frame of the stack; empty if stacks are not recorded.
  std::string stack() const;
};

class AllocationTracker {
 public:
  void set_flags(km_tracking_flags flags) { flags_.store(flags, std::memory_order_relaxed); }
  bool is_on() const { return flags_.load(std::memory_order_relaxed) != KM_TRACKING_OFF; }

  /// Returns the number that remove() and set_tag() take. Throws std::bad_alloc.
  uint64_t add(km_allocation_kind kind, uint64_t address, uint64_t size_bytes);
  void remove(uint64_t id);
  Status set_tag(uint64_t id, const char* tag);

  /// All live allocations in the order of allocation.
  std::vector<TrackedAllocation> all() const;
  Result<TrackedAllocation> find(uint64_t id) const;

 private:
  std::atomic<km_tracking_flags> flags_{KM_TRACKING_OFF};
  mutable std::mutex mutex_;  // guards the members below
  std::map<uint64_t, TrackedAllocation> live_;
  uint64_t last_id_ = 0;
};

}  // namespace km
