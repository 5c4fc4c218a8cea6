// The entries of the vtable (backend/interface.h), one .cpp for each kind of object, and helpers
// that they share.
#pragma once

#include <new>
#include <utility>

#include "backend/interface.h"
#include "base/result.h"
#include "base/thread/cancellation.h"

namespace km::cuda {

#include "backend/entry_types.inc"

/// Copies an error to the host's struct and returns its status.
km_status report(const Error& error, kmb_error* out_error);

/// Runs the body of an entry and converts exceptions to errors.
template <class Body>
km_status guarded(kmb_error* out_error, Body&& body) {
  // The driver may block in system calls, which are cancellation points.
  const NoCancellation postponed;
  try {
    Status status = std::forward<Body>(body)();
    return status ? KM_SUCCESS : report(status.error(), out_error);
  } catch (const std::bad_alloc&) {
    return report(Error{KM_ERROR_OUT_OF_HOST_MEMORY, {}, 0}, out_error);
  }
}

#include "backend/entries.inc"

}  // namespace km::cuda
