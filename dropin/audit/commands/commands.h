// The commands that take the place of NVIDIA's inside Python packages, such as the ptxas of wheels,
// which their programs start by absolute path. Other programs find ours by PATH.
#pragma once

#include <string_view>

#include "dropin/audit/image/symbol_table.h"

namespace km::audit {

/// Keeps a command of ours, by its path; false if there is no room.
bool add_command(const char* path) noexcept;

/// The command of ours for the path of a program; null if it is none of a Python package.
const char* find_command(std::string_view path) noexcept;

/// Puts functions before those of the C library that start programs, if there are commands.
void answer_for_commands(const SymbolTable& c_library) noexcept;

}  // namespace km::audit
