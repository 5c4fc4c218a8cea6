// The counters of a launch: what its warps did at each place of the code.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "backend/interface.h"
#include "backends/cpu/counters/access_pattern.h"
#include "simt/runtime/check/counter_runtime.h"

namespace km::cpu {

/// The counters of one thread of the device, by place. A place is one instruction, or one basic
/// block, of generated code.
class WarpCounters {
 public:
  /// One kind of event at a line of the PTX text.
  struct Place {
    uint32_t line = 0;
    km_counter_kind kind = KM_COUNTER_KIND_INVALID;
    auto operator<=>(const Place&) const = default;
  };
  struct Entry {
    uint64_t key = 0;  // identifies the place in the code; 0: none
    Place place;
    kmb_counts counts{};  // of a basic block: its executions, and those that part
    const simt::CountedBlock* block = nullptr;  // null: the place is an access
  };

  /// Counts an access by `request.lanes` to global memory.
  void count_global(const simt::CountedAccess& access, const WarpRequest& request);
  /// Counts an access by `request.lanes` to shared memory.
  void count_shared(const simt::CountedAccess& access, const WarpRequest& request);
  /// Counts an execution of a basic block by `lanes`, of which `way` take one edge.
  void count_block(const simt::CountedBlock& block, uint32_t lanes, uint32_t way);
  const std::vector<Entry>& entries() const { return entries_; }
  void clear();

 private:
  Entry& entry_at(uint64_t key);
  kmb_counts& counts_of(const simt::CountedAccess& access, uint64_t part, km_counter_kind first);
  void grow();

  std::vector<Entry> entries_;  // a hash table whose size is a power of two, or empty
  size_t used_ = 0;
};

/// The counters of all threads of the device. Thread-safe.
class LaunchCounters {
 public:
  void add(const WarpCounters& of_thread);
  /// All places, in the order of their lines. The launch must be over.
  const std::map<WarpCounters::Place, kmb_counts>& places() const { return places_; }

 private:
  void add_block(const WarpCounters::Entry& entry);

  std::mutex mutex_;
  std::map<WarpCounters::Place, kmb_counts> places_;
};

}  // namespace km::cpu
