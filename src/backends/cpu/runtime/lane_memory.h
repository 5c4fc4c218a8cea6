// Functions that generated code calls for an access by some lanes of a packet only.
#pragma once

#include "base/arch/attributes.h"
#include "simt/abi.h"

namespace km::cpu {

// Implementations of RuntimeTable::load_lanes, ::store_lanes and ::misaligned.
KM_KEEPING_CALL void load_lanes(simt::BlockState* state, uint64_t address, uint32_t lanes,
                                simt::AccessSite site, void* elements);
KM_KEEPING_CALL void store_lanes(simt::BlockState* state, uint64_t address, uint32_t lanes,
                                 simt::AccessSite site, const void* elements);
[[noreturn]] void misaligned(simt::BlockState* state, uint64_t address, uint32_t lanes,
                             simt::AccessSite site);

}  // namespace km::cpu
