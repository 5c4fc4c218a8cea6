// Edits and queries of PTX text that need no parsed module.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace km::toolchain {

/// Sets this register limit for every kernel that has no limit of its own; 0: no change.
std::string limit_registers(std::string text, unsigned most);

/// The names of managed variables (.attribute(.managed)).
std::set<std::string, std::less<>> managed_variables(const std::string& text);

}  // namespace km::toolchain
