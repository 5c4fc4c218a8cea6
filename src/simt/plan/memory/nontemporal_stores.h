// Non-temporal stores, which bypass the caches. If a launch stores more than the last-level cache
// holds, each ordinary store would first read its line from memory and evict another one, only for
// a later write-back. In kernels with barriers hardware does not prefetch these lines either,
// because a block stores all its results at once. Such stores become visible late, so nothing may
// follow them that orders memory: the thread executes a fence when its part of the launch is over.
#pragma once

#include <cstdint>
#include <set>

#include "simt/plan/plan.h"

namespace km::simt {

/// The stores that every thread executes at most once, to memory that the kernel does not load
/// from, since loaded lines are in the cache already.
class NontemporalStores {
 public:
  explicit NontemporalStores(const Plan& plan);

  bool is_empty() const { return stores_.empty(); }
  bool contains(const Inst& inst) const { return stores_.count(&inst) != 0; }
  size_t size() const { return stores_.size(); }
  /// The number of bytes that a thread stores by them.
  uint64_t thread_bytes() const { return thread_bytes_; }

 private:
  std::set<const Inst*> stores_;
  uint64_t thread_bytes_ = 0;
};

}  // namespace km::simt
