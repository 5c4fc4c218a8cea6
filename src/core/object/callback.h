// Callbacks of the host program, which run_callback() runs. While one runs, its thread may not make
// calls that wait.
#pragma once

#include <utility>

#include "base/callback/contained_call.h"
#include "base/result.h"

namespace km {

/// True if the calling thread runs a callback of this library.
bool in_callback();
/// Proof that the calling thread may wait. Functions that wait take one, so that each call has to
/// check before it changes anything.
class MayBlock {
 public:
  /// For destructors, which cannot fail.
  static MayBlock at_end() { return {}; }

 private:
  friend Result<MayBlock> require_may_block();
  MayBlock() = default;
};
/// Fails with KM_ERROR_NOT_PERMITTED inside a callback.
Result<MayBlock> require_may_block();

/// Marks the calling thread as running a callback.
class CallbackScope {
 public:
  CallbackScope();
  ~CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

 private:
  bool before_;
};

/// Runs a lambda whose only statement calls a function of the host program.
template <class Function>
CallEnd run_callback(Function&& function) noexcept {
  const CallbackScope scope;
  return call_contained(std::forward<Function>(function));
}
/// Fails if the callback did not return, for calls that need its result.
Status require_returned(CallEnd end);

/// A function of the host program and its data. `run_*` are the functions that a backend calls with
/// the box as user data; the backend owns the box once it has accepted it.
struct HostCallbackBox {
  km_host_callback callback;
  void* user_data;
  static void run_and_delete(void* box, km_status status);
};
struct ReleaseCallbackBox {
  km_release_callback callback;  // null: no function is called
  void* user_data;
  static void run_and_delete(void* box);
};

}  // namespace km
