// The machines of AArch64.
#pragma once

#include "simt/machine/machine_facts.h"

namespace km::simt::aarch64 {

MachineTable machine_table();

}  // namespace km::simt::aarch64
