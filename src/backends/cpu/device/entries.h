// The entries of the vtable (backend/interface.h), one .cpp per kind of object, and what they
// share.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "backend/interface.h"
#include "base/result.h"

namespace km::cpu {

#include "backend/entry_types.inc"

/// Hands an error to the host.
km_status report(const Error& error, kmb_error* out_error);

/// Runs the body of an entry; no exception leaves it.
template <class Body>
km_status guarded(kmb_error* out_error, Body&& body) {
  try {
    Status status = std::forward<Body>(body)();
    return status ? KM_SUCCESS : report(status.error(), out_error);
  } catch (const std::bad_alloc&) {
    return report(Error{KM_ERROR_OUT_OF_HOST_MEMORY, {}, 0}, out_error);
  }
}

/// guarded() for entries with statuses that are no errors.
template <class Body>
km_status caught(kmb_error* out_error, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return report(Error{KM_ERROR_OUT_OF_HOST_MEMORY, {}, 0}, out_error);
  }
}

/// The build id of the library and this plugin.
const char* build_id();

km_status backend_initialize(const kmb_host*, kmb_error*);
#include "backend/entries.inc"

}  // namespace km::cpu
