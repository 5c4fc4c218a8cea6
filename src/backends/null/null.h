// The null backend: the skeleton to copy for a new backend (see README.md here).
#pragma once

#include "backend/interface.h"

namespace km {

/// The backend's table. One device can be opened and queried; every other entry returns
/// KM_ERROR_NOT_SUPPORTED.
const kmb_backend& null_backend();

}  // namespace km
