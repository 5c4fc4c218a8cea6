// Fat binaries in the form that compilers put them into programs.
#pragma once

#include "dropin/cudart/frame/driver.h"

namespace km::cudart {

/// Loads the code behind a wrapper (__fatBinC_Wrapper_t): a fat binary, or a list of several that
/// are linked first.
cudaError_t load_fat_binary(const void* wrapper, CUlibrary* out);

}  // namespace km::cudart
