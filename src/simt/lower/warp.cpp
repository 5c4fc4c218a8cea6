// Warp operations: a packet is a whole warp wherever they occur, so they are register operations.
#include <llvm/IR/IntrinsicsX86.h>

#include "simt/emit/emitter.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Operand;
using ptx::Type;

llvm::Value* Emitter::meeting_bits() { return participants_ ? participants_ : mask_bits(); }

llvm::Value* Emitter::meeting_mask() {
  return participants_ ? builder_.mask_of(participants_) : mask();
}

/// The lanes that meet here. Where membermasks differ, a vector: for each lane those of its own
/// mask, which make a group.
llvm::Value* Emitter::meeting_groups(const Inst& inst, const Operand& members) {
  Value* mask = values_.operand(inst, members, Type::b32, false, false);
  Value* here = meeting_bits();
  return b_.CreateAnd(mask->getType()->isVectorTy() ? splat(here) : here, mask);
}

/// result[l] = source[index[l]] for lanes of 32 bits; indices are below their number.
llvm::Value* Emitter::permute(Value* source, Value* index) {
  if (has_avx512() && lanes_ == 16) {
    return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_si_512, {}, {source, index});
  }
  if (!has_avx512() || lanes_ != kWarpLanes) {
    return b_.CreateCall(permute_helper(), {source, index});
  }
  auto half = [&](Value* whole, int first) {
    std::vector<int> pick(16);
    for (int i = 0; i < 16; ++i) pick[i] = first + i;
    return b_.CreateShuffleVector(whole, pick);
  };
  Value *low = half(source, 0), *high = half(source, 16);
  std::vector<Value*> parts;
  for (int first : {0, 16}) {
    parts.push_back(b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {},
                                       {low, half(index, first), high}));
  }
  std::vector<int> all_lanes(32);
  for (int i = 0; i < 32; ++i) all_lanes[i] = i;
  return b_.CreateShuffleVector(parts[0], parts[1], all_lanes);
}

/// shfl.sync (PTX ISA 9.7.9.6): c holds the clamp value in bits 4:0, the segment mask in 12:8.
void Emitter::lower_shuffle(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const auto& pool = kernel_.function->operand_pool;
  const bool escapes = plan_.mode == Mode::split_warps || code_plan_.nans.has_mixed_result(inst);
  Value* source = brought(inst, ptx.operands[1], Type::b32, escapes);
  Value* b = values_.operand(inst, ptx.operands[2], Type::u32, true, false);
  Value* c = values_.operand(inst, ptx.operands[3], Type::u32, true, false);
  auto constant = [&](uint32_t value) { return splat(i32(value)); };
  b = b_.CreateAnd(b, constant(31));
  Value* segment = b_.CreateAnd(b_.CreateLShr(c, constant(8)), constant(31));
  Value* clamp = b_.CreateAnd(c, constant(31));
  Value* lane = builder_.lane_numbers();
  Value* outside = b_.CreateXor(segment, constant(31));
  Value* lowest = b_.CreateAnd(lane, segment);
  Value* bound = b_.CreateOr(lowest, b_.CreateAnd(clamp, outside));
  Value *from = nullptr, *within = nullptr;
  if (ptx.has(Modifier::up)) {
    from = b_.CreateSub(lane, b);
    within = b_.CreateICmpSGE(from, bound);
  } else {
    if (ptx.has(Modifier::down)) from = b_.CreateAdd(lane, b);
    if (ptx.has(Modifier::bfly)) from = b_.CreateXor(lane, b);
    if (ptx.has(Modifier::idx)) from = b_.CreateOr(lowest, b_.CreateAnd(b, outside));
    within = b_.CreateICmpSLE(from, bound);
  }
  from = b_.CreateSelect(within, from, lane);
  Value* result = nullptr;
  if (auto* known = llvm::dyn_cast<llvm::ConstantDataVector>(from)) {
    std::vector<int> pick(lanes_);
    for (uint32_t l = 0; l < lanes_; ++l) {
      pick[l] = static_cast<int>(known->getElementAsInteger(l));
    }
    result = b_.CreateShuffleVector(source, pick);
  } else {
    result = permute(source, from);
  }
  const Operand& target = ptx.operands[0];
  if (target.kind == Operand::Kind::reg)
    return values_.define_result(inst, target.reg, result, Type::b32);
  const Operand &value = pool[target.first], &predicate = pool[target.first + 1];
  if (value.kind == Operand::Kind::reg) values_.define_result(inst, value.reg, result, Type::b32);
  if (predicate.kind == Operand::Kind::reg) {
    values_.define_result(inst, predicate.reg, within, Type::pred);
  }
}

void Emitter::lower_vote(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  Value* predicate = brought(inst, ptx.operands[1], Type::pred, false);
  Value* here = meeting_bits();
  Value* votes = builder_.bits_of(predicate);
  if (ptx.operand_count > 2) here = meeting_groups(inst, ptx.operands[2]);
  if (here->getType()->isVectorTy()) votes = splat(votes);
  votes = b_.CreateAnd(votes, here);
  Value* result = votes;
  Type type = Type::b32;
  if (!ptx.has(Modifier::ballot)) {
    type = Type::pred;
    Value* none = b_.CreateICmpEQ(votes, llvm::Constant::getNullValue(votes->getType()));
    Value* whole = b_.CreateICmpEQ(votes, here);
    if (ptx.has(Modifier::any)) result = b_.CreateNot(none);
    if (ptx.has(Modifier::all)) result = whole;
    if (ptx.has(Modifier::uni)) result = b_.CreateOr(none, whole);
  }
  values_.define_result(inst, inst.writes[0].first, result, type);
}

void Emitter::lower_match(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const auto& pool = kernel_.function->operand_pool;
  const bool match_all = ptx.has(Modifier::all);
  Value* content = brought(inst, ptx.operands[1], ptx.type(), true);
  Value* groups = meeting_groups(inst, ptx.operands[2]);
  if (!groups->getType()->isVectorTy()) groups = splat(groups);
  Value* result = b_.CreateCall(match_helper(type_of(ptx.type()), match_all),
                                {content, groups, meeting_bits()});
  const Operand& target = ptx.operands[0];
  if (target.kind == Operand::Kind::reg)
    return values_.define_result(inst, target.reg, result, Type::b32);
  const Operand &value = pool[target.first], &predicate = pool[target.first + 1];
  if (value.kind == Operand::Kind::reg) values_.define_result(inst, value.reg, result, Type::b32);
  if (predicate.kind == Operand::Kind::reg) {
    Value* matched = b_.CreateICmpNE(result, llvm::Constant::getNullValue(result->getType()));
    values_.define_result(inst, predicate.reg, matched, Type::pred);
  }
}

namespace {

uint32_t neutral_of(const ptx::Instruction& redux) {
  const bool is_signed = ptx::is_signed(redux.type());
  if (redux.has(Modifier::and_)) return UINT32_MAX;
  if (redux.has(Modifier::min)) return is_signed ? INT32_MAX : UINT32_MAX;
  if (redux.has(Modifier::max)) return is_signed ? static_cast<uint32_t>(INT32_MIN) : 0;
  return 0;
}

llvm::Value* combine(llvm::IRBuilder<>& b, const ptx::Instruction& redux, llvm::Value* x,
                     llvm::Value* y) {
  namespace I = llvm::Intrinsic;
  const bool is_signed = ptx::is_signed(redux.type());
  if (redux.has(Modifier::add)) return b.CreateAdd(x, y);
  if (redux.has(Modifier::and_)) return b.CreateAnd(x, y);
  if (redux.has(Modifier::or_)) return b.CreateOr(x, y);
  if (redux.has(Modifier::xor_)) return b.CreateXor(x, y);
  if (redux.has(Modifier::min)) return b.CreateBinaryIntrinsic(is_signed ? I::smin : I::umin, x, y);
  return b.CreateBinaryIntrinsic(is_signed ? I::smax : I::umax, x, y);
}

}  // namespace

/// Each lane's number goes to all lanes in whose group it is.
llvm::Value* Emitter::reduce_groups(const ptx::Instruction& redux, Value* content, Value* groups) {
  Value* neutral = splat(i32(neutral_of(redux)));
  Value* result = neutral;
  for (uint32_t l = 0; l < lanes_; ++l) {
    Value* bit = b_.CreateAnd(groups, splat(i32(uint32_t{1} << l)));
    Value* outside = b_.CreateICmpEQ(bit, llvm::Constant::getNullValue(bit->getType()));
    Value* brought = b_.CreateVectorSplat(lanes_, b_.CreateExtractElement(content, l));
    result = combine(b_, redux, result, b_.CreateSelect(outside, neutral, brought));
  }
  return result;
}

void Emitter::lower_redux(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  Value* content = brought(inst, ptx.operands[1], ptx.type(), true);
  Value* groups = meeting_groups(inst, ptx.operands[2]);
  if (groups->getType()->isVectorTy()) {
    Value* reduced = reduce_groups(ptx, content, groups);
    return values_.define_result(inst, inst.writes[0].first, reduced, ptx.type());
  }
  const bool is_signed = ptx::is_signed(ptx.type());
  Value* here = meeting_mask();
  if (here != nullptr) content = b_.CreateSelect(here, content, splat(i32(neutral_of(ptx))));
  Value* result = nullptr;
  if (ptx.has(Modifier::add)) result = b_.CreateAddReduce(content);
  if (ptx.has(Modifier::min)) result = b_.CreateIntMinReduce(content, is_signed);
  if (ptx.has(Modifier::max)) result = b_.CreateIntMaxReduce(content, is_signed);
  if (ptx.has(Modifier::and_)) result = b_.CreateAndReduce(content);
  if (ptx.has(Modifier::or_)) result = b_.CreateOrReduce(content);
  if (ptx.has(Modifier::xor_)) result = b_.CreateXorReduce(content);
  values_.define_result(inst, inst.writes[0].first, result, ptx.type());
}

/// The lowest lane of a group is elected.
void Emitter::lower_elect(const Inst& inst) {
  const auto& pool = kernel_.function->operand_pool;
  const Operand& target = inst.ptx->operands[0];
  Value* groups = meeting_groups(inst, inst.ptx->operands[1]);
  Value* leader = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, groups, b_.getFalse());
  const Operand &value = pool[target.first], &predicate = pool[target.first + 1];
  if (value.kind == Operand::Kind::reg) values_.define_result(inst, value.reg, leader, Type::b32);
  if (predicate.kind == Operand::Kind::reg) {
    Value* elected = b_.CreateICmpEQ(builder_.lane_numbers(), splat(leader));
    values_.define_result(inst, predicate.reg, elected, Type::pred);
  }
}

}  // namespace km::simt
