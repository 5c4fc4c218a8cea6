// Functions that generated code calls if some lanes of a packet access memory, and others do not.
#pragma once

#include "backends/cpu/threads/sanitizers.h"
#include "simt/abi.h"

// A section of its own, by which the signal handler knows the code; the linker names its ends.
#define KM_LANE_SECTION KM_NO_SANITIZE __attribute__((section("km_lane_code"), noinline))

namespace km::cpu {

// RuntimeTable::load_lanes, ::store_lanes and ::misaligned.
void load_lanes(simt::BlockState* state, uint64_t address, uint32_t lanes, simt::AccessSite site,
                void* elements);
void store_lanes(simt::BlockState* state, uint64_t address, uint32_t lanes, simt::AccessSite site,
                 const void* elements);
[[noreturn]] void misaligned(simt::BlockState* state, uint64_t address, uint32_t lanes,
                             simt::AccessSite site);

/// True if a fault here is one of the generated code that called.
bool is_lane_code(uint64_t pc);

}  // namespace km::cpu
