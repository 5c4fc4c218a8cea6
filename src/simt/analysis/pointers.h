// Pointers that a kernel gets as parameters.
#pragma once

#include <cstdint>
#include <vector>

#include "simt/kernel.h"

namespace km::simt {

/// By value, for those that are loaded from parameters: how many low bits would have to be zero so
/// that accesses through it are aligned, as far as the parameter is a term of their addresses. A
/// guess: other terms may make up for a parameter that is not aligned.
std::vector<uint8_t> wanted_alignments(const Kernel& kernel);

}  // namespace km::simt
