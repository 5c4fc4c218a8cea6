#include "simt/forms/tensor_form.h"

#include <cstdio>
#include <string>

#include "simt/forms/mma_types.h"

namespace km::simt::arithmetic {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

MmaType mma_type(Type type) {
  switch (type) {
    case Type::f16:
      return MmaType::f16;
    case Type::bf16:
      return MmaType::bf16;
    case Type::tf32:
      return MmaType::tf32;
    case Type::e4m3:
      return MmaType::e4m3;
    case Type::e5m2:
      return MmaType::e5m2;
    case Type::f64:
      return MmaType::f64;
    case Type::s8:
      return MmaType::s8;
    case Type::u8:
      return MmaType::u8;
    case Type::s4:
      return MmaType::s4;
    case Type::u4:
      return MmaType::u4;
    case Type::b1:
      return MmaType::b1;
    case Type::f32:
      return MmaType::f32;
    case Type::s32:
      return MmaType::s32;
    default:
      return MmaType::none;
  }
}

std::optional<MmaShape> mma_shape(const Instruction& instruction) {
  for (Modifier modifier : instruction.modifiers) {
    const std::string text(ptx::text_of(modifier));
    MmaShape shape;
    if (std::sscanf(text.c_str(), "m%un%uk%u", &shape.m, &shape.n, &shape.k) == 3) return shape;
  }
  return std::nullopt;
}

namespace {

uint8_t registers_of(const Operand& operand) {
  return static_cast<uint8_t>(operand.kind == Operand::Kind::vector ? operand.count : 1);
}

/// The rounding mode in MXCSR's encoding.
uint8_t rounding_of(const Instruction& instruction) {
  if (instruction.has(Modifier::rm)) return 1;
  if (instruction.has(Modifier::rp)) return 2;
  return instruction.has(Modifier::rz) ? 3 : 0;
}

/// The types of d, a, b, c as written; wmma of f16 has only those of d and c.
bool take_types(const Instruction& instruction, MmaForm* form) {
  form->d = mma_type(instruction.types[0]);
  if (instruction.type_count == 2) {
    form->a = form->b = MmaType::f16;
    form->c = mma_type(instruction.types[1]);
  } else {
    form->a = mma_type(instruction.types[1]);
    form->b = mma_type(instruction.types[2]);
    form->c = mma_type(instruction.types[3]);
  }
  return form->a != MmaType::none && form->b != MmaType::none && form->c != MmaType::none &&
         form->d != MmaType::none;
}

/// Reads the layouts of A and B, in this order.
void take_layouts(const Instruction& instruction, MmaForm* form) {
  unsigned index = 0;
  for (Modifier modifier : instruction.modifiers) {
    if (modifier != Modifier::row && modifier != Modifier::col) continue;
    if (index == 0) form->a_by_columns = modifier == Modifier::col;
    if (index == 1) form->b_by_rows = modifier == Modifier::row;
    ++index;
  }
}

}  // namespace

std::optional<MmaForm> mma_form(const Instruction& instruction) {
  const auto shape = mma_shape(instruction);
  for (Modifier kind : {Modifier::kind_f8f6f4, Modifier::kind_mxf4, Modifier::kind_mxf4nvf4,
                        Modifier::kind_mxf8f6f4, Modifier::block_scale}) {
    if (instruction.has(kind)) return std::nullopt;
  }
  MmaForm form;
  if (!shape || !take_types(instruction, &form)) return std::nullopt;
  form.m = static_cast<uint8_t>(shape->m);
  form.n = static_cast<uint8_t>(shape->n);
  form.k = static_cast<uint16_t>(shape->k);
  form.d_registers = registers_of(instruction.operands[0]);
  form.a_registers = registers_of(instruction.operands[1]);
  form.b_registers = registers_of(instruction.operands[2]);
  form.c_registers = registers_of(instruction.operands[3]);
  form.rounding = rounding_of(instruction);
  form.sparse = instruction.has(Modifier::sp) || instruction.has(Modifier::sp_ordered_metadata);
  if (form.sparse) form.selector = static_cast<uint8_t>(instruction.operands[5].bits & 3);
  form.saturates = instruction.has(Modifier::satfinite);
  form.popc_and = instruction.has(Modifier::and_);
  form.quads = form.a == MmaType::f16 && instruction.has(Modifier::m8n8k4);
  if (form.quads) take_layouts(instruction, &form);
  return form;
}

bool WmmaFragment::is_contiguous() const {
  if (elements_per_register(type) == 1) return true;
  return by_columns == (matrix == Matrix::b);
}

MmaBlock WmmaFragment::place(uint32_t index, uint32_t lane, uint32_t element) const {
  const uint32_t per_register = elements_per_register(type);
  const uint32_t g = lane / 4, t = lane % 4;
  if (matrix == Matrix::sums) {
    const MmaBlock at = block_of_c(m, per_register == 2 ? index : index / 2);
    return {at.row + g, at.column + 2 * t + (per_register == 2 ? element : index % 2)};
  }
  const uint32_t along = t * per_register + element;
  if (matrix == Matrix::a) {
    const MmaBlock at = block_of_a(m, k, per_register, index);
    return {at.row + g, at.column + along};
  }
  const MmaBlock at = block_of_b(n, k, per_register, index);
  return {at.column + along, at.row + g};
}

WmmaPieces::WmmaPieces(const WmmaFragment& of) : fragment(of), registers(of.registers()) {
  if (fragment.type == MmaType::f64) size_bytes = 8;
  if (!fragment.is_contiguous()) {
    size_bytes = element_bits(fragment.type) / 8;
    parts = elements_per_register(fragment.type);
  }
  // A lane holds two adjacent elements of a row of sums, in one register or in two.
  const bool sums = fragment.matrix == WmmaFragment::Matrix::sums;
  if (sums && elements_per_register(fragment.type) == 1) group = 2;
}

WmmaPieces::At WmmaPieces::at(uint32_t index, uint32_t lane, uint32_t part) const {
  const MmaBlock block = fragment.place(index, lane, part);
  const uint32_t line = fragment.by_columns ? block.column : block.row;
  const uint32_t along = fragment.by_columns ? block.row : block.column;
  return {line, along * element_bits(fragment.type) / 8};
}

std::optional<WmmaFragment> wmma_fragment(const Instruction& instruction) {
  const auto shape = mma_shape(instruction);
  WmmaFragment fragment;
  fragment.type = mma_type(instruction.types[0]);
  if (!shape || fragment.type == MmaType::none) return std::nullopt;
  fragment.m = shape->m;
  fragment.n = shape->n;
  fragment.k = shape->k;
  fragment.by_columns = instruction.has(Modifier::col);
  fragment.matrix = WmmaFragment::Matrix::sums;
  if (instruction.has(Modifier::a)) fragment.matrix = WmmaFragment::Matrix::a;
  if (instruction.has(Modifier::b)) fragment.matrix = WmmaFragment::Matrix::b;
  // Elements smaller than a byte are not addressable.
  if (element_bits(fragment.type) < 8 && !fragment.is_contiguous()) return std::nullopt;
  return fragment;
}

bool tensor_is_supported(const Instruction& instruction) {
  if (instruction.opcode == Opcode::wmma && !instruction.has(Modifier::mma)) {
    return wmma_fragment(instruction).has_value();
  }
  return mma_form(instruction).has_value();
}

}  // namespace km::simt::arithmetic
