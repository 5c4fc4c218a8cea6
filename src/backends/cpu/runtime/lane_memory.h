// Functions that generated code calls if some lanes of a packet access memory, and others do not.
#pragma once

#include "simt/abi.h"

namespace km::cpu {

// RuntimeTable::load_lanes, ::store_lanes and ::misaligned.
void load_lanes(simt::BlockState* state, uint64_t address, uint32_t lanes, simt::AccessSite site,
                void* elements);
void store_lanes(simt::BlockState* state, uint64_t address, uint32_t lanes, simt::AccessSite site,
                 const void* elements);
[[noreturn]] void misaligned(simt::BlockState* state, uint64_t address, uint32_t lanes,
                             simt::AccessSite site);

}  // namespace km::cpu
