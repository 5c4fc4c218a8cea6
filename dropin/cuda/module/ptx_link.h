// Linking of PTX texts into one: what cuLinkComplete does with several inputs.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace km::dropin {

struct PtxInput {
  std::string name;  // for messages
  std::string text;
};

/// One text with everything. Declarations of what another input defines are left out; names that
/// an input keeps to itself are changed where another has them too.
Result<std::string> link_ptx(const std::vector<PtxInput>& inputs);

/// Gives every kernel that says nothing about it at most so many registers; 0: as they are.
std::string limit_registers(const std::string& text, unsigned most);

/// The names of variables that host and device share (.attribute(.managed)).
std::set<std::string, std::less<>> managed_variables(const std::string& text);

}  // namespace km::dropin
