// The runtime's own code that accesses memory for a kernel: its faults are the kernel's.
#pragma once

#include <cstdint>

#include "backends/cpu/threads/sanitizers.h"

// A section of its own, by which the signal handler knows the code; the linker names its ends.
#define KM_LANE_SECTION KM_NO_SANITIZE __attribute__((section("km_lane_code"), noinline))

namespace km::cpu {

/// True if a fault here is one of the generated code that called.
bool is_lane_code(uint64_t pc);

/// Not 0 while the calling thread accesses the memory of images for a kernel: a fault then is the
/// kernel's, whatever code has it. That code owns nothing.
extern __thread volatile uint32_t in_image_access __attribute__((tls_model("initial-exec")));

}  // namespace km::cpu
