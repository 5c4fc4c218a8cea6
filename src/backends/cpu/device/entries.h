// The functions of the backend's vtable (backend/interface.h), which one .cpp per kind of object
// implements, and their helpers.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "backend/interface.h"
#include "base/result.h"

namespace km::cpu {

#include "backend/entry_types.inc"

/// Copies an error to the caller's structure and returns its status. An error without a text is a
/// lack of host memory, for which the text itself could not be allocated.
km_status report(const Error& error, kmb_error* out_error);

/// Runs the body of an entry and converts std::bad_alloc to a status, because exceptions must not
/// cross the C ABI.
template <class Body>
km_status guarded(kmb_error* out_error, Body&& body) {
  try {
    Status status = std::forward<Body>(body)();
    return status ? KM_SUCCESS : report(status.error(), out_error);
  } catch (const std::bad_alloc&) {
    return report(Error{KM_ERROR_OUT_OF_HOST_MEMORY, {}, 0}, out_error);
  }
}

/// The variant of guarded() for bodies that return a status, which may be one that is no error
/// (KM_NOT_READY).
template <class Body>
km_status caught(kmb_error* out_error, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return report(Error{KM_ERROR_OUT_OF_HOST_MEMORY, {}, 0}, out_error);
  }
}

/// The build id, which the library and its plugin must share.
const char* build_id();

km_status backend_initialize(const kmb_host*, kmb_error*);
#include "backend/entries.inc"

}  // namespace km::cpu
