// The names of the libraries that an object needs.
#pragma once

#include "dropin/audit/image/image.h"
#include "dropin/audit/replacements.h"

namespace km::audit {

/// Gives libraries of ours the names that they have in this installation, where the object needs
/// them by a name with a hash (libcudart-9335f6a2.so.12). The dynamic linker stops at an object
/// that needs versions of a library by a name which the loaded library has not been asked for by.
void use_own_names(const Image& object, Replacements& replacements) noexcept;

}  // namespace km::audit
