#include "simt/codegen/modes/index_tests.h"

#include <utility>

#include "simt/analysis/memory/memory_access.h"

namespace km::simt {

using ptx::Modifier;

namespace {

using Predicate = llvm::CmpInst::Predicate;

/// The order that an integer comparison tests. BAD_ICMP_PREDICATE stands for tests such as
/// equality, whose results for the lowest and the highest index do not determine those in between.
Predicate order_of(const ptx::Instruction& setp) {
  using ptx::Modifier;
  if (setp.has(Modifier::lo)) return Predicate::ICMP_ULT;
  if (setp.has(Modifier::ls)) return Predicate::ICMP_ULE;
  if (setp.has(Modifier::hi)) return Predicate::ICMP_UGT;
  if (setp.has(Modifier::hs)) return Predicate::ICMP_UGE;
  const bool is_signed = ptx::is_signed(setp.type());
  if (setp.has(Modifier::lt)) return is_signed ? Predicate::ICMP_SLT : Predicate::ICMP_ULT;
  if (setp.has(Modifier::le)) return is_signed ? Predicate::ICMP_SLE : Predicate::ICMP_ULE;
  if (setp.has(Modifier::gt)) return is_signed ? Predicate::ICMP_SGT : Predicate::ICMP_UGT;
  if (setp.has(Modifier::ge)) return is_signed ? Predicate::ICMP_SGE : Predicate::ICMP_UGE;
  return Predicate::BAD_ICMP_PREDICATE;
}

}  // namespace

/// The comparison of an offset-shaped index with a uniform bound by which the branch takes edge
/// `slot`; nothing if the branch has no such condition.
std::optional<IndexTests::IndexTest> IndexTests::test_of(const BasicBlock& block, size_t slot) {
  const auto& info = kernel_.values[block.condition];
  if (info.block != position_.block || info.instruction == kNone) return std::nullopt;
  const Inst& inst = block.insts[info.instruction];
  const auto& ptx = *inst.ptx;
  const bool is_plain = ptx.opcode == ptx::Opcode::setp && ptx.operand_count == 3 &&
                        inst.writes.size() == 1 && inst.guard == kNone &&
                        ptx::is_integer(ptx.type()) && ptx::size_bits(ptx.type()) >= 32;
  if (!is_plain || order_of(ptx) == Predicate::BAD_ICMP_PREDICATE) return std::nullopt;
  IndexTest test{order_of(ptx), nullptr, nullptr, nullptr};
  const ptx::Operand *index = &ptx.operands[1], *bound = &ptx.operands[2];
  const auto shape = [&](const ptx::Operand& operand) {
    if (operand.kind == ptx::Operand::Kind::immediate) return Shape::uniform(true);
    if (operand.kind != ptx::Operand::Kind::reg) return Shape::varying();
    return values_.shape_of(inst.read(operand.reg));
  };
  if (!shape(*index).is_offset()) {
    std::swap(index, bound);
    test.order = llvm::CmpInst::getSwappedPredicate(test.order);
  }
  if (!shape(*index).is_offset() || shape(*index).speculative || !shape(*bound).is_uniform()) {
    return std::nullopt;
  }
  const bool wanted = (slot == 0) != block.condition_negated;
  if (!wanted) test.order = llvm::CmpInst::getInversePredicate(test.order);
  const ValueId value = inst.read(index->reg);
  test.base = builder_.coerce(values_.scalar(value), kernel_.values[value].type, ptx.type());
  test.bound = values_.operand(inst, *bound, ptx.type(), false, false);
  test.offsets = &plan_.shapes->offsets[shape(*index).offsets];
  return test;
}

llvm::Value* IndexTests::surely_all_take(const BasicBlock& block, size_t slot) {
  const auto test = test_of(block, slot);
  if (!test) return nullptr;
  const auto [least, most] = extremes_of(test->offsets, lanes_);
  auto* type = test->base->getType();
  const auto at = [&](int64_t offset) {
    auto* constant = llvm::ConstantInt::get(type, static_cast<uint64_t>(offset), true);
    return offset == 0 ? test->base : b_.CreateAdd(test->base, constant);
  };
  Value *low = at(least), *high = at(most);
  const bool is_signed = llvm::CmpInst::isSigned(test->order);
  Value* in_order = b_.CreateICmp(is_signed ? Predicate::ICMP_SLE : Predicate::ICMP_ULE, low, high);
  const bool below = test->order == Predicate::ICMP_SLT || test->order == Predicate::ICMP_SLE ||
                     test->order == Predicate::ICMP_ULT || test->order == Predicate::ICMP_ULE;
  return b_.CreateAnd(in_order, b_.CreateICmp(test->order, below ? high : low, test->bound));
}

}  // namespace km::simt
