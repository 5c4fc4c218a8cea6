// User objects: a program's objects whose destructor runs when the last reference is released.
#pragma once

#include <map>

#include "base/thread/spin_lock.h"
#include "dropin/cuda/frame/call.h"
#include "dropin/cuda/frame/handles.h"

namespace km::dropin {

class UserObject final : public Handled {
 public:
  UserObject(void* pointer, cu::CUhostFn destroy, uint64_t count)
      : pointer_(pointer), destroy_(destroy), of_program_(count) {}

  /// Adds or drops references of the program. release() returns false if the program has fewer; it
  /// cannot drop those of graphs.
  void retain(uint64_t count);
  bool release(uint64_t count);
  /// Adds references of graphs: new ones, or ones that the program hands over. move_to_graph()
  /// returns false if the program has fewer.
  void retain_for_graph(uint64_t count);
  bool move_to_graph(uint64_t count);
  /// Drops references of a graph.
  void release_of_graph(uint64_t count);

 private:
  void end();

  void* const pointer_;
  const cu::CUhostFn destroy_;
  SpinLock lock_;  // guards the counts; the object ends when both are 0
  uint64_t of_program_;
  uint64_t of_graphs_ = 0;
};

/// A graph's or executable graph's references to user objects. The program chooses the count for
/// each object, up to 2^31.
class UserReferences {
 public:
  UserReferences() = default;
  ~UserReferences();
  /// A copy acquires references of its own.
  UserReferences(const UserReferences& other) { add_all_of(other); }
  UserReferences(UserReferences&& other) noexcept : counts_(std::move(other.counts_)) {
    other.counts_.clear();
  }
  UserReferences& operator=(const UserReferences&) = delete;
  UserReferences& operator=(UserReferences&&) = delete;
  void swap(UserReferences& other) noexcept { counts_.swap(other.counts_); }

  bool empty() const { return counts_.empty(); }
  /// Takes over references from the caller.
  void add(UserObject& object, uint64_t count);
  void add_all_of(const UserReferences& other);
  /// Moves references to the caller; returns false if there are fewer.
  bool take(UserObject& object, uint64_t count);

 private:
  std::map<UserObject*, uint64_t> counts_;  // each object is also kept by one Ref
};

}  // namespace km::dropin
