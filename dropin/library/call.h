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

/// Runs a function of an object that one call at a time uses: its `mutex` is held during the call.
/// `kind`, such as "generator", names such objects in messages.
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
    const std::lock_guard lock(found->mutex);
    return body(*found);
  });
}

}  // namespace km::library
