// The memory access of an instruction as written: address operand, state space and size.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "simt/analysis/shape.h"

namespace km::simt {

/// One load, store or atomic operation.
struct MemoryAccess {
  const ptx::Operand* place = nullptr;
  ptx::Space space = ptx::Space::generic;
  uint64_t size_bytes = 0;  // size of all elements together
  /// Bytes, from the first on, that must lie in an allocation. Programs do atomics of bytes and
  /// halves by compare-and-swap on the aligned word around them (cuda::atomic_ref does), so that of
  /// a strong access of one word the first byte is enough: allocations end at multiples of a word.
  uint32_t held_bytes = 0;
  uint32_t line = 0;  // line in the PTX text
};

/// The state space of an address operand, from the instruction's modifiers or the symbol's
/// declaration.
ptx::Space space_of(const Kernel& kernel, const Inst& inst, const ptx::Operand& address);

/// True if the instruction is a cvta of a parameter's address of 32 bits, converted to 64.
bool completes_parameter_address(const Kernel& kernel, const Inst& inst);

/// The access of an instruction; nothing if it is not a load, store or atomic operation.
std::optional<MemoryAccess> memory_access(const Kernel& kernel, const Inst& inst);

/// True if the access is within a parameter or within the variable that it names, so that it needs
/// no range check.
bool is_within_symbol(const Kernel& kernel, const MemoryAccess& access);

/// The lowest and the highest offset of the first `lanes` lanes; null means that all offsets are 0.
std::pair<int64_t, int64_t> extremes_of(const Offsets* offsets, uint32_t lanes);

/// True if the offsets of the first `lanes` lanes are multiples of the size.
bool are_multiples_apart(const Offsets& offsets, uint32_t lanes, uint64_t size_bytes);

/// True if the instruction is atom or red.
inline bool is_atomic(const Inst& inst) {
  return inst.ptx->opcode == ptx::Opcode::atom || inst.ptx->opcode == ptx::Opcode::red;
}

}  // namespace km::simt
