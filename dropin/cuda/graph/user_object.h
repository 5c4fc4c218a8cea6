// Objects of the program that graphs look after: destroyed when nobody refers to them any more.
#pragma once

#include <atomic>
#include <map>

#include "dropin/cuda/frame/call.h"
#include "dropin/cuda/frame/handles.h"

namespace km::dropin {

class UserObject final : public Handled {
 public:
  UserObject(void* pointer, cu::CUhostFn destroy, uint64_t count)
      : pointer_(pointer), destroy_(destroy), count_(count) {}

  void retain(uint64_t count) { count_.fetch_add(count); }
  /// With the last reference the handle ends, and the program's function is called. False: there
  /// are not so many.
  bool release(uint64_t count);

 private:
  void* const pointer_;
  const cu::CUhostFn destroy_;
  std::atomic<uint64_t> count_;
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
