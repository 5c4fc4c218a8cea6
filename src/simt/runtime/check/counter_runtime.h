// The reports from which the runtime computes the counters of a profile: accesses to memory and
// executions of basic blocks, of one warp each.
#pragma once

#include "simt/runtime/check/check_runtime.h"

namespace km::simt {

/// The memory of a counted access. A generic address can be either.
enum class CountedSpace : uint8_t { global, shared, generic };

/// The constant part of the count of an access. Generated code passes its address.
struct CountedAccess {
  uint32_t line;        // line in the PTX text
  uint16_t size_bytes;  // of a lane, a power of two
  AccessKind kind;
  CountedSpace space;
};
static_assert(sizeof(CountedAccess) == 8);

/// The constant part of the count of a basic block.
struct CountedBlock {
  uint32_t line;          // line of its last instruction in the PTX text
  uint32_t instructions;  // of the PTX text
  uint32_t is_branch;     // it ends in a conditional branch or a jump table
  uint32_t reserved;
};
static_assert(sizeof(CountedBlock) == 16);

/// Extends CheckRuntime by the entries for counters.
struct CounterRuntime {
  CheckRuntime base;
  /// Called before `lanes` of a warp access memory at `addresses` (one for each lane).
  void (*count_access)(BlockState*, const uint64_t* addresses, uint32_t lanes,
                       const CountedAccess* access);
  /// Called at the end of a basic block that `lanes` of a warp execute. `way` has those lanes that
  /// take the same edge as one of them.
  void (*count_block)(BlockState*, uint32_t lanes, uint32_t way, const CountedBlock* block);
};

}  // namespace km::simt
