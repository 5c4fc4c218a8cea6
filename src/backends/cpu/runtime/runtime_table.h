// The table of runtime functions that generated code calls.
#pragma once

#include "simt/abi.h"

namespace km::cpu {

const simt::RuntimeTable& runtime_table();
/// The table of launches that have a Trial: lanes run in its order, and what cannot be done twice
/// is noted.
const simt::RuntimeTable& trial_table();

}  // namespace km::cpu
