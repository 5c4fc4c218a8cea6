// The live allocations of a context: their sizes and where they were made. Costs two additions per
// allocation while tracking is off.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/context/host_stack.h"
#include "kernelmill/tracking.h"

namespace km {

struct TrackedAllocation {
  uint64_t id = 0;  // in the order of allocation, from 1
  km_allocation_kind kind = KM_ALLOCATION_UNKNOWN;
  uint64_t address = 0, size_bytes = 0;
  int64_t time_ns = 0;  // since the Unix epoch
  std::string tag;
  HostStack stack;

  km_allocation_info info() const;
  /// The allocation in messages: "1024 bytes at 0x7f... of device memory, tag 'weights'".
  std::string describe() const;
  /// The kind of memory: "device memory".
  const char* memory_text() const;
};

class AllocationTracker {
 public:
  void set_flags(km_tracking_flags flags) { flags_.store(flags, std::memory_order_relaxed); }
  /// Tracks allocations with their stacks for the checker, too.
  void set_for_checker(bool on) { for_checker_.store(on, std::memory_order_relaxed); }
  /// True if the program has asked for tracking.
  bool is_asked_for() const { return flags_.load(std::memory_order_relaxed) != KM_TRACKING_OFF; }
  bool is_on() const { return is_asked_for() || for_checker_.load(std::memory_order_relaxed); }

  /// Returns the number that remove() and set_tag() take. Throws std::bad_alloc.
  uint64_t add(km_allocation_kind kind, uint64_t address, uint64_t size_bytes);
  void remove(uint64_t id);
  Status set_tag(uint64_t id, const char* tag);

  /// All live allocations in the order of allocation.
  std::vector<TrackedAllocation> all() const;
  Result<TrackedAllocation> find(uint64_t id) const;
  /// The place of an address relative to the nearest live allocation, with its tag and stack.
  std::string locate(uint64_t address) const;
  /// The allocation that began at an address and was freed lately, in words; empty if there is
  /// none. Only allocations for the checker are remembered.
  std::string freed_at(uint64_t address) const;

 private:
  std::atomic<km_tracking_flags> flags_{KM_TRACKING_OFF};
  std::atomic<bool> for_checker_{false};
  mutable std::mutex mutex_;  // guards the members below
  std::map<uint64_t, TrackedAllocation> live_;
  std::deque<TrackedAllocation> freed_;  // the last ones
  uint64_t last_id_ = 0;
};

}  // namespace km
