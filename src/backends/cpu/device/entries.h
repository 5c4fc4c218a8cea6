// The functions of the backend's vtable (backend/interface.h), which one .cpp per kind of object
// implements, and their helpers.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "backend/guarded_entry.h"
#include "backend/interface.h"
#include "base/result.h"

namespace km::cpu {

#include "backend/entry_types.inc"

/// The build id, which the library and its plugin must share.
const char* build_id();

km_status backend_initialize(const kmb_host*, kmb_error*);
#include "backend/entries.inc"

}  // namespace km::cpu
