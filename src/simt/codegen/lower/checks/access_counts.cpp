#include "simt/codegen/lower/checks/access_counts.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/assert.h"

namespace km::simt {

using ptx::Opcode;
using ptx::Space;

namespace {

/// The counted memory of a state space; nothing for constants, parameters and local memory.
std::optional<CountedSpace> counted_space(Space space) {
  if (space == Space::global) return CountedSpace::global;
  if (space == Space::shared) return CountedSpace::shared;
  if (space == Space::generic) return CountedSpace::generic;
  return std::nullopt;
}

/// True for a branch of the PTX text. Other basic blocks part where an instruction has a guard.
bool is_branch(const BasicBlock& block) {
  if (block.terminator == Terminator::table) return true;
  return block.terminator == Terminator::branch && block.terminator_ptx != nullptr &&
         block.terminator_ptx->opcode == Opcode::bra;
}

}  // namespace

AccessKind access_kind_of(const Inst& inst) {
  if (is_atomic(inst)) return AccessKind::atomic;
  return inst.ptx->opcode == Opcode::st ? AccessKind::write : AccessKind::read;
}

/// The number of a basic block's instructions. One with a guard counts where the guard is tested,
/// because all lanes there issue it, and not once more where only the lanes are that execute it.
/// `ret` and `exit` do not count, because each way to them has a copy.
uint32_t AccessCounts::instructions_of(const BasicBlock& block) const {
  const auto is_issued_before = [&](const ptx::Instruction* instruction) {
    return std::any_of(block.preds.begin(), block.preds.end(), [&](BlockId pred) {
      const BasicBlock& before = kernel_.blocks[pred];
      return before.terminator == Terminator::branch && !is_branch(before) &&
             before.terminator_ptx == instruction;
    });
  };
  const auto is_synthesized = [&](const ptx::Instruction* instruction) {
    return std::any_of(kernel_.synthesized.begin(), kernel_.synthesized.end(),
                       [&](const auto& each) { return each.get() == instruction; });
  };
  uint32_t count = 0;
  for (const Inst& inst : block.insts) {
    count += is_issued_before(inst.ptx) || is_synthesized(inst.ptx) ? 0 : 1;
  }
  const bool ends_in_inst =
      block.terminator == Terminator::barrier || block.terminator == Terminator::warp_sync;
  const bool has_end = block.terminator_ptx != nullptr && !ends_in_inst &&
                       block.terminator_ptx->opcode != Opcode::ret &&
                       block.terminator_ptx->opcode != Opcode::exit;
  return count + (has_end && !is_issued_before(block.terminator_ptx) ? 1 : 0);
}

void AccessCounts::call(uint64_t entry, std::initializer_list<Value*> arguments) {
  std::vector<llvm::Type*> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  frame_.call_runtime(entry, llvm::FunctionType::get(b_.getVoidTy(), types, false), arguments);
}

void AccessCounts::count_lanes(Value* addresses, const CountedAccess& access, Value* lanes) {
  if (!is_used()) return;
  KM_ASSERT(std::has_single_bit(access.size_bytes), "the size of an access is a power of two");
  auto* memory = builder_.variable(addresses->getType(), "counted");
  b_.CreateStore(addresses, memory);
  auto* note = builder_.private_constant(b_.getInt64(std::bit_cast<uint64_t>(access)), "km_count");
  call(offsetof(CounterRuntime, count_access),
       {frame_.state(), memory, lanes != nullptr ? builder_.bits_of(lanes) : mask_bits(), note});
}

void AccessCounts::count_access(const Inst& inst, const Address& address) {
  if (!is_used()) return;
  const std::optional<MemoryAccess> access = memory_access(kernel_, inst);
  if (!access) return;
  const std::optional<CountedSpace> space = counted_space(access->space);
  if (!space) return;
  count_lanes(
      addresses_.lanes_of(address),
      {access->line, static_cast<uint16_t>(access->size_bytes), access_kind_of(inst), *space},
      mask());
}

/// The active lanes whose condition is that of the first active one.
llvm::Value* AccessCounts::lanes_of_first_way(Value* condition) {
  auto* type = b_.getIntNTy(condition->getType()->getScalarSizeInBits());
  Value* const each = builder_.as_type(condition, type);
  Value* const first = builder_.of_first_lane(each, mask_bits());
  return b_.CreateAnd(builder_.bits_of(b_.CreateICmpEQ(each, splat(first))), mask_bits());
}

void AccessCounts::count_block(const BasicBlock& block, Value* condition) {
  if (!is_used()) return;
  CountedBlock counted{};
  counted.instructions = instructions_of(block);
  counted.is_branch = is_branch(block) ? 1 : 0;
  if (counted.instructions == 0) return;
  const ptx::Instruction* const last =
      block.terminator_ptx != nullptr ? block.terminator_ptx : block.insts.back().ptx;
  counted.line = last->location.line;
  Value* const way =
      counted.is_branch != 0 && condition != nullptr ? lanes_of_first_way(condition) : mask_bits();
  const auto words = std::bit_cast<std::array<uint64_t, 2>>(counted);
  auto* note =
      builder_.private_constant(llvm::ConstantDataArray::get(context_, words), "km_count_block");
  call(offsetof(CounterRuntime, count_block), {frame_.state(), mask_bits(), way, note});
}

}  // namespace km::simt
