// The entries of the vtable (backend/interface.h), one .cpp for each kind of object.
#pragma once

#include <utility>

#include "backend/guarded_entry.h"
#include "backend/interface.h"
#include "base/thread/cancellation.h"

namespace km::vulkan {

#include "backend/entry_types.inc"

/// Runs the body of an entry, which returns a status that may be no error, and converts exceptions.
template <class Body>
km_status caught(kmb_error* out_error, Body&& body) {
  // The driver may block in system calls, which are cancellation points.
  const NoCancellation postponed;
  return km::caught(out_error, std::forward<Body>(body));
}

/// Runs the body of an entry and converts errors and exceptions.
template <class Body>
km_status guarded(kmb_error* out_error, Body&& body) {
  const NoCancellation postponed;
  return km::guarded(out_error, std::forward<Body>(body));
}

#include "backend/entries.inc"

}  // namespace km::vulkan
