// Faults of kernels.
#pragma once

#include <cstdint>
#include <string>

#include "backends/cpu/fault/fault.h"
#include "simt/abi.h"

namespace km::cpu {

/// A fault with all data for its message, copied from the thread that faulted.
struct KernelFault {
  simt::FaultKind kind = simt::FaultKind::none;  // none: a signal reported it
  Fault fault;
  uint64_t size_bytes = 0;
  uint32_t line = 0;  // line in the PTX text; 0: that of the pc
  // The line of the access that the pc belongs to, if the pc has no line.
  uint32_t helper_line = 0;
  uint64_t shared_address = 0;
  uint32_t block[3] = {};
  uint32_t thread = 0;  // linear index; the first of the packet if has_thread is false
  bool has_thread = false;
  bool deadlock = false;  // no warp of the block can continue
  std::string text;       // message of a failed assertion
};

}  // namespace km::cpu
