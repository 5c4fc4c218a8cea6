// Code of the runtime that accesses memory for a kernel, and whose faults are reported as the
// kernel's.
#pragma once

#include <cstdint>

#include "backends/cpu/threads/sanitizers.h"

// Lane code has a section of its own, so that the signal handler recognises it by its address; the
// linker defines the section's bounds.
#define KM_LANE_SECTION KM_NO_SANITIZE __attribute__((section("km_lane_code"), noinline))

namespace km::cpu {

/// True if `pc` is in lane code. A fault there is reported for the calling generated code.
bool is_lane_code(uint64_t pc);

/// Not 0 while the calling thread accesses the memory of images for a kernel. A fault in any code
/// is then the kernel's. That code must own nothing, because it is left without unwinding.
// tidy: order: the thread's own signal handler reads it
extern __thread volatile uint32_t in_image_access __attribute__((tls_model("initial-exec")));

}  // namespace km::cpu
