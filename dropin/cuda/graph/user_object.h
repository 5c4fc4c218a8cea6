// Objects of the program that graphs look after: destroyed when nobody refers to them any more.
#pragma once

#include <map>

#include "core/object/spin_lock.h"
#include "dropin/cuda/frame/call.h"
#include "dropin/cuda/frame/handles.h"

namespace km::dropin {

class UserObject final : public Handled {
 public:
  UserObject(void* pointer, cu::CUhostFn destroy, uint64_t count)
      : pointer_(pointer), destroy_(destroy), of_program_(count) {}

  /// The program's own references, and their end; false: it has not so many. What graphs have is
  /// not the program's to release.
  void retain(uint64_t count);
  bool release(uint64_t count);
  /// References for graphs, beside the program's, or out of those; false: it has not so many.
  void retain_for_graph(uint64_t count);
  bool move_to_graph(uint64_t count);
  /// The end of references that a graph had.
  void release_of_graph(uint64_t count);

 private:
  void end();

  void* const pointer_;
  const cu::CUhostFn destroy_;
  SpinLock lock_;  // guards what follows; with the last reference of either kind the object ends
  uint64_t of_program_;
  uint64_t of_graphs_ = 0;
};

/// The references of a graph, or of what is instantiated of one: of each object as many as the
/// program says, which may be 2^31.
class UserReferences {
 public:
  UserReferences() = default;
  ~UserReferences();
  /// A copy has references of its own.
  UserReferences(const UserReferences& other) { add_all_of(other); }
  UserReferences(UserReferences&& other) noexcept : counts_(std::move(other.counts_)) {
    other.counts_.clear();
  }
  UserReferences& operator=(const UserReferences&) = delete;
  UserReferences& operator=(UserReferences&&) = delete;
  void swap(UserReferences& other) noexcept { counts_.swap(other.counts_); }

  bool empty() const { return counts_.empty(); }
  /// Takes references over from the caller.
  void add(UserObject& object, uint64_t count);
  void add_all_of(const UserReferences& other);
  /// Hands references over to the caller; false: there are not so many.
  bool take(UserObject& object, uint64_t count);

 private:
  std::map<UserObject*, uint64_t> counts_;  // each object has a reference of Ref's kind, too
};

}  // namespace km::dropin
