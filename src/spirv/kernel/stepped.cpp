#include "spirv/kernel/stepped.h"

#include <algorithm>

#include "ptx/forms.h"
#include "spirv/kernel/modes.h"

namespace km::spirv {

using ptx::Modifier;
using ptx::Operand;
using ptx::Type;
using simt::BlockId;
using simt::Terminator;
using spv::Op;

namespace {

// A key is the state, below a stamp that grows when a thread goes round a loop that waits; threads
// with the lowest key run next.
constexpr uint32_t kStateBits = 16;
constexpr uint32_t kStateMask = (1u << kStateBits) - 1;
constexpr uint32_t kMostStamp = 0x7ffe;
// States of threads that run nothing now.
constexpr uint32_t kAtBarrier = 0xfffd, kDone = 0xffff;
// Keys above all stamps.
constexpr uint32_t kBarrierKey = 0xfffffffd, kBlockedKey = 0xfffffffe, kDoneKey = 0xffffffff;
// Words of the block's state: three lowest keys that take turns, so that one barrier a step is
// enough.
constexpr uint32_t kTurns = 3;

}  // namespace

Stepped::Stepped(Shader& shader, const std::vector<const ptx::Instruction*>& spin_headers)
    : s(shader),
      b(shader.b),
      warp_(shader),
      lowering_(shader, warp_),
      barriers_(shader),
      graph_(shader.kernel.graph()),
      order_(graph_.size()),
      blocks_(simt::reverse_postorder(graph_)),
      slots_(shader.kernel.edge_slots()),
      yields_(graph_.size()) {
  auto* word_type = b.getInt32Ty();
  for (Shader::Variable* one :
       {&state_, &key_, &turn_, &members_, &resume_, &count_, &stamp_, &current_, &waits_at_}) {
    *one = s.new_variable(word_type);
  }
  counted_ = s.new_variable(b.getInt1Ty());
  for (uint32_t i = 0; i < blocks_.size(); ++i) order_[blocks_[i]] = i;
  for (const BlockId block : blocks_) {
    const simt::BasicBlock& one = s.kernel.blocks[block];
    has_warp_syncs_ = has_warp_syncs_ || one.terminator == Terminator::warp_sync;
    for (const simt::Inst& inst : one.insts) {
      const bool spins =
          std::find(spin_headers.begin(), spin_headers.end(), inst.ptx) != spin_headers.end();
      if (!spins) continue;
      yields_[block] = 1;
      has_stamps_ = true;
    }
  }
  s.keep_all_in_variables();
}

void Stepped::emit() {
  if (2 * graph_.size() >= kAtBarrier) {
    return s.refuse(s.kernel.function->code[0], "the kernel is too long for the stepped mode");
  }
  begin();
  s.loop([&] { return step(); });
}

void Stepped::begin() {
  for (uint32_t i = 0; i < kTurns; ++i) s.store_word(s.state_word(s.u32(i)), s.u32(UINT32_MAX));
  s.store(state_, s.u32(0));
  s.store(stamp_, s.u32(0));
  s.store(turn_, s.u32(0));
  s.store(members_, s.u32(0));
  s.store(resume_, s.u32(0));
  s.store(counted_, b.getFalse());
  s.store(count_, s.u32(0));
  s.store(waits_at_, s.u32(0));
  barriers_.begin();
  s.barrier();
}

/// True if all members of the thread's warp operation have arrived at it or have ended.
V Stepped::is_ready(V state) {
  const auto ready = s.new_variable(b.getInt1Ty());
  s.store(ready, b.getTrue());
  V members = s.load(members_);
  V first = s.first_of_warp();
  s.repeat(32, [&](V lane) {
    V thread = b.CreateAdd(first, lane);
    V bit = b.CreateAnd(b.CreateLShr(members, lane), s.u32(1));
    V counts =
        b.CreateAnd(b.CreateICmpNE(bit, s.u32(0)), b.CreateICmpULT(thread, s.block_threads()));
    s.if_then(counts, [&] {
      V other = s.load_word(s.scratch_word(thread));
      V here = b.CreateOr(b.CreateICmpEQ(other, state), b.CreateICmpEQ(other, s.u32(kDone)));
      s.store(ready, b.CreateAnd(s.load(ready), here));
    });
  });
  return s.load(ready);
}

/// Gives the members of a warp operation one key, however often each of them went round a loop that
/// waits: otherwise those with the lowest would go on, and leave the others waiting for them. All
/// members find that they are ready in the same step, so that the stamp of the last one will do.
void Stepped::agree_on_key(V state) {
  if (!has_stamps_) return;
  V stamp = b.CreateLShr(s.load(current_), s.u32(kStateBits));
  stamp = b.CreateSelect(b.CreateICmpULE(stamp, s.u32(kMostStamp)), stamp, s.u32(0));
  s.store(stamp_, stamp);
  s.store(key_, b.CreateOr(b.CreateShl(stamp, s.u32(kStateBits)), state));
}

void Stepped::find_key() {
  V state = s.load(state_);
  V key = b.CreateOr(b.CreateShl(s.load(stamp_), s.u32(kStateBits)), state);
  key = b.CreateSelect(b.CreateICmpEQ(state, s.u32(kAtBarrier)), s.u32(kBarrierKey), key);
  key = b.CreateSelect(b.CreateICmpEQ(state, s.u32(kDone)), s.u32(kDoneKey), key);
  s.store(key_, key);
  if (has_warp_syncs_) s.store_word(s.scratch_word(s.thread_index()), state);
  if (has_warp_syncs_ || barriers_.exist()) s.barrier();
  if (barriers_.exist()) {
    barriers_.complete();
    s.if_then(barriers_.waits(), [&] { s.store(key_, s.u32(kBlockedKey)); });
  }
  if (!has_warp_syncs_) return;
  V odd = b.CreateICmpNE(b.CreateAnd(state, s.u32(1)), s.u32(0));
  V waits = b.CreateAnd(odd, b.CreateICmpULT(state, s.u32(kAtBarrier)));
  V has_members = b.CreateICmpNE(s.load(members_), s.u32(0));
  s.if_then(b.CreateAnd(waits, has_members), [&] {
    s.if_else(
        is_ready(state), [&] { agree_on_key(state); }, [&] { s.store(key_, s.u32(kBlockedKey)); });
  });
}

V Stepped::step() {
  auto& writer = s.context.writer;
  find_key();
  V turn = s.load(turn_);
  V next = b.CreateAdd(turn, s.u32(1));
  next = b.CreateSelect(b.CreateICmpEQ(next, s.u32(kTurns)), s.u32(0), next);
  b.make(Op::OpAtomicUMin, b.getInt32Ty(),
         {s.state_word(turn), writer.u32(word(spv::Scope::Workgroup)), writer.u32(0),
          s.load(key_)->id});
  s.if_then(b.CreateICmpEQ(s.thread_index(), s.u32(0)),
            [&] { s.store_word(s.state_word(next), s.u32(UINT32_MAX)); });
  s.barrier();
  V current = s.load_word(s.state_word(turn));
  s.store(current_, current);
  s.store(turn_, next);
  std::vector<std::pair<uint32_t, Shader::Body>> cases;
  for (const BlockId block : blocks_) {
    cases.emplace_back(state_of(block), [&, block] { emit_block(block); });
    const Terminator end = s.kernel.blocks[block].terminator;
    if (end == Terminator::warp_sync || end == Terminator::barrier) {
      cases.emplace_back(state_of(block) + 1, [&, block] { emit_after(block); });
    }
  }
  cases.emplace_back(kBarrierKey & kStateMask, [&] { release_barrier(); });
  cases.emplace_back(kBlockedKey & kStateMask, [&] { end_deadlock(); });
  s.choose(b.CreateAnd(current, s.u32(kStateMask)), cases);
  return b.CreateICmpNE(s.load(current_), s.u32(kDoneKey));
}

V Stepped::is_active() { return b.CreateICmpEQ(s.load(key_), s.load(current_)); }

/// The code of a block up to its end, or to the operation at which the threads wait.
void Stepped::emit_block(BlockId block) {
  const simt::BasicBlock& one = s.kernel.blocks[block];
  V active = is_active();
  const bool waits = one.terminator == Terminator::warp_sync;
  const size_t count = one.insts.size() - (waits ? 1 : 0);
  size_t i = 0;
  bool ended = false, begun = false;
  while (!ended) {
    under(active, [&] {
      s.begin_block(block);
      s.forget_values();
      if (!begun) s.load_phis(block);
      begun = true;
      s.begin_block_faults();
      bool goes_on = true;
      for (; goes_on && i < count && !runs_in_step(one.insts[i]); ++i) {
        goes_on = lowering_.lower(one.insts[i]);
        s.take_refusal(*one.insts[i].ptx);
      }
      s.end_block_faults();
      ended = !goes_on || i == count;
      if (!goes_on) return finish_thread();
      if (ended) emit_end(block);
    });
    if (ended) return;
    s.forget_values();
    lowering_.lower_in_step(one.insts[i], active);
    ++i;
  }
}

void Stepped::emit_end(BlockId block) {
  const simt::BasicBlock& one = s.kernel.blocks[block];
  switch (one.terminator) {
    case Terminator::jump:
      return go(block, 0);
    case Terminator::branch:
      return s.if_else(s.condition(one), [&] { go(block, 0); }, [&] { go(block, 1); });
    case Terminator::table: {
      std::vector<std::pair<uint32_t, Shader::Body>> cases;
      for (uint32_t i = 0; i < one.succs.size(); ++i) {
        cases.emplace_back(i, [&, i] { go(block, i); });
      }
      s.store(state_, s.u32(kDone));
      return s.choose(b.CreateZExtOrTrunc(s.read(one.condition), b.getInt32Ty()), cases);
    }
    case Terminator::exit:
      return finish_thread();
    case Terminator::warp_sync: {
      const simt::Inst& inst = one.insts.back();
      V members = s.u32(UINT32_MAX);
      if (simt::has_member_mask(*inst.ptx)) {
        members = s.operand(inst, inst.ptx->operands[inst.ptx->operand_count - 1], Type::b32);
      }
      s.store(members_, members);
      s.store(waits_at_, s.u32(inst.ptx->location.line));
      return s.store(state_, s.u32(state_of(block) + 1));
    }
    case Terminator::barrier:
      return emit_barrier(block);
  }
}

void Stepped::emit_barrier(BlockId block) {
  const simt::BasicBlock& one = s.kernel.blocks[block];
  s.store(members_, s.u32(0));
  s.store(waits_at_, s.u32(one.terminator_ptx->location.line));
  if (simt::is_cluster_wait(*one.terminator_ptx)) {
    lowering_.takes_barrier(one);  // refuses it
    return;
  }
  if (barriers_.exist()) {
    barriers_.arrive(one, lowering_);
    if (one.terminator_ptx->has(Modifier::arrive)) return go(block, 0);
    s.store(stamp_, s.u32(0));
    return s.store(state_, s.u32(state_of(block) + 1));
  }
  if (!lowering_.takes_barrier(one)) return;
  const bool reduces = one.terminator_ptx->has(Modifier::red);
  s.store(counted_, reduces ? lowering_.counted_at(one) : b.getFalse());
  s.store(resume_, s.u32(state_of(block) + 1));
  s.store(state_, s.u32(kAtBarrier));
}

/// Ends all threads that wait, if counting ended ones at numbered barriers does not help.
void Stepped::end_deadlock() {
  const auto end = [&] {
    s.if_then(is_active(), [&] {
      V kind = s.u32(word(FaultKind::deadlock));
      s.note_fault(kind, s.load(waits_at_), s.u64(0), s.u32(0), {});
      finish_thread();
    });
  };
  if (!barriers_.exist()) return end();
  V helps = barriers_.complete_with_ended();
  s.barrier();  // before threads end
  s.if_then(b.CreateNot(helps), end);
}

void Stepped::finish_thread() {
  s.store(state_, s.u32(kDone));
  barriers_.leave();
}

/// Makes the code that follows the operation at which the threads of a block have waited.
void Stepped::emit_after(BlockId block) {
  const simt::BasicBlock& one = s.kernel.blocks[block];
  V active = is_active();
  const simt::Inst& inst = one.insts.back();
  s.begin_block(block);
  s.forget_values();
  if (one.terminator == Terminator::warp_sync) {
    warp_.lower(inst, active);
    s.take_refusal(*inst.ptx);
  }
  under(active, [&] {
    s.begin_block(block);
    s.forget_values();
    if (one.terminator == Terminator::barrier && inst.ptx->has(Modifier::red)) {
      lowering_.define_reduction(one, barriers_.exist() ? barriers_.counted() : s.load(count_));
    }
    go(block, 0);
  });
}

/// All threads wait at a barrier or have ended.
void Stepped::release_barrier() {
  V waits = b.CreateICmpEQ(s.load(state_), s.u32(kAtBarrier));
  V count = s.count_in_block(b.CreateAnd(waits, s.load(counted_)));
  s.if_then(waits, [&] {
    s.store(count_, count);
    s.store(state_, s.load(resume_));
    s.store(stamp_, s.u32(0));
  });
}

void Stepped::go(BlockId from, size_t edge) {
  const BlockId to = s.kernel.blocks[from].succs[edge];
  s.begin_block(from);
  s.store_phis(from, to, slots_[from][edge]);
  if (order_[to] <= order_[from] && yields_[to]) {
    V stamp = b.CreateAdd(s.load(stamp_), s.u32(1));
    V limit = s.u32(kMostStamp);
    s.store(stamp_, b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, stamp, limit));
  }
  s.store(state_, s.u32(state_of(to)));
}

}  // namespace km::spirv
