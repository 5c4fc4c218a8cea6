// Pointers that a kernel gets as parameters.
#pragma once

#include <cstdint>
#include <vector>

#include "simt/kernel.h"

namespace km::simt {

/// The number of low bits, by value, that would have to be zero in a value loaded from a parameter
/// so that accesses through it are aligned, as far as the parameter is a term of their addresses.
/// It is a guess: other terms may make up for a parameter that is not aligned.
std::vector<uint8_t> wanted_alignments(const Kernel& kernel);

}  // namespace km::simt
