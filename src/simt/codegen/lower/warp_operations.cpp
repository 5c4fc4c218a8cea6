#include "simt/codegen/lower/warp_operations.h"

#include <limits>
#include <numeric>

#include "simt/arithmetic/floating_point/minmax.h"
#include "simt/arithmetic/loops.h"
#include "simt/machine/instructions.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

void WarpOperations::lower(const Inst& inst) {
  switch (inst.ptx->opcode) {
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
    default:  // activemask
      return values_.define_result(inst, inst.writes[0].first, mask_bits(), Type::b32);
  }
}

llvm::Value* WarpOperations::participant_bits() {
  return participants_ ? participants_ : mask_bits();
}

llvm::Value* WarpOperations::participant_mask() {
  return participants_ ? builder_.mask_of(participants_) : mask();
}

/// The participants as bits, restricted to the member mask. The result is a vector if lanes may
/// have different member masks; lanes with equal ones form a group.
llvm::Value* WarpOperations::participant_groups(const Inst& inst, const Operand& members) {
  Value* mask = values_.operand(inst, members, Type::b32, false, false);
  Value* here = participant_bits();
  return b_.CreateAnd(mask->getType()->isVectorTy() ? splat(here) : here, mask);
}

llvm::Value* WarpOperations::contribution(const Inst& inst, const Operand& source, Type type,
                                          bool bits_escape) {
  if (participants_ == nullptr) return values_.operand(inst, source, type, true, bits_escape);
  Value* content =
      warp_frame_.load(offsetof(IndependentWarp, received), vector_of(b_.getInt64Ty()));
  auto* element = type_of(type);
  auto* narrow = b_.getIntNTy(element->getScalarSizeInBits());
  return builder_.as_type(b_.CreateTrunc(content, vector_of(narrow)), element);
}

/// Permutes 32-bit elements: result[l] = source[index[l]], with each index below the number of
/// lanes. Two registers of 16 lanes need two permutes for 32.
llvm::Value* WarpOperations::permute(Value* source, Value* index) {
  if (machine().has_wide_permutes() && lanes_ == 16) {
    return instructions::permuted(b_, source, index);
  }
  if (!machine().has_wide_permutes() || lanes_ != kWarpLanes) {
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
    parts.push_back(instructions::permuted(b_, low, high, half(index, first)));
  }
  std::vector<int> all_lanes(32);
  for (int i = 0; i < 32; ++i) all_lanes[i] = i;
  return b_.CreateShuffleVector(parts[0], parts[1], all_lanes);
}

/// Lowers shfl.sync. Operand c has the clamp value in bits 4:0 and the segment mask in bits 12:8
/// (PTX ISA 9.7.9.6).
void WarpOperations::lower_shuffle(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const auto& pool = kernel_.function->operand_pool;
  const bool escapes =
      plan_.mode == Mode::independent_threads || code_plan_.nans.has_mixed_result(inst);
  Value* source = contribution(inst, ptx.operands[1], Type::b32, escapes);
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

void WarpOperations::lower_vote(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  Value* predicate = contribution(inst, ptx.operands[1], Type::pred, false);
  Value* here = participant_bits();
  Value* votes = builder_.bits_of(predicate);
  if (ptx.operand_count > 2) here = participant_groups(inst, ptx.operands[2]);
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

void WarpOperations::lower_match(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const auto& pool = kernel_.function->operand_pool;
  const bool match_all = ptx.has(Modifier::all);
  Value* content = contribution(inst, ptx.operands[1], ptx.type(), true);
  Value* groups = participant_groups(inst, ptx.operands[2]);
  if (!groups->getType()->isVectorTy()) groups = splat(groups);
  Value* result = b_.CreateCall(match_helper(type_of(ptx.type()), match_all),
                                {content, groups, participant_bits()});
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

/// Reduces within each group. Groups may differ between lanes, so each lane's operand is combined
/// into all lanes whose group contains it.
llvm::Value* WarpOperations::reduce_groups(const ptx::Instruction& redux, Value* content,
                                           Value* groups) {
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

/// The least or greatest of the numbers of a group. NaN is the neutral element where numbers are
/// preferred to it; with .NaN the infinity that no number is beyond is.
void WarpOperations::lower_real_redux(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const bool maximum = ptx.has(Modifier::max), propagates = ptx.has(Modifier::NaN);
  arithmetic::Lanes l(b_, machine(), lanes_);
  Value* content = contribution(inst, ptx.operands[1], ptx.type(), true);
  if (ptx.has(Modifier::abs)) content = l.fabs(content);
  const float infinity = std::numeric_limits<float>::infinity();
  Value* neutral = l.real32(maximum ? -infinity : infinity);
  if (!propagates) neutral = l.nan_like(content);
  const auto combined = [&](arithmetic::Lanes& some, Value* x, Value* y) {
    return arithmetic::real_min_max(some, maximum, propagates, x, y);
  };
  Value* groups = participant_groups(inst, ptx.operands[2]);
  if (groups->getType()->isVectorTy()) {
    Value* result = neutral;
    for (uint32_t lane = 0; lane < lanes_; ++lane) {
      Value* bit = b_.CreateAnd(groups, splat(i32(uint32_t{1} << lane)));
      Value* outside = b_.CreateICmpEQ(bit, llvm::Constant::getNullValue(bit->getType()));
      Value* brought = b_.CreateVectorSplat(lanes_, b_.CreateExtractElement(content, lane));
      result = combined(l, result, b_.CreateSelect(outside, neutral, brought));
    }
    return values_.define_result(inst, inst.writes[0].first, l.canonical_nan(result), ptx.type());
  }
  Value* here = participant_mask();
  if (here != nullptr) content = b_.CreateSelect(here, content, neutral);
  for (uint32_t width = lanes_ / 2; width > 0; width /= 2) {
    std::vector<int> low(width), high(width);
    std::iota(low.begin(), low.end(), 0);
    std::iota(high.begin(), high.end(), static_cast<int>(width));
    arithmetic::Lanes half(b_, machine(), width);
    content =
        combined(half, b_.CreateShuffleVector(content, low), b_.CreateShuffleVector(content, high));
  }
  arithmetic::Lanes one(b_, machine(), 0);
  Value* result = one.canonical_nan(b_.CreateExtractElement(content, i32(0)));
  values_.define_result(inst, inst.writes[0].first, result, ptx.type());
}

void WarpOperations::lower_redux(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  if (ptx::is_float(ptx.type())) return lower_real_redux(inst);
  Value* content = contribution(inst, ptx.operands[1], ptx.type(), true);
  Value* groups = participant_groups(inst, ptx.operands[2]);
  if (groups->getType()->isVectorTy()) {
    Value* reduced = reduce_groups(ptx, content, groups);
    return values_.define_result(inst, inst.writes[0].first, reduced, ptx.type());
  }
  const bool is_signed = ptx::is_signed(ptx.type());
  Value* here = participant_mask();
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

void WarpOperations::lower_elect(const Inst& inst) {
  const auto& pool = kernel_.function->operand_pool;
  const Operand& target = inst.ptx->operands[0];
  Value* groups = participant_groups(inst, inst.ptx->operands[1]);
  Value* leader = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, groups, b_.getFalse());
  const Operand &value = pool[target.first], &predicate = pool[target.first + 1];
  if (value.kind == Operand::Kind::reg) values_.define_result(inst, value.reg, leader, Type::b32);
  if (predicate.kind == Operand::Kind::reg) {
    Value* elected = b_.CreateICmpEQ(builder_.lane_numbers(), splat(leader));
    values_.define_result(inst, predicate.reg, elected, Type::pred);
  }
}

/// The helper of permute() for machines without a wide permute: it loads each element from a table
/// in memory.
llvm::Function* WarpOperations::permute_helper() {
  const std::string name = "permute";
  if (auto* found = builder_.helper(name)) return found;
  auto* words = vector_of(b_.getInt32Ty());
  auto* function = builder_.new_helper(name, words, {words, words});
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "start", function));
  auto* table = builder.CreateAlloca(words);
  builder.CreateStore(function->getArg(0), table);
  Value* result = llvm::PoisonValue::get(words);
  for (uint32_t l = 0; l < lanes_; ++l) {
    Value* index = builder.CreateAnd(builder.CreateExtractElement(function->getArg(1), l),
                                     builder.getInt32(lanes_ - 1));
    Value* picked = builder.CreateLoad(builder.getInt32Ty(),
                                       builder.CreateGEP(builder.getInt32Ty(), table, index));
    result = builder.CreateInsertElement(result, picked, l);
  }
  builder.CreateRet(result);
  return function;
}

/// The helper of match: for each active lane, the lanes of its group with the same value; for
/// match.all the whole group, or none if values differ.
llvm::Function* WarpOperations::match_helper(llvm::Type* element, bool match_all) {
  const std::string name =
      std::string(match_all ? "match_all_" : "match_any_") + element_name(element);
  if (auto* found = builder_.helper(name)) return found;
  auto* words = vector_of(b_.getInt32Ty());
  auto* content_type = vector_of(element);
  auto* function = builder_.new_helper(name, words, {content_type, words, b_.getInt32Ty()});
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "start", function));
  auto* table = builder.CreateAlloca(content_type);
  auto* groups = builder.CreateAlloca(words);
  auto* results = builder.CreateAlloca(words);
  builder.CreateStore(function->getArg(0), table);
  builder.CreateStore(function->getArg(1), groups);
  builder.CreateStore(llvm::Constant::getNullValue(words), results);
  emit_lane_loop(builder, function->getArg(2), [&](llvm::IRBuilder<>& b, Value* lane) {
    Value* bits = b.CreateLoad(b.getInt32Ty(), b.CreateGEP(b.getInt32Ty(), groups, lane));
    Value* own = b.CreateLoad(element, b.CreateGEP(element, table, lane));
    Value* equal = b.CreateICmpEQ(function->getArg(0), b.CreateVectorSplat(lanes_, own));
    Value* same = b.CreateAnd(b.CreateBitCast(equal, b.getInt32Ty()), bits);
    if (match_all) {
      same = b.CreateSelect(b.CreateICmpEQ(same, bits), bits, b.getInt32(0));
    }
    b.CreateStore(same, b.CreateGEP(b.getInt32Ty(), results, lane));
  });
  builder.CreateRet(builder.CreateLoad(words, results));
  return function;
}

}  // namespace km::simt
