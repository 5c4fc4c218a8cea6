// The entries of this backend, one .cpp per kind of object.
#pragma once

#include "backend/interface.h"

namespace km::null {

/// Every entry that is still to be written ends in this.
km_status unsupported(const char* what, kmb_error* error);

#include "backend/entries.inc"

}  // namespace km::null
