#include "simt/forms/tensor_core_form.h"

#include "ptx/wmma_counts.h"

namespace km::simt::arithmetic {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Operand;
using ptx::Type;

namespace {

/// The place of the modifier that the instruction has in a list; the list's size if it has none.
template <size_t kCount>
size_t place_in(const Modifier (&list)[kCount], const Instruction& instruction) {
  size_t i = 0;
  while (i < kCount && !instruction.has(list[i])) ++i;
  return i;
}

constexpr Modifier kMoveShapes[] = {Modifier::_16x64b, Modifier::_16x128b, Modifier::_16x256b,
                                    Modifier::_16x32bx2, Modifier::_32x32b};
constexpr Modifier kKinds[] = {
    Modifier::kind_f16,      Modifier::kind_tf32, Modifier::kind_f8f6f4,  Modifier::kind_i8,
    Modifier::kind_mxf8f6f4, Modifier::kind_mxf4, Modifier::kind_mxf4nvf4};
constexpr Modifier kCopyShapes[] = {Modifier::_128x256b, Modifier::_4x256b, Modifier::_128x128b,
                                    Modifier::_64x128b, Modifier::_32x128b};

uint8_t block_size(const Instruction& instruction, TensorCoreKind kind) {
  if (kind < TensorCoreKind::mxf8f6f4) return 0;
  const bool halves = instruction.has(Modifier::block16) || instruction.has(Modifier::scale_vec_4X);
  return halves ? 16 : 32;
}

}  // namespace

TensorMoveForm tensor_move_form(const Instruction& instruction) {
  TensorMoveForm form;
  form.shape = static_cast<TensorMoveShape>(place_in(kMoveShapes, instruction));
  form.registers = static_cast<uint16_t>(ptx::tensor_count(instruction));
  form.packs = instruction.has(Modifier::pack_16b) || instruction.has(Modifier::unpack_16b);
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const Operand& operand = instruction.operands[i];
    if (operand.kind != Operand::Kind::immediate) continue;
    form.half_offset = static_cast<int32_t>(operand.bits);
  }
  if (!instruction.has(Modifier::ld)) {
    form.move = TensorMove::store;
    return form;
  }
  if (!instruction.has(Modifier::red)) return form;
  form.move = TensorMove::load_reduce;
  const Type type = instruction.type();
  form.reduction = type == Type::f32   ? TensorReduction::f32
                   : type == Type::s32 ? TensorReduction::s32
                                       : TensorReduction::u32;
  form.finds_maximum = instruction.has(Modifier::max);
  form.by_magnitude = instruction.has(Modifier::abs);
  form.keeps_nan = instruction.has(Modifier::NaN);
  return form;
}

TensorManagementForm tensor_management_form(const Instruction& instruction) {
  TensorManagementForm form;
  form.pair = instruction.has(Modifier::cta_group_2);
  if (instruction.has(Modifier::dealloc)) form.operation = TensorManagement::release;
  if (instruction.has(Modifier::relinquish_alloc_permit)) {
    form.operation = TensorManagement::relinquish;
  }
  return form;
}

TensorCoreOperandPlaces tensor_core_operands(const Instruction& instruction) {
  TensorCoreOperandPlaces at;
  unsigned next = instruction.has(Modifier::sp) ? 4 : 3;
  at.instruction = next++;
  if (instruction.has(Modifier::block_scale)) {
    at.scale_a = next++;
    at.scale_b = next++;
  }
  if (instruction.operands[next].kind == Operand::Kind::vector) at.disabled = next++;
  at.adds = next++;
  if (next == instruction.operand_count) return at;
  (instruction.has(Modifier::ws) ? at.zero_columns : at.scale_d) = next;
  return at;
}

TensorCoreForm tensor_core_form(const Instruction& instruction) {
  TensorCoreForm form;
  form.pair = instruction.has(Modifier::cta_group_2);
  if (instruction.has(Modifier::shift)) {
    form.operation = TensorCoreOperation::shift;
    return form;
  }
  if (instruction.has(Modifier::cp)) {
    form.operation = TensorCoreOperation::copy;
    form.shape = static_cast<TensorCopyShape>(place_in(kCopyShapes, instruction));
    form.format = instruction.has(Modifier::b6x16_p32)   ? TensorCopyFormat::six_bits
                  : instruction.has(Modifier::b4x16_p64) ? TensorCopyFormat::four_bits
                                                         : TensorCopyFormat::plain;
    form.pairs_02_13 = instruction.has(Modifier::warpx2_02_13);
    return form;
  }
  const TensorCoreOperandPlaces at = tensor_core_operands(instruction);
  form.kind = static_cast<TensorCoreKind>(place_in(kKinds, instruction));
  form.a_in_tensor = instruction.operands[1].kind == Operand::Kind::address;
  form.weight_stationary = instruction.has(Modifier::ws);
  form.sparse = instruction.has(Modifier::sp);
  form.disables_lanes = at.disabled != 0;
  form.zeros_columns = at.zero_columns != 0;
  form.block_size = block_size(instruction, form.kind);
  if (at.scale_d != 0) form.scale_d = static_cast<uint8_t>(instruction.operands[at.scale_d].bits);
  return form;
}

bool tensor_core_is_supported(const Instruction& instruction) {
  if (!instruction.has(Modifier::mma)) return true;
  return !instruction.has(Modifier::ashift);
}

}  // namespace km::simt::arithmetic
