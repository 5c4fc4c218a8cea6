// Fat binaries as compilers embed them in programs.
#pragma once

#include "dropin/cudart/frame/driver.h"

namespace km::cudart {

/// Loads the code that a wrapper (__fatBinC_Wrapper_t) points to: a fat binary, or a list of
/// several, which are linked first.
cudaError_t load_fat_binary(const void* wrapper, CUlibrary* out);

}  // namespace km::cudart
