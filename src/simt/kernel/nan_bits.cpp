#include "simt/kernel/nan_bits.h"

#include "ptx/forms.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Type;

namespace {

/// True if a conversion between equal types preserves all bits.
bool moves_bits(const ptx::Instruction& ptx) {
  return !ptx.has(Modifier::ftz) && !ptx::integral_rounding(ptx);
}

}  // namespace

bool passes_nan(const ptx::Instruction& ptx) {
  if (ptx.opcode != Opcode::cvt || ptx.type_count != 2) return false;
  const Type to = ptx.types[0], from = ptx.types[1];
  const auto is_one_number = [](Type type) {
    return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64;
  };
  if (!is_one_number(to) || !is_one_number(from)) return false;
  if (to == Type::f64 || from == Type::f64) return true;
  if (to != Type::f32) return false;
  return from == Type::bf16 || (from == Type::f32 && moves_bits(ptx));
}

bool makes_float(const ptx::Instruction& ptx) {
  const Type type = ptx.type_count ? ptx.types[0] : Type::none;
  if (type != Type::f32 && type != Type::f64) return false;
  switch (ptx.opcode) {
    case Opcode::add:
    case Opcode::sub:
    case Opcode::mul:
    case Opcode::fma:
    case Opcode::mad:
    case Opcode::div:
    case Opcode::rcp:
    case Opcode::sqrt:
    case Opcode::rsqrt:
    case Opcode::ex2:
    case Opcode::lg2:
    case Opcode::sin:
    case Opcode::cos:
    case Opcode::tanh:
    case Opcode::neg:
    case Opcode::abs:
    case Opcode::min:
    case Opcode::max:
      return true;
    case Opcode::cvt:
      return !passes_nan(ptx);
    default:
      return false;
  }
}

}  // namespace km::simt
