// Functions of ours in place of functions that a shared library imports.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace km {

/// A function that a library calls where it imports the function `name`.
struct ImportOverride {
  const char* name;
  const void* function;
};

/// Makes the image of a shared library that needs the library `needed` (a path, or a name that the
/// loader looks for) and exports `overrides`. Opened with RTLD_DEEPBIND, it has the loader resolve
/// the imports of `needed` here first, before constructors of `needed` run. The image holds
/// addresses of this process. KM_ERROR_NOT_SUPPORTED where the loader does not leave absolute
/// symbols as they are (glibc before 2.28).
Result<std::vector<char>> image_of_overrides(const std::string& needed,
                                             std::span<const ImportOverride> overrides);

}  // namespace km
