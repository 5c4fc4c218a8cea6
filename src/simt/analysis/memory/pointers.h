// The alignment of pointers that a kernel gets as parameters.
#pragma once

#include <cstdint>
#include <vector>

#include "simt/kernel/kernel.h"

namespace km::simt {

/// The number of low bits, indexed by value, that must be zero in a value loaded from a parameter,
/// so that accesses through it are aligned, considering only this term of their addresses. It is an
/// estimate: other terms may compensate for an unaligned parameter.
std::vector<uint8_t> wanted_alignments(const Kernel& kernel);

}  // namespace km::simt
