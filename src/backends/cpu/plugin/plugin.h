// The interface between the plugin and the library that loads it.
#pragma once

#include "backend/interface.h"

namespace km::cpu {

/// The vtable of the CPU backend.
const kmb_backend& backend_table();

}  // namespace km::cpu
