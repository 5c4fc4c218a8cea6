// The frame of a backend's entries: errors and exceptions become a status and the host's struct.
#pragma once

#include <cstdio>
#include <new>
#include <utility>

#include "backend/interface.h"
#include "base/result.h"

namespace km {

/// Copies an error to the caller's structure and returns its status. An error without a text is a
/// lack of host memory, for which the text itself could not be allocated.
inline km_status report(const Error& error, kmb_error* out_error) {
  out_error->native_code = error.native_code;
  const char* text = error.message.empty() ? "the host is out of memory" : error.message.c_str();
  std::snprintf(out_error->message, sizeof out_error->message, "%s", text);
  return error.status;
}

/// Runs the body of an entry, which returns a status that may be no error (KM_NOT_READY), and
/// converts std::bad_alloc to a status, because exceptions must not cross the C ABI.
template <class Body>
km_status caught(kmb_error* out_error, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return report(Error{KM_ERROR_OUT_OF_HOST_MEMORY, {}, 0}, out_error);
  }
}

/// The variant of caught() for bodies that return a Status.
template <class Body>
km_status guarded(kmb_error* out_error, Body&& body) {
  return caught(out_error, [&]() -> km_status {
    Status status = std::forward<Body>(body)();
    return status ? KM_SUCCESS : report(status.error(), out_error);
  });
}

}  // namespace km
