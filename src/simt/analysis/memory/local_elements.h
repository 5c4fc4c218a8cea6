// Which kernels may have the elements of local memory side by side, lane after lane.
#pragma once

#include <cstdint>

#include "simt/kernel/kernel.h"

namespace km::simt {

/// The size of all elements that the kernel accesses in local memory, if only loads and stores of
/// one size use addresses there; otherwise 0. Such addresses are sums that nothing stores, passes
/// on or converts to another space, so that the code generator may choose where elements lie.
uint64_t local_element_bytes(const Kernel& kernel);

}  // namespace km::simt
