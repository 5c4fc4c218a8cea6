// Answers for the files by which programs look for a GPU, which no CPU has: /dev/nvidia0,
// /dev/nvidiactl, /proc/driver/nvidia/version and the like.
//
// The functions of the C library that take paths give them, where the machine itself has no such
// file. They are put before the C library's own by its table of symbols, in this process's memory:
// every program and library then finds them, by whatever way it binds its symbols.
#pragma once

#include <string_view>

#include "dropin/audit/image/symbol_table.h"

namespace km::audit {

/// Turns the answers on. `folder`, which ends in '/', is that of libcuda.so.1.
void set_device_files(std::string_view folder, unsigned devices) noexcept;

/// Puts the functions before those of the C library, if the answers are on. The dynamic linker has
/// mapped the library and not yet bound any symbol to it.
void answer_for_device_files(const SymbolTable& c_library) noexcept;

}  // namespace km::audit
