// Machines by their names, for tests that compare what is made for each.
#pragma once

#include <string_view>

#include "simt/machine/machine.h"

namespace km::simt::testing {

/// The machine of this name, which there has to be.
inline Machine machine_named(std::string_view name) { return Machine::of_name(name).value(); }

}  // namespace km::simt::testing
