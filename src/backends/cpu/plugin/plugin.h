// The plugin itself: what the library that loads it asks for.
#pragma once

#include "backend/interface.h"

namespace km::cpu {

/// The table of entries.
const kmb_backend& backend_table();

}  // namespace km::cpu
