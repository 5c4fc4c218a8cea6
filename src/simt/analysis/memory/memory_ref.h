// The memory that an instruction accesses, as far as it is known: its state space, and the variable
// or value that its address is counted from.
#pragma once

#include <cstdint>

#include "simt/kernel.h"

namespace km::simt {

struct MemoryRef {
  enum class Root : uint8_t { unknown, value, symbol };

  ptx::Space space = ptx::Space::generic;
  Root root = Root::unknown;
  uint32_t id = kNone;        // a ValueId or a SymbolId
  bool local_symbol = false;  // `id` is one of the function's symbols, not of the module's
  bool exact = false;         // the address is the root plus `offset`, else somewhere around it
  int64_t offset = 0;
  uint64_t size_bytes = 0;

  bool same_root(const MemoryRef& other) const {
    return root != Root::unknown && root == other.root && id == other.id &&
           local_symbol == other.local_symbol;
  }
};

/// The memory behind an address operand of `inst`, of which `size_bytes` are accessed.
MemoryRef memory_ref(const Kernel& kernel, const Inst& inst, const ptx::Operand& address,
                     uint64_t size_bytes);

/// True if two accesses surely touch the same bytes, given that values with one id are equal.
bool surely_overlap(const MemoryRef& a, const MemoryRef& b);

/// True if two accesses may touch the same bytes. `stable`: a value with one id is the same for
/// both accesses (false if they may be of different iterations of a loop that makes the value).
bool may_overlap(const MemoryRef& a, const MemoryRef& b, bool stable);

}  // namespace km::simt
