// The 64 bits of an mbarrier object, which PTX leaves to the implementation:
//   0..19   arrivals that the current phase still needs
//   20..39  arrivals with which each phase starts
//   40..61  outstanding bytes of transactions, signed
//   62..63  the number of the phase, modulo 4
// Its accesses need not be atomic, because the warps of a block take turns only at calls.
#include "simt/codegen/lower/atomics/mbarriers.h"

#include "simt/codegen/lower/lanes/lane_loops.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Operand;
using ptx::Type;

namespace {

using Builder = llvm::IRBuilder<>;
using V = llvm::Value*;

constexpr unsigned kExpectedShift = 20, kBytesShift = 40, kPhaseShift = 62;
constexpr uint64_t kPending = (uint64_t{1} << kExpectedShift) - 1;
constexpr uint64_t kExpected = kPending << kExpectedShift;
constexpr uint64_t kBytes = ((uint64_t{1} << (kPhaseShift - kBytesShift)) - 1) << kBytesShift;
constexpr uint64_t kBarrierBytes = 8;

/// `word` with the bits of `field` taken from `sum`, so that no carry leaves the field.
V with_field(Builder& b, V word, V sum, uint64_t field) {
  return b.CreateOr(b.CreateAnd(word, ~field), b.CreateAnd(sum, field));
}

V take_pending(Builder& b, V word, V count) {
  return with_field(b, word, b.CreateSub(word, count), kPending);
}

V take_expected(Builder& b, V word, V count) {
  return with_field(b, word, b.CreateSub(word, b.CreateShl(count, kExpectedShift)), kExpected);
}

V add_bytes(Builder& b, V word, V bytes) {
  return with_field(b, word, b.CreateAdd(word, b.CreateShl(bytes, kBytesShift)), kBytes);
}

V take_bytes(Builder& b, V word, V bytes) {
  return with_field(b, word, b.CreateSub(word, b.CreateShl(bytes, kBytesShift)), kBytes);
}

/// Starts the next phase if no arrivals are pending and no bytes are outstanding.
V next_phase_if_complete(Builder& b, V word) {
  V left = b.CreateAnd(word, kPending | kBytes);
  V fresh = b.CreateAnd(b.CreateLShr(word, kExpectedShift), kPending);
  fresh = b.CreateAdd(b.CreateOr(word, fresh), b.getInt64(uint64_t{1} << kPhaseShift));
  return b.CreateSelect(b.CreateICmpEQ(left, b.getInt64(0)), fresh, word);
}

V load_barrier(Builder& b, V address) {
  return b.CreateLoad(b.getInt64Ty(), b.CreateIntToPtr(address, b.getPtrTy()));
}

void store_barrier(Builder& b, V address, V word) {
  b.CreateStore(word, b.CreateIntToPtr(address, b.getPtrTy()));
}

/// The content of an object that expects arrivals of so many threads.
V fresh_barrier(Builder& b, V count) {
  count = b.CreateAnd(count, llvm::ConstantInt::get(count->getType(), kPending));
  return b.CreateOr(count, b.CreateShl(count, kExpectedShift));
}

/// The new content of the object after any kind of arrive or arrive_drop.
V arrive(Builder& b, const ptx::Instruction& ptx, V word, V count) {
  V arrivals = count;
  if (ptx.has(Modifier::expect_tx)) {
    word = add_bytes(b, word, count);
    arrivals = b.getInt64(1);
  }
  word = take_pending(b, word, arrivals);
  if (ptx.has(Modifier::arrive_drop)) word = take_expected(b, word, arrivals);
  return ptx.has(Modifier::noComplete) ? word : next_phase_if_complete(b, word);
}

}  // namespace

void complete_bytes(Builder& b, V address, V size_bytes) {
  V word = take_bytes(b, load_barrier(b, address), size_bytes);
  store_barrier(b, address, next_phase_if_complete(b, word));
}

void complete_arrival(Builder& b, V address) {
  V word = take_pending(b, load_barrier(b, address), b.getInt64(1));
  store_barrier(b, address, next_phase_if_complete(b, word));
}

void Mbarriers::lower_mbarrier(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  if (ptx.has(Modifier::pending_count)) {
    const bool lanes = !values_.results_are_scalar(inst);
    Value* state = values_.operand(inst, ptx.operands[1], Type::b64, lanes, false);
    auto* mask_bits = llvm::ConstantInt::get(state->getType(), kPending);
    if (inst.writes.empty()) return;
    return values_.define_result(inst, inst.writes[0].first, b_.CreateAnd(state, mask_bits),
                                 Type::u64);
  }
  if (ptx.has(Modifier::test_wait) || ptx.has(Modifier::try_wait)) return lower_phase_test(inst);
  if (ptx.has(Modifier::arrive) || ptx.has(Modifier::arrive_drop)) return lower_arrive(inst);
  const Address at =
      addresses_.address_of(inst, ptx.operands[0], space_of(kernel_, inst, ptx.operands[0]));
  checks_.check_lanes(inst, at, kBarrierBytes);
  // The word is kept: warps that still wait for the last phase must see that it is complete, as on
  // GPUs.
  if (ptx.has(Modifier::inval)) return;
  Value* count = i32(0);
  if (ptx.operand_count > 1) count = values_.operand(inst, ptx.operands[1], Type::u32, true, false);
  AccessReports& reports = checks_.reports();
  if (ptx.has(Modifier::init)) {
    auto* type = count->getType()->getWithNewType(b_.getInt64Ty());
    Value* word = fresh_barrier(b_, b_.CreateZExt(count, type));
    reports.report_lanes(inst, at, kBarrierBytes,
                         reports.with_values(AccessKind::write, {&word, 1}, kBarrierBytes));
  } else {
    reports.report_arrival(inst, at);
  }
  for_lanes(builder_, form_name(ptx), b_.getVoidTy(), {addresses_.lanes_of(at), count},
            [&](Builder& b, const std::vector<Value*>& lane) -> Value* {
              Value* number = b.CreateZExt(lane[1], b.getInt64Ty());
              Value* word = b.getInt64(0);
              if (ptx.has(Modifier::init)) {
                word = fresh_barrier(b, number);
              } else if (ptx.has(Modifier::expect_tx)) {
                word = add_bytes(b, load_barrier(b, lane[0]), number);
              } else if (ptx.has(Modifier::complete_tx)) {
                word = take_bytes(b, load_barrier(b, lane[0]), number);
                word = next_phase_if_complete(b, word);
              }
              store_barrier(b, lane[0], word);
              return nullptr;
            });
}

void Mbarriers::complete_transactions(const Inst& inst, const Operand& barrier, Value* sizes) {
  const Address at = addresses_.address_of(inst, barrier, space_of(kernel_, inst, barrier));
  checks_.check_lanes(inst, at, kBarrierBytes);
  checks_.reports().report_arrival(inst, at, CopyKind::barrier);
  for_lanes(builder_, "complete_transactions", b_.getVoidTy(), {addresses_.lanes_of(at), sizes},
            [&](Builder& b, const std::vector<Value*>& lane) -> Value* {
              complete_bytes(b, lane[0], lane[1]);
              return nullptr;
            });
}

/// Lowers arrive and arrive_drop. The result is the object's content before the arrival, since a
/// later test_wait only needs the phase in it.
void Mbarriers::lower_arrive(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const bool of_copies = ptx.opcode == ptx::Opcode::cp;
  // Without .noinc, cp.async first adds the arrival that it then makes, so the pending count does
  // not change.
  const bool keeps_count = of_copies && !ptx.has(Modifier::noinc);
  if (keeps_count && !checks_.reports().is_used()) return;
  const Operand& place = ptx.operands[of_copies ? 0 : 1];
  const Address at = addresses_.address_of(inst, place, space_of(kernel_, inst, place));
  checks_.check_lanes(inst, at, kBarrierBytes);
  // The arrival is made when the thread's copies are complete, so it stands for a wait.
  if (of_copies) checks_.reports().report_copies(CopyKind::group, i32(copy_groups::kWaitAll));
  checks_.reports().report_arrival(inst, at);
  if (keeps_count) return;
  Value* count = i32(1);
  if (ptx.operand_count > 2) count = values_.operand(inst, ptx.operands[2], Type::u32, true, false);
  Value* states =
      for_lanes(builder_, form_name(ptx), b_.getInt64Ty(), {addresses_.lanes_of(at), count},
                [&](Builder& b, const std::vector<Value*>& lane) -> Value* {
                  Value* word = load_barrier(b, lane[0]);
                  Value* number = b.CreateZExt(lane[1], b.getInt64Ty());
                  store_barrier(b, lane[0], arrive(b, ptx, word, number));
                  return word;
                });
  if (!inst.writes.empty()) values_.define_result(inst, inst.writes[0].first, states, Type::b64);
}

/// Lowers test_wait and try_wait, which test whether the phase of a state or of a parity is
/// complete. try_wait does not suspend the warp, since the loop around it yields.
void Mbarriers::lower_phase_test(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const bool by_parity = ptx.has(Modifier::parity);
  const Address at =
      addresses_.address_of(inst, ptx.operands[1], space_of(kernel_, inst, ptx.operands[1]));
  checks_.check_lanes(inst, at, kBarrierBytes);
  Value* phase =
      values_.operand(inst, ptx.operands[2], by_parity ? Type::u32 : Type::b64, true, false);
  Value* words = for_lanes(builder_, "mbarrier_words", b_.getInt64Ty(), {addresses_.lanes_of(at)},
                           [&](Builder& b, const std::vector<Value*>& lane) -> Value* {
                             return load_barrier(b, lane[0]);
                           });
  checks_.reports().report_phase_test(inst, at);
  auto shifted = [&](Value* value) { return b_.CreateLShr(value, splat(i64(kPhaseShift))); };
  Value* now = shifted(words);
  if (by_parity) {
    now = b_.CreateAnd(now, splat(i64(1)));
    phase = b_.CreateZExt(b_.CreateAnd(phase, splat(i32(1))), now->getType());
  } else {
    phase = shifted(phase);
  }
  if (inst.writes.empty()) return;
  values_.define_result(inst, inst.writes[0].first, b_.CreateICmpNE(now, phase), Type::pred);
}

}  // namespace km::simt
