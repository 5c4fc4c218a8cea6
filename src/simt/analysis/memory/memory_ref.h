// The memory behind an address, as far as it is known: its state space, and the variable or value
// that the address is relative to.
#pragma once

#include <cstdint>

#include "simt/kernel/kernel.h"

namespace km::simt {

struct MemoryRef {
  enum class Root : uint8_t { unknown, value, symbol };

  ptx::Space space = ptx::Space::generic;
  Root root = Root::unknown;
  uint32_t id = kNone;        // a ValueId or a SymbolId
  bool local_symbol = false;  // `id` is a symbol of the function, not of the module
  bool exact = false;         // the address is exactly root + `offset`; false: only near the root
  int64_t offset = 0;
  uint64_t size_bytes = 0;

  bool same_root(const MemoryRef& other) const {
    return root != Root::unknown && root == other.root && id == other.id &&
           local_symbol == other.local_symbol;
  }
};

/// The memory behind an address operand of `inst`, which accesses `size_bytes`.
MemoryRef memory_ref(const Kernel& kernel, const Inst& inst, const ptx::Operand& address,
                     uint64_t size_bytes);

/// True if two accesses certainly overlap, assuming that values with the same id are equal.
bool surely_overlap(const MemoryRef& a, const MemoryRef& b);

/// True if two accesses may overlap. `stable`: a value with one id is the same for both accesses
/// (false if they may be in different iterations of a loop that computes the value).
bool may_overlap(const MemoryRef& a, const MemoryRef& b, bool stable);

}  // namespace km::simt
