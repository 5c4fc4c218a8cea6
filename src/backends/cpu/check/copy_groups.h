// CopyGroups, the asynchronous copies of a block that threads have waited for.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simt/runtime/check/check_runtime.h"

namespace km::cpu {

/// The groups of asynchronous copies that each thread of a block has committed, and the times at
/// which it has waited for them. A copy is named by the time at which it was issued.
class CopyGroups {
 public:
  /// Begins a block, whose threads have issued no copies.
  void begin() { threads_.clear(); }
  /// The copies that the thread has issued before `now` form groups.
  void commit(uint32_t thread, simt::CopyKind kind, uint32_t now);
  /// At `now` the thread has waited until at most `pending` of its groups are incomplete.
  void wait(uint32_t thread, simt::CopyKind kind, uint32_t pending, uint32_t now);
  /// At `now` all copies that the thread has issued before are complete.
  void wait_all(uint32_t thread, simt::CopyKind kind, uint32_t now);
  /// The time at which the thread has waited for the copy that it issued at `tick`; none if it has
  /// not.
  std::optional<uint32_t> completed(uint32_t thread, simt::CopyKind kind, uint32_t tick) const;

 private:
  /// The copies issued before `end` are complete since `at`.
  struct Wait {
    uint32_t end, at;
  };
  struct Groups {
    std::vector<uint32_t> commits;  // times, ascending
    std::vector<Wait> waits;        // both times ascend
    uint32_t forgotten = 0;         // the waits for copies before this time are no longer known
  };
  Groups& groups_of(uint32_t thread, simt::CopyKind kind);
  static void add(Groups& groups, const Wait& wait);
  static constexpr size_t kKinds = 2;  // group and bulk_group
  static size_t index_of(uint32_t thread, simt::CopyKind kind);

  std::vector<Groups> threads_;  // kKinds for each thread; empty until one commits or waits
};

}  // namespace km::cpu
