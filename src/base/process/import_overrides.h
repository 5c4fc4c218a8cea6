// Replacement of functions that a shared library imports.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace km {

/// A function that a library calls instead of the imported function `name`.
struct ImportOverride {
  const char* name;
  const void* function;
};

/// Builds the image of a shared library that needs the library `needed` (a path or a name to look
/// up) and exports `overrides`. When it is opened with RTLD_DEEPBIND, the loader resolves the
/// imports of `needed` here first, before constructors of `needed` run. The image contains
/// addresses, so it is valid in this process only. KM_ERROR_NOT_SUPPORTED if the loader relocates
/// absolute symbols (glibc before 2.28).
Result<std::vector<char>> image_of_overrides(const std::string& needed,
                                             std::span<const ImportOverride> overrides);

}  // namespace km
