#include "simt/forms/wgmma_form.h"

#include "simt/forms/mma_types.h"

namespace km::simt::arithmetic {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Operand;

WgmmaOperands wgmma_operands(const Instruction& instruction) {
  WgmmaOperands at;
  unsigned next = 3;
  if (instruction.has(Modifier::sp)) {
    at.metadata = next++;
    at.selector = next++;
  }
  at.scale_d = next++;
  const auto take = [&](unsigned* index) {
    if (next < instruction.operand_count) *index = next++;
  };
  take(&at.scale_a);
  take(&at.scale_b);
  const bool a_in_registers = instruction.operands[1].kind == Operand::Kind::vector;
  if (!a_in_registers) take(&at.transpose_a);
  take(&at.transpose_b);
  return at;
}

namespace {

/// Selects the columns per product and counts its registers, from types, shape and sparsity.
void take_widths(WgmmaForm& form) {
  MmaForm& warp = form.warp;
  // mma accepts up to 512 elements of B, and 8 columns for single bits.
  const bool pairs = form.n % 16 == 0 && warp.a != MmaType::b1 && warp.k * 16U <= 512;
  warp.n = pairs ? 16 : 8;
  const uint32_t stored_bytes = warp.stored_k() * element_bits(warp.a) / 8;
  const uint32_t k_bytes = uint32_t{warp.k} * element_bits(warp.b) / 8;
  warp.a_registers = static_cast<uint8_t>(2 * stored_bytes / kWgmmaLineBytes);
  warp.b_registers = static_cast<uint8_t>(k_bytes / kWgmmaLineBytes * (warp.n / kWgmmaCoreLines));
  const uint32_t per_register = warp.d == MmaType::f16 ? 2 : 1;
  warp.c_registers = warp.d_registers = static_cast<uint8_t>(warp.n / 2 / per_register);
  form.d_registers = static_cast<uint16_t>(form.n / 2 / per_register);
}

}  // namespace

std::optional<WgmmaForm> wgmma_form(const Instruction& instruction) {
  const auto shape = mma_shape(instruction);
  if (!shape || instruction.type_count != 3) return std::nullopt;
  WgmmaForm form;
  MmaForm& warp = form.warp;
  warp.c = warp.d = mma_type(instruction.types[0]);
  warp.a = mma_type(instruction.types[1]);
  warp.b = mma_type(instruction.types[2]);
  if (warp.a == MmaType::none || warp.b == MmaType::none || warp.d == MmaType::none) {
    return std::nullopt;
  }
  warp.m = 16;
  warp.k = static_cast<uint16_t>(shape->k);
  warp.sparse = instruction.has(Modifier::sp);
  warp.saturates = instruction.has(Modifier::satfinite);
  warp.popc_and = instruction.has(Modifier::and_);
  form.n = static_cast<uint16_t>(shape->n);
  take_widths(form);
  const WgmmaOperands at = wgmma_operands(instruction);
  const auto is = [&](unsigned index, int64_t value) {
    return index != 0 && static_cast<int32_t>(instruction.operands[index].bits) == value;
  };
  form.a_in_shared = instruction.operands[1].kind != Operand::Kind::vector;
  form.negates_a = is(at.scale_a, -1);
  form.negates_b = is(at.scale_b, -1);
  form.a_by_columns = is(at.transpose_a, 1);
  form.b_by_rows = is(at.transpose_b, 1);
  if (warp.sparse) warp.selector = static_cast<uint8_t>(instruction.operands[at.selector].bits & 3);
  return form;
}

bool wgmma_is_supported(const Instruction& instruction) {
  return !instruction.has(Modifier::mma_async) || wgmma_form(instruction).has_value();
}

}  // namespace km::simt::arithmetic
