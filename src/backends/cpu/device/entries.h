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

/// The id of the sources and the LLVM that make code. Builds that share it take each other's object
/// files, also if they are for different architectures.
const char* code_id();

km_status backend_initialize(const kmb_host*, kmb_error*);
#include "backend/entries.inc"

}  // namespace km::cpu
