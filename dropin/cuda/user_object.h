// Objects of the program that graphs look after: destroyed when nobody refers to them any more.
#pragma once

#include <atomic>
#include <memory>

#include "dropin/cuda/call.h"
#include "dropin/cuda/handles.h"

namespace km::dropin {

class UserObject final : public Handled {
 public:
  UserObject(void* pointer, cu::CUhostFn destroy, uint64_t count)
      : pointer_(pointer), destroy_(destroy), count_(count) {}

  void retain(uint64_t count) { count_.fetch_add(count); }
  /// With the last reference the handle ends, and the program's function is called.
  void release(uint64_t count);

 private:
  void* const pointer_;
  const cu::CUhostFn destroy_;
  std::atomic<uint64_t> count_;
};

/// One reference, which graphs, their clones and what is instantiated share.
struct UserReference {
  std::shared_ptr<UserObject> object;
  /// Takes one over from the caller.
  static UserReference adopt(UserObject& object);
};

}  // namespace km::dropin
