// The generated table of the CUDA driver, for the files that need its numbers.
#pragma once

#include "call_table.h"
#include "cuda/driver.h"

namespace km::fuzz::driver {

using namespace km::cu;  // tidy: using: the table is written with the driver's names

#include "generated/driver_types.inc"

}  // namespace km::fuzz::driver
