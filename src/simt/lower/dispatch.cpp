// Which function lowers which instruction. supports() in support.cpp names the same set.
#include "simt/emit/emitter.h"
#include "simt/lower/support.h"
#include "simt/transform/make_instruction.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

void Emitter::lower(const Inst& inst) {
  switch (inst.ptx->opcode) {
    case Opcode::mov:
      return lower_mov(inst);
    case Opcode::cvta:
      return lower_cvta(inst);
    case Opcode::ld:
    case Opcode::ldu:
      return loads_and_stores_.lower_load(inst);
    case Opcode::st:
      return loads_and_stores_.lower_store(inst);
    case Opcode::atom:
    case Opcode::red:
      return lower_atomic(inst);
    case Opcode::shfl:
      return lower_shuffle(inst);
    case Opcode::vote:
      return lower_vote(inst);
    case Opcode::match:
      return lower_match(inst);
    case Opcode::redux:
      return lower_redux(inst);
    case Opcode::elect:
      return lower_elect(inst);
    case Opcode::activemask:
      return values_.define_result(inst, inst.writes[0].first, mask_bits(), Type::b32);
    case Opcode::isspacep:
      return lower_isspacep(inst);
    case Opcode::call:
      return lower_call(inst);
    case Opcode::trap:
      return frame_.raise(trap_reason(*inst.ptx));
    case Opcode::membar:
    case Opcode::fence:
      return lower_fence(inst);
    case Opcode::bar:
    case Opcode::barrier:
      if (is_barrier(*inst.ptx)) lower_barrier_call(inst);
      return;  // bar.warp.sync: lanes run in step
    default:
      return lower_other(inst);
  }
}

/// Matrices, asynchronous copies and clusters; what has no effect here; arithmetic.
void Emitter::lower_other(const Inst& inst) {
  switch (inst.ptx->opcode) {
    case Opcode::cp:
      return lower_cp(inst);
    case Opcode::mbarrier:
      return mbarriers_.lower_mbarrier(inst);
    case Opcode::mma:
      return matrices_.lower_mma(inst);
    case Opcode::wmma:
      return matrices_.lower_wmma(inst);
    case Opcode::ldmatrix:
      return matrix_moves_.lower_ldmatrix(inst);
    case Opcode::stmatrix:
      return matrix_moves_.lower_stmatrix(inst);
    case Opcode::movmatrix:
      return matrix_moves_.lower_movmatrix(inst);
    case Opcode::mapa:
      return lower_mapa(inst);
    case Opcode::getctarank:
      return lower_getctarank(inst);
    case Opcode::createpolicy:
      if (inst.writes.empty()) return;
      return values_.define_result(inst, inst.writes[0].first, i32(0), Type::u32);
    case Opcode::brkpt:
    case Opcode::griddepcontrol:  // grids of a stream run one after the other
    case Opcode::nanosleep:
    case Opcode::prefetch:
    case Opcode::prefetchu:
    case Opcode::discard:
    case Opcode::applypriority:
    case Opcode::pmevent:
    case Opcode::setmaxnreg:
      return;
    default:
      return lower_arithmetic(inst);
  }
}

void Emitter::finish(const Inst& inst, const std::vector<Value*>& results) {
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

void Emitter::lower_arithmetic(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  bool lanes = false;  // an offset-shaped result is the scalar operation on the bases of lane 0
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
    // These look at a NaN's sign.
    escape = escape || ptx.opcode == Opcode::slct || ptx.opcode == Opcode::copysign ||
             ptx.has(Modifier::xorsign);
    sources.push_back(values_.operand(inst, ptx.operands[i], type, lanes, escape));
  }
  finish(inst, builder_.arithmetic().lower(ptx, sources));
}

bool Emitter::operands_are_uniform(const Inst& inst) {
  for (const auto& [reg, value] : inst.reads) {
    if (!values_.shape_of(value).is_uniform()) return false;
  }
  for (unsigned i = 1; i < inst.ptx->operand_count; ++i) {
    if (inst.ptx->operands[i].kind == Operand::Kind::special) return false;
  }
  return true;
}

/// Plain copies, packing {a, b} -> d and unpacking a -> {d, e}.
void Emitter::lower_mov(const Inst& inst) {
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
      const Type part_type = part_bits == 64   ? Type::b64
                             : part_bits == 32 ? Type::b32
                             : part_bits == 16 ? Type::b16
                                               : Type::b8;
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
      const Type bits = part_bits == 64   ? Type::b64
                        : part_bits == 32 ? Type::b32
                        : part_bits == 16 ? Type::b16
                                          : Type::b8;
      values_.define_result(inst, target.reg, part, bits);
    }
    return;
  }
  if (to.kind != Operand::Kind::reg) return;
  values_.define_result(
      inst, to.reg,
      values_.operand(inst, from, type, lanes, code_plan_.nans.has_mixed_result(inst)), type);
}

/// Generic, global, constant and local addresses are host addresses; shared ones are offsets.
void Emitter::lower_cvta(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const bool lanes = !values_.results_are_scalar(inst);
  Value* content = values_.operand(inst, ptx.operands[1], Type::u64, lanes, false);
  bool shared = ptx.has(Modifier::shared) || ptx.has(Modifier::shared_cta) ||
                ptx.has(Modifier::shared_cluster);
  if (shared) {
    Value* base = lanes ? splat(frame_.shared()) : frame_.shared();
    content = ptx.has(Modifier::to) ? b_.CreateSub(content, base) : b_.CreateAdd(content, base);
  }
  values_.define_result(inst, ptx.operands[0].reg, content, Type::u64);
}

}  // namespace km::simt
