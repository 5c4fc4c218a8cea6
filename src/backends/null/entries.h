// The entries of this backend. Each kind of object has its own .cpp file.
#pragma once

#include "backend/interface.h"

namespace km::null {

/// The result of every entry that is not implemented yet.
km_status unsupported(const char* what, kmb_error* error);

#include "backend/entries.inc"

}  // namespace km::null
