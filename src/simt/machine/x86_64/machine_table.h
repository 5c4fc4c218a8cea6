// The machines of x86-64.
#pragma once

#include "simt/machine/machine_facts.h"

namespace km::simt::x86_64 {

MachineTable machine_table();

}  // namespace km::simt::x86_64
