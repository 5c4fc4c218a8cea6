#include "simt/analysis/memory/memory_access.h"

#include <algorithm>

#include "ptx/forms.h"

namespace km::simt {

using ptx::Operand;

ptx::Space space_of(const Kernel& kernel, const Inst& inst, const Operand& address) {
  const ptx::Space named = ptx::space_of(*inst.ptx);
  if (named != ptx::Space::generic) return named;
  if (address.symbol != ptx::kNone) {
    const auto& symbol = kernel.symbol_of(address);
    return symbol.space;
  }
  return ptx::Space::generic;
}

bool completes_parameter_address(const Kernel& kernel, const Inst& inst) {
  const ptx::Instruction& ptx = *inst.ptx;
  if (ptx.opcode != ptx::Opcode::cvta || !ptx.has(ptx::Modifier::param)) return false;
  const Operand& operand = ptx.operands[1];
  if (operand.kind != Operand::Kind::reg) return false;
  const Inst* const source = kernel.instruction_of(inst.read(operand.reg));
  return source != nullptr && source->ptx->opcode == ptx::Opcode::cvt &&
         ptx::size_bits(source->ptx->types[1]) == 32;
}

namespace {

/// True if the instruction accesses one aligned word atomically or with a memory order. Volatile
/// accesses do not count, because programs use them for plain data as well.
bool touches_word_strongly(const Inst& inst, uint64_t size_bytes) {
  constexpr uint64_t kWordBytes = 4;
  return size_bytes == kWordBytes &&
         (is_atomic(inst) || inst.ptx->has(ptx::Modifier::relaxed) ||
          inst.ptx->has(ptx::Modifier::acquire) || inst.ptx->has(ptx::Modifier::release));
}

}  // namespace

std::optional<MemoryAccess> memory_access(const Kernel& kernel, const Inst& inst) {
  const auto [place, size_bytes] = memory_place(*inst.ptx);
  if (place == nullptr) return std::nullopt;
  MemoryAccess access{place, space_of(kernel, inst, *place), size_bytes};
  access.held_bytes = touches_word_strongly(inst, size_bytes) ? 1 : uint32_t(size_bytes);
  access.line = inst.ptx->location.line;
  return access;
}

bool is_within_symbol(const Kernel& kernel, const MemoryAccess& access) {
  if (access.space == ptx::Space::param) return true;
  const Operand& place = *access.place;
  if (place.symbol == ptx::kNone) return false;
  const auto& symbol = kernel.symbol_of(place);
  const uint64_t size_bytes = symbol.size_bytes;
  const auto offset = static_cast<uint64_t>(place.offset);
  return access.size_bytes <= size_bytes && offset <= size_bytes - access.size_bytes;
}

std::pair<int64_t, int64_t> extremes_of(const Offsets* offsets, uint32_t lanes) {
  if (offsets == nullptr) return {0, 0};
  const auto [least, most] = std::minmax_element(offsets->begin(), offsets->begin() + lanes);
  return {*least, *most};
}

bool are_multiples_apart(const Offsets& offsets, uint32_t lanes, uint64_t size_bytes) {
  return std::all_of(offsets.begin(), offsets.begin() + lanes, [&](int64_t offset) {
    return offset % static_cast<int64_t>(size_bytes) == 0;
  });
}

}  // namespace km::simt
