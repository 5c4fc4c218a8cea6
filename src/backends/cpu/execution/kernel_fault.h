// A fault of a kernel, with all that is known of it.
#pragma once

#include <cstdint>
#include <string>

#include "backends/cpu/fault/fault.h"
#include "simt/abi.h"

namespace km::cpu {

/// A fault with everything that the message needs, copied out of the thread that had it.
struct KernelFault {
  simt::FaultKind kind = simt::FaultKind::none;  // none: found by a signal
  Fault fault;
  uint64_t size_bytes = 0;
  uint32_t line = 0;         // in the PTX text, 0: the one that the pc belongs to
  uint32_t helper_line = 0;  // where the pc belongs to none: that of the access it serves
  uint64_t shared_address = 0;
  uint32_t block[3] = {};
  uint32_t thread = 0;  // linear; the first of the packet when has_thread is false
  bool has_thread = false;
  bool deadlock = false;  // no warp of the block can go on
  std::string text;       // of a failed assertion
};

}  // namespace km::cpu
