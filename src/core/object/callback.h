// Callbacks of the host program. While one runs, its thread may not make calls that wait. All of
// them are called by run_callback().
#pragma once

#include <utility>

#include "base/callback/contained_call.h"
#include "base/result.h"

namespace km {

/// True if the calling thread is inside a callback of this library.
bool in_callback();
/// The right of the calling thread to wait. Functions that wait take one, so that a call cannot
/// forget to ask for it, and asks before it changes anything.
class MayBlock {
 public:
  /// For the ends of objects, which cannot be refused.
  static MayBlock at_end() { return {}; }

 private:
  friend Result<MayBlock> require_may_block();
  MayBlock() = default;
};
/// KM_ERROR_NOT_PERMITTED inside a callback.
Result<MayBlock> require_may_block();

/// For the time of a callback.
class CallbackScope {
 public:
  CallbackScope();
  ~CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

 private:
  bool before_;
};

/// Calls a lambda that does nothing but call a function of the host program.
template <class Function>
CallEnd run_callback(Function&& function) noexcept {
  const CallbackScope scope;
  return call_contained(std::forward<Function>(function));
}
/// For a callback without which its call cannot go on.
Status require_returned(CallEnd end);

/// A host program's function with its data, in the form that a backend calls: `run_*` are given
/// to it with the box as user data. A box belongs to the backend once that has accepted it.
struct HostCallbackBox {
  km_host_callback callback;
  void* user_data;
  static void run_and_delete(void* box, km_status status);
};
struct ReleaseCallbackBox {
  km_release_callback callback;  // null: nothing is to be called
  void* user_data;
  static void run_and_delete(void* box);
};

}  // namespace km
