// Links several PTX texts into one, for cuLinkComplete.
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

/// Links the inputs into one text. Declarations of symbols that another input defines are omitted;
/// local symbols are renamed if their names collide.
Result<std::string> link_ptx(const std::vector<PtxInput>& inputs);

/// Sets this register limit for every kernel that has no limit of its own; 0: no change.
std::string limit_registers(const std::string& text, unsigned most);

/// The names of managed variables (.attribute(.managed)).
std::set<std::string, std::less<>> managed_variables(const std::string& text);

}  // namespace km::dropin
