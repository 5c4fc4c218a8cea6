#include "simt/forms/tensor_copy_form.h"

#include <utility>

namespace km::simt::arithmetic {

using ptx::Instruction;
using ptx::Modifier;

namespace {

TensorOperation operation_of(const Instruction& instruction) {
  constexpr std::pair<Modifier, TensorOperation> kReductions[] = {
      {Modifier::add, TensorOperation::add}, {Modifier::min, TensorOperation::min},
      {Modifier::max, TensorOperation::max}, {Modifier::inc, TensorOperation::inc},
      {Modifier::dec, TensorOperation::dec}, {Modifier::and_, TensorOperation::and_},
      {Modifier::or_, TensorOperation::or_}, {Modifier::xor_, TensorOperation::xor_},
  };
  if (instruction.has(Modifier::reduce)) {
    for (const auto& [modifier, operation] : kReductions) {
      if (instruction.has(modifier)) return operation;
    }
  }
  return instruction.has(Modifier::bulk_group) ? TensorOperation::store : TensorOperation::load;
}

uint8_t rank_of(const Instruction& instruction) {
  constexpr Modifier kRanks[] = {Modifier::_1d, Modifier::_2d, Modifier::_3d, Modifier::_4d,
                                 Modifier::_5d};
  for (uint8_t i = 0; i < kMostTensorDimensions; ++i) {
    if (instruction.has(kRanks[i])) return static_cast<uint8_t>(i + 1);
  }
  return 0;
}

/// True for forms of newer devices.
bool is_newer(const Instruction& instruction) {
  for (Modifier m : {Modifier::tile_gather4, Modifier::tile_scatter4, Modifier::im2col_w,
                     Modifier::im2col_w_128, Modifier::cta_group_1, Modifier::cta_group_2}) {
    if (instruction.has(m)) return true;
  }
  return false;
}

}  // namespace

std::optional<TensorCopyForm> tensor_copy_form(const Instruction& instruction) {
  TensorCopyForm form;
  form.operation = operation_of(instruction);
  form.rank = rank_of(instruction);
  if (is_newer(instruction) || form.rank == 0) return std::nullopt;
  const bool pixels =
      instruction.has(Modifier::im2col) || instruction.has(Modifier::im2col_no_offs);
  form.mode = pixels ? TensorMode::im2col : TensorMode::tiled;
  form.is_multicast = instruction.has(Modifier::multicast_cluster);
  return form;
}

TensorMapField tensor_map_field(const Instruction& instruction) {
  constexpr std::pair<Modifier, TensorMapField> kFields[] = {
      {Modifier::global_address, TensorMapField::global_address},
      {Modifier::rank, TensorMapField::rank},
      {Modifier::box_dim, TensorMapField::box_dim},
      {Modifier::global_dim, TensorMapField::global_dim},
      {Modifier::global_stride, TensorMapField::global_stride},
      {Modifier::element_stride, TensorMapField::element_stride},
      {Modifier::elemtype, TensorMapField::elemtype},
      {Modifier::interleave_layout, TensorMapField::interleave_layout},
      {Modifier::swizzle_mode, TensorMapField::swizzle_mode},
      {Modifier::swizzle_atomicity, TensorMapField::swizzle_atomicity},
  };
  for (const auto& [modifier, field] : kFields) {
    if (instruction.has(modifier)) return field;
  }
  return TensorMapField::fill_mode;
}

bool tensor_copy_is_supported(const Instruction& instruction) {
  if (instruction.opcode == ptx::Opcode::tensormap) {
    return !instruction.has(Modifier::swizzle_atomicity);
  }
  return instruction.has(Modifier::prefetch) ? !is_newer(instruction)
                                             : tensor_copy_form(instruction).has_value();
}

}  // namespace km::simt::arithmetic
