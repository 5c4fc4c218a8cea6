// The table of runtime functions that generated code calls.
#pragma once

#include "simt/abi.h"

namespace km::cpu {

const simt::RuntimeTable& runtime_table();

}  // namespace km::cpu
