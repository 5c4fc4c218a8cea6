// Stores past the caches. Where a launch stores more than the last cache holds, each line would be
// read from memory first and push out another one, only to be written later. In kernels with
// barriers a processor does not see those stores coming either: a block loads, works on what it has
// loaded, and then stores all at once. Such stores come late for other threads, so nothing may
// follow them that orders them: the thread makes them visible when its part of the launch is over.
#pragma once

#include <cstdint>
#include <set>

#include "simt/plan/plan.h"

namespace km::simt {

/// The stores that every thread makes at most once, to where the kernel does not load from: what
/// has been loaded is in the cache.
class NontemporalStores {
 public:
  explicit NontemporalStores(const Plan& plan);

  bool is_empty() const { return stores_.empty(); }
  bool contains(const Inst& inst) const { return stores_.count(&inst) != 0; }
  size_t size() const { return stores_.size(); }
  /// The bytes that a thread stores by them.
  uint64_t thread_bytes() const { return thread_bytes_; }

 private:
  std::set<const Inst*> stores_;
  uint64_t thread_bytes_ = 0;
};

}  // namespace km::simt
