#include "simt/codegen/lower/computations.h"

#include "ptx/names.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

void Computations::lower_arithmetic(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  bool lanes = false;  // true: compute vectors; offset shapes need only scalars, their bases
  for (const auto& [reg, value] : inst.writes) {
    Shape shape = plan_.shapes->values[value];
    lanes = lanes || shape.is_varying();
  }
  if (lanes && inst.guard != kNone) lanes = !operands_are_uniform(inst);
  const bool mixed = code_plan_.nans.has_mixed_result(inst);
  std::vector<Value*> sources;
  for (unsigned i = 1; i < ptx.operand_count; ++i) {
    const Type type = Arithmetic::operand_type(ptx, i);
    bool passes = ptx.opcode == Opcode::selp;
    bool arithmetic = type == Type::f32 || type == Type::f64;
    bool escape = passes ? mixed : !arithmetic;
    // These operations read or preserve the sign of a NaN, so its bits must be PTX's.
    escape = escape || ptx.opcode == Opcode::slct || ptx.opcode == Opcode::copysign ||
             ptx.has(Modifier::xorsign) || passes_nan(ptx);
    const Operand& operand = ptx.operands[i];
    const bool is_vector = operand.kind == Operand::Kind::vector;
    for (uint32_t k = 0; k < (is_vector ? operand.count : 1); ++k) {
      const Operand& one = is_vector ? kernel_.function->operand_pool[operand.first + k] : operand;
      sources.push_back(values_.operand(inst, one, type, lanes, escape));
    }
  }
  finish(inst, builder_.arithmetic().lower(ptx, sources));
}

/// True if no operand differs between lanes. A guard alone may make the result vary, and then one
/// scalar operation is enough.
bool Computations::operands_are_uniform(const Inst& inst) {
  for (const auto& [reg, value] : inst.reads) {
    if (!values_.shape_of(value).is_uniform()) return false;
  }
  for (unsigned i = 1; i < inst.ptx->operand_count; ++i) {
    if (inst.ptx->operands[i].kind == Operand::Kind::special) return false;
  }
  return true;
}

/// Defines the results: one register, or the elements of a vector operand.
void Computations::finish(const Inst& inst, const std::vector<Value*>& results) {
  const Operand& destination = inst.ptx->operands[0];
  auto write = [&](const Operand& target, unsigned element) {
    if (target.kind != Operand::Kind::reg || element >= results.size()) return;
    values_.define_result(inst, target.reg, results[element],
                          Arithmetic::operand_type(*inst.ptx, 0, element));
  };
  if (destination.kind == Operand::Kind::reg) return write(destination, 0);
  for (uint32_t i = 0; i < destination.count; ++i) {
    write(kernel_.function->operand_pool[destination.first + i], i);
  }
}

void Computations::lower_policy(const Inst& inst) {
  if (!inst.writes.empty()) values_.define_result(inst, inst.writes[0].first, i32(0), Type::u32);
}

void Computations::lower_query_cancel(const Inst& inst) {
  constexpr unsigned kPartBits = 32, kTaken = 3;
  const auto& ptx = *inst.ptx;
  const bool lanes = !values_.results_are_scalar(inst);
  Value* answer = values_.operand(inst, ptx.operands[1], Type::b128, lanes, true);
  auto* word = b_.getIntNTy(kPartBits);
  auto* part_type = lanes ? static_cast<llvm::Type*>(vector_of(word)) : word;
  const auto part = [&](unsigned index) {
    Value* shifted =
        b_.CreateLShr(answer, llvm::ConstantInt::get(answer->getType(), index * kPartBits));
    return b_.CreateTrunc(shifted, part_type);
  };
  const Operand& to = ptx.operands[0];
  if (ptx.has(Modifier::is_canceled)) {
    Value* taken = part(kTaken);
    Value* is_taken = b_.CreateICmpNE(taken, llvm::Constant::getNullValue(taken->getType()));
    return values_.define_result(inst, to.reg, is_taken, Type::pred);
  }
  if (to.kind != Operand::Kind::vector) {
    const unsigned index = ptx.has(Modifier::get_first_ctaid_x)   ? 0
                           : ptx.has(Modifier::get_first_ctaid_y) ? 1
                                                                  : 2;
    if (to.kind == Operand::Kind::reg) values_.define_result(inst, to.reg, part(index), Type::b32);
    return;
  }
  for (uint32_t i = 0; i < to.count; ++i) {
    const Operand& target = kernel_.function->operand_pool[to.first + i];
    if (target.kind != Operand::Kind::reg) continue;
    values_.define_result(inst, target.reg, part(i), Type::b32);
  }
}

/// Plain copies, packing {a, b} -> d and unpacking a -> {d, e}.
void Computations::lower_mov(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const Operand &to = ptx.operands[0], &from = ptx.operands[1];
  const Type type = ptx.type();
  const auto& pool = kernel_.function->operand_pool;
  const bool lanes = !values_.results_are_scalar(inst);
  if (from.kind == Operand::Kind::vector) {
    const unsigned part_bits = ptx::size_bits(type) / from.count;
    auto* whole = b_.getIntNTy(ptx::size_bits(type));
    Value* result = nullptr;
    for (uint32_t i = 0; i < from.count; ++i) {
      const Type part_type = ptx::bits_type(part_bits);
      Value* part = values_.operand(inst, pool[from.first + i], part_type, lanes, true);
      auto* wide = lanes ? static_cast<llvm::Type*>(vector_of(whole)) : whole;
      part = b_.CreateZExt(part, wide);
      part = b_.CreateShl(part, llvm::ConstantInt::get(wide, i * part_bits));
      result = result ? b_.CreateOr(result, part) : part;
    }
    return values_.define_result(inst, to.reg, result, type);
  }
  if (to.kind == Operand::Kind::vector) {
    Value* whole = values_.operand(inst, from, type, lanes, true);
    whole = builder_.as_type(whole, b_.getIntNTy(ptx::size_bits(type)));
    const unsigned part_bits = ptx::size_bits(type) / to.count;
    for (uint32_t i = 0; i < to.count; ++i) {
      const Operand& target = pool[to.first + i];
      if (target.kind != Operand::Kind::reg) continue;
      auto* narrow = b_.getIntNTy(part_bits);
      auto* part_type = lanes ? static_cast<llvm::Type*>(vector_of(narrow)) : narrow;
      Value* part = b_.CreateLShr(whole, llvm::ConstantInt::get(whole->getType(), i * part_bits));
      part = b_.CreateTrunc(part, part_type);
      values_.define_result(inst, target.reg, part, ptx::bits_type(part_bits));
    }
    return;
  }
  if (to.kind != Operand::Kind::reg) return;
  values_.define_result(
      inst, to.reg,
      values_.operand(inst, from, type, lanes, code_plan_.nans.has_mixed_result(inst)), type);
}

}  // namespace km::simt
