// The null backend: the skeleton to copy for a new backend (see README.md here).
#pragma once

#include "backend/interface.h"

namespace km {

/// Its table. One device opens and tells about itself; every other entry is KM_ERROR_NOT_SUPPORTED.
const kmb_backend& null_backend();

}  // namespace km
