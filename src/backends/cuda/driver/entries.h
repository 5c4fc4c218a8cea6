// The entries of the vtable (backend/interface.h), one .cpp for each kind of object, and helpers
// that they share.
#pragma once

#include <utility>

#include "backend/guarded_entry.h"
#include "backend/interface.h"
#include "base/result.h"
#include "base/thread/cancellation.h"

namespace km::cuda {

#include "backend/entry_types.inc"

/// Runs the body of an entry and converts exceptions to errors.
template <class Body>
km_status guarded(kmb_error* out_error, Body&& body) {
  // The driver may block in system calls, which are cancellation points.
  const NoCancellation postponed;
  return km::guarded(out_error, std::forward<Body>(body));
}

#include "backend/entries.inc"

}  // namespace km::cuda
