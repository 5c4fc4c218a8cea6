#include "spirv/kernel/numbered_barriers.h"

#include <set>

#include "ptx/forms.h"

namespace km::spirv {

using ptx::Modifier;
using ptx::Operand;
using ptx::Type;
using spv::Op;

namespace {

constexpr uint32_t kNumbers = 16;  // PTX ISA 9.7.13.1: barriers 0 to 15
// Words of the block's state: arrivals, threads expected (0: all that are left) and threads counted
// by reductions, for each number; threads that have ended.
constexpr uint32_t kArrivals = 4, kExpected = kArrivals + kNumbers, kCounted = kExpected + kNumbers,
                   kEnded = kCounted + kNumbers;

bool reduces(const ptx::Instruction& barrier) { return barrier.has(Modifier::red); }

const Operand& number_of(const ptx::Instruction& barrier) {
  return barrier.operands[reduces(barrier) ? 1 : 0];
}

/// The operand with the number of threads; null where all threads of the block are meant.
const Operand* threads_of(const ptx::Instruction& barrier) {
  const unsigned at = reduces(barrier) ? 2 : 1, last = reduces(barrier) ? 1 : 0;
  return barrier.operand_count > at + last ? &barrier.operands[at] : nullptr;
}

}  // namespace

bool is_numbered_barrier(const ptx::Instruction& instruction) {
  const bool of_block =
      instruction.opcode == ptx::Opcode::bar ||
      (instruction.opcode == ptx::Opcode::barrier && !instruction.has(Modifier::cluster));
  return of_block && !simt::is_block_barrier(instruction);
}

NumberedBarriers::NumberedBarriers(Shader& shader) : s(shader), b(shader.b) {
  bool is_needed = false, is_any = false;
  std::set<uint32_t> ids;
  for (const simt::BasicBlock& block : s.kernel.blocks) {
    if (!simt::ends_in_barrier(block) || simt::is_cluster_wait(*block.terminator_ptx)) continue;
    const ptx::Instruction& barrier = *block.terminator_ptx;
    is_needed = is_needed || is_numbered_barrier(barrier);
    const Operand& number = number_of(barrier);
    if (number.kind != Operand::Kind::immediate) is_any = true;
    ids.insert(static_cast<uint32_t>(number.bits) % kNumbers);
  }
  if (!is_needed) return;
  for (uint32_t id = 0; id < kNumbers; ++id) {
    if (!is_any && !ids.contains(id)) continue;
    numbers_.push_back({id, s.new_variable(b.getInt32Ty()), s.new_variable(b.getInt32Ty())});
  }
  waits_ = s.new_variable(b.getInt1Ty());
  for (Shader::Variable* one : {&id_, &ticket_, &counted_}) *one = s.new_variable(b.getInt32Ty());
}

void NumberedBarriers::begin() {
  if (!exist()) return;
  for (uint32_t i = kArrivals; i <= kEnded; ++i) s.store_word(s.state_word(s.u32(i)), s.u32(0));
  for (const Number& number : numbers_) {
    s.store(number.done, s.u32(0));
    s.store(number.done_counted, s.u32(0));
  }
  s.store(waits_, b.getFalse());
  s.store(counted_, s.u32(0));
}

V NumberedBarriers::add(Id place, uint32_t amount) {
  auto& writer = s.context.writer;
  return b.make(Op::OpAtomicIAdd, b.getInt32Ty(),
                {place, writer.u32(word(spv::Scope::Workgroup)), writer.u32(0), s.u32(amount)->id});
}

void NumberedBarriers::arrive(const simt::BasicBlock& block, Lowering& lowering) {
  const ptx::Instruction& barrier = *block.terminator_ptx;
  const simt::Inst& inst = block.insts.back();
  V id = b.CreateAnd(s.operand(inst, number_of(barrier), Type::u32), s.u32(kNumbers - 1));
  const Operand* const threads = threads_of(barrier);
  V expected = threads == nullptr ? s.u32(0) : s.operand(inst, *threads, Type::u32);
  s.store_word(word_of(kExpected, id), expected);
  if (reduces(barrier)) {
    s.if_then(lowering.counted_at(block), [&] { add(word_of(kCounted, id), 1); });
  }
  V ticket = add(word_of(kArrivals, id), 1);
  if (barrier.has(Modifier::arrive)) return;
  s.store(ticket_, ticket);
  s.store(id_, id);
  s.store(waits_, b.getTrue());
}

void NumberedBarriers::leave() {
  if (!exist()) return;
  s.store(waits_, b.getFalse());
  add(s.state_word(s.u32(kEnded)), 1);
}

void NumberedBarriers::complete() {
  V left = b.CreateSub(s.block_threads(), s.load_word(s.state_word(s.u32(kEnded))));
  for (const Number& number : numbers_) complete(number, left);
}

V NumberedBarriers::complete_with_ended() {
  V ended = s.load_word(s.state_word(s.u32(kEnded)));
  V any = b.getFalse();
  for (const Number& number : numbers_) {
    V id = s.u32(number.id);
    V arrivals = s.load_word(word_of(kArrivals, id)), counted = s.load_word(word_of(kCounted, id));
    V expected = s.load_word(word_of(kExpected, id));
    V fresh = b.CreateSub(arrivals, s.load(number.done));
    V is_used = b.CreateAnd(b.CreateICmpNE(fresh, s.u32(0)), b.CreateICmpNE(expected, s.u32(0)));
    V completes = b.CreateAnd(is_used, b.CreateICmpULE(expected, b.CreateAdd(fresh, ended)));
    s.if_then(completes, [&] {
      V is_here = b.CreateAnd(s.load(waits_), b.CreateICmpEQ(s.load(id_), id));
      s.if_then(is_here, [&] { release(number, counted); });
      s.store(number.done, arrivals);
      s.store(number.done_counted, counted);
    });
    any = b.CreateOr(any, completes);
  }
  return any;
}

void NumberedBarriers::release(const Number& number, V counted) {
  s.store(waits_, b.getFalse());
  s.store(counted_, b.CreateSub(counted, s.load(number.done_counted)));
}

void NumberedBarriers::complete(const Number& number, V threads_left) {
  V id = s.u32(number.id);
  V arrivals = s.load_word(word_of(kArrivals, id)), counted = s.load_word(word_of(kCounted, id));
  V expected = s.load_word(word_of(kExpected, id));
  expected = b.CreateSelect(b.CreateICmpEQ(expected, s.u32(0)), threads_left, expected);
  expected = b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, expected, s.u32(1));
  V done = s.load(number.done);
  V fresh = b.CreateSub(arrivals, done);
  V completed = b.CreateSub(fresh, b.CreateURem(fresh, expected));
  V is_here = b.CreateAnd(s.load(waits_), b.CreateICmpEQ(s.load(id_), id));
  V is_in = b.CreateICmpULT(b.CreateSub(s.load(ticket_), done), completed);
  s.if_then(b.CreateAnd(is_here, is_in), [&] { release(number, counted); });
  s.if_then(b.CreateICmpNE(completed, s.u32(0)), [&] {
    s.store(number.done, b.CreateAdd(done, completed));
    s.store(number.done_counted, counted);
  });
}

}  // namespace km::spirv
