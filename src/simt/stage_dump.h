// KM_DUMP: prints the stages of a compiled kernel on standard error.
#pragma once

#include <string_view>

namespace km::simt {

/// True if KM_DUMP lists this stage: ptx, ir, masks, plan, lines, llvm, asm or samples. Read once
/// per process.
bool dump_enabled(std::string_view stage);

/// Prints one stage under a heading with the kernel's name.
void dump_stage(std::string_view stage, std::string_view name, std::string_view text);

}  // namespace km::simt
