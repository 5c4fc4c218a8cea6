// The calls of libraries whose objects have handles. Such a library's description
// (dropin/frame/call.h) also has kNotInitialized, the status for handles that are invalid.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "base/process/fork.h"
#include "dropin/frame/call.h"
#include "dropin/library/driver.h"
#include "dropin/library/handles.h"

namespace km::library {

/// Runs the body of an exported function. Handles are invalid in a forked child.
template <class L, class Body>
typename L::Status call(const char* function, Body&& body) {
  return frame::call<L>(
      function, [&]() -> typename L::Status { return is_forked() ? L::kNotInitialized : body(); });
}

/// An object whose lock a call of this thread holds, and the object of the call around that.
struct HeldObject {
  const void* object;
  const HeldObject* outer;
};
inline thread_local const HeldObject* held_objects = nullptr;

/// Holds an object's lock. A callback of CUPTI within a call may not use the call's object again.
template <class T>
class CallLock {
 public:
  explicit CallLock(T& object) : lock_(object.mutex), held_{&object, held_objects} {
    held_objects = &held_;
  }
  ~CallLock() { held_objects = held_.outer; }
  CallLock(const CallLock&) = delete;
  CallLock& operator=(const CallLock&) = delete;
  /// True if a call of this thread holds the object's lock.
  static bool is_held(const T& object) {
    for (const HeldObject* each = held_objects; each != nullptr; each = each->outer) {
      if (each->object == &object) return true;
    }
    return false;
  }

 private:
  const std::lock_guard<std::mutex> lock_;
  const HeldObject held_;
};

/// Runs a function of an object. If the object has a `mutex`, one call at a time uses it, which
/// holds that. `kind`, such as "generator", names such objects in messages.
template <class L, class T, class Body>
typename L::Status call_with(const char* function, uint64_t handle, const char* kind, Body&& body) {
  return call<L>(function, [&]() -> typename L::Status {
    const std::shared_ptr<T> found = handle_map<T>().find(handle);
    if (found == nullptr) {
      return frame::fail(L::kNotInitialized, "the %s is not live", kind);
    }
    if (is_in_callback()) {
      return frame::fail(frame::status_of<L>(cu::CUDA_ERROR_NOT_PERMITTED),
                         "host functions may not use a %s", kind);
    }
    if constexpr (requires { found->mutex; }) {
      if (CallLock<T>::is_held(*found)) {
        return frame::fail(frame::status_of<L>(cu::CUDA_ERROR_NOT_PERMITTED),
                           "a callback within a call of the %s may not use it", kind);
      }
      const CallLock<T> lock(*found);
      return body(*found);
    } else {
      return body(*found);
    }
  });
}

}  // namespace km::library
