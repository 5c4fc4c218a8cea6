#include "spirv/kernel/warp.h"

#include <limits>

#include "simt/arithmetic/floating_point/minmax.h"
#include "simt/arithmetic/lanes.h"

namespace km::spirv {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;
using spv::Op;

namespace {

/// The words of a block's state that hold the ballots of its warps.
constexpr uint32_t kBallots = 64;

}  // namespace

void Warp::under(V active, const Shader::Body& body) {
  if (active == nullptr) return body();
  s.if_then(active, body);
}

/// The lanes that exist: the last warp of a block may have fewer.
V Warp::all_lanes() {
  V left = b.CreateSub(s.block_threads(), s.first_of_warp());
  V some = b.CreateSub(b.CreateShl(s.u32(1), b.CreateAnd(left, s.u32(31))), s.u32(1));
  return b.CreateSelect(b.CreateICmpUGE(left, s.u32(32)), s.u32(UINT32_MAX), some);
}

V Warp::ballot(V truth) {
  auto& writer = s.context.writer;
  V index = b.CreateAdd(s.u32(kBallots), b.CreateLShr(s.thread_index(), s.u32(5)));
  s.store_word(s.state_word(index), s.u32(0));
  s.barrier();
  s.if_then(truth, [&] {
    b.make(Op::OpAtomicOr, b.getInt32Ty(),
           {s.state_word(index), writer.u32(word(spv::Scope::Workgroup)), writer.u32(0),
            b.CreateShl(s.u32(1), s.lane())->id});
  });
  s.barrier();
  V result = s.load_word(s.state_word(index));
  s.barrier();
  return result;
}

V Warp::participants(V active) { return active == nullptr ? all_lanes() : ballot(active); }

void Warp::exchange(V active, V content, const Shader::Body& body) {
  under(active, [&] { s.store_word(s.scratch_word(s.thread_index()), content); });
  s.barrier();
  body();
  s.barrier();
}

V Warp::of_lane(V lane) {
  return s.load_word(s.scratch_word(b.CreateAdd(s.first_of_warp(), lane)));
}

void Warp::lower(const simt::Inst& inst, V active) {
  switch (inst.ptx->opcode) {
    case Opcode::shfl:
      return lower_shuffle(inst, active);
    case Opcode::vote:
      return lower_vote(inst, active);
    case Opcode::match:
      return lower_match(inst, active);
    case Opcode::redux:
      return lower_redux(inst, active);
    case Opcode::elect:
      return lower_elect(inst, active);
    case Opcode::activemask: {
      V here = participants(active);
      return under(active, [&] { s.define_result(inst, inst.writes[0].first, here, Type::b32); });
    }
    case Opcode::bar:
    case Opcode::barrier:  // of a warp
      return s.barrier();
    default:
      return s.refuse(*inst.ptx, "matrices have no counterpart in a shader");
  }
}

void Warp::define_pair(const simt::Inst& inst, V value, V predicate) {
  const Operand& target = inst.ptx->operands[0];
  const auto& pool = s.kernel.function->operand_pool;
  if (target.kind == Operand::Kind::reg) {
    return s.define_result(inst, target.reg, value, Type::b32);
  }
  const Operand &first = pool[target.first], &second = pool[target.first + 1];
  if (first.kind == Operand::Kind::reg) s.define_result(inst, first.reg, value, Type::b32);
  if (second.kind == Operand::Kind::reg) s.define_result(inst, second.reg, predicate, Type::pred);
}

/// Operand c has the clamp value in bits 4:0 and the segment mask in bits 12:8 (PTX ISA 9.7.9.6).
void Warp::lower_shuffle(const simt::Inst& inst, V active) {
  const auto& ptx = *inst.ptx;
  const auto content = s.new_variable(b.getInt32Ty());
  under(active, [&] { s.store(content, s.operand(inst, ptx.operands[1], Type::b32)); });
  exchange(active, s.load(content), [&] {
    under(active, [&] {
      V distance = b.CreateAnd(s.operand(inst, ptx.operands[2], Type::u32), s.u32(31));
      V c = s.operand(inst, ptx.operands[3], Type::u32);
      V segment = b.CreateAnd(b.CreateLShr(c, s.u32(8)), s.u32(31));
      V outside = b.CreateXor(segment, s.u32(31));
      V lowest = b.CreateAnd(s.lane(), segment);
      V bound = b.CreateOr(lowest, b.CreateAnd(b.CreateAnd(c, s.u32(31)), outside));
      V from = nullptr, within = nullptr;
      if (ptx.has(Modifier::up)) {
        from = b.CreateSub(s.lane(), distance);
        within = b.CreateICmpSGE(from, bound);
      } else {
        if (ptx.has(Modifier::down)) from = b.CreateAdd(s.lane(), distance);
        if (ptx.has(Modifier::bfly)) from = b.CreateXor(s.lane(), distance);
        if (ptx.has(Modifier::idx)) from = b.CreateOr(lowest, b.CreateAnd(distance, outside));
        within = b.CreateICmpSLE(from, bound);
      }
      from = b.CreateSelect(within, from, s.lane());
      define_pair(inst, of_lane(from), within);
    });
  });
}

/// The member mask; all lanes for operations without one.
V Warp::members(const simt::Inst& inst, unsigned operand) {
  if (!simt::has_member_mask(*inst.ptx)) return s.u32(UINT32_MAX);
  return s.operand(inst, inst.ptx->operands[operand], Type::b32);
}

void Warp::lower_vote(const simt::Inst& inst, V active) {
  const auto& ptx = *inst.ptx;
  const auto truth = s.new_variable(b.getInt1Ty());
  s.store(truth, b.getFalse());
  under(active, [&] { s.store(truth, s.operand(inst, ptx.operands[1], Type::pred)); });
  V here = participants(active);
  V votes = ballot(s.load(truth));
  under(active, [&] {
    V group = b.CreateAnd(here, members(inst, 2));
    V result = b.CreateAnd(votes, group);
    const auto reg = inst.writes[0].first;
    if (ptx.has(Modifier::ballot)) return s.define_result(inst, reg, result, Type::b32);
    V none = b.CreateICmpEQ(result, s.u32(0)), whole = b.CreateICmpEQ(result, group);
    V answer = whole;
    if (ptx.has(Modifier::any)) answer = b.CreateNot(none);
    if (ptx.has(Modifier::uni)) answer = b.CreateOr(none, whole);
    s.define_result(inst, reg, answer, Type::pred);
  });
}

void Warp::lower_match(const simt::Inst& inst, V active) {
  const auto& ptx = *inst.ptx;
  const bool wide = ptx::size_bits(ptx.type()) == 64;
  const auto content = s.new_variable(b.getInt64Ty());
  const auto equal = s.new_variable(b.getInt32Ty());
  s.store(content, s.u64(0));
  s.store(equal, s.u32(UINT32_MAX));
  under(active, [&] {
    s.store(content, b.CreateZExt(s.operand(inst, ptx.operands[1], ptx.type()), b.getInt64Ty()));
  });
  V here = participants(active);
  for (uint64_t part = 0; part < (wide ? 2 : 1); ++part) {
    V own = b.CreateTrunc(b.CreateLShr(s.load(content), s.u64(32 * part)), b.getInt32Ty());
    exchange(active, own, [&] {
      const auto found = s.new_variable(b.getInt32Ty());
      s.store(found, s.u32(0));
      s.repeat(32, [&](V lane) {
        V bit = b.CreateShl(s.u32(1), lane);
        V same = b.CreateICmpEQ(of_lane(lane), own);
        s.store(found, b.CreateOr(s.load(found), b.CreateSelect(same, bit, s.u32(0))));
      });
      s.store(equal, b.CreateAnd(s.load(equal), s.load(found)));
    });
  }
  under(active, [&] {
    V group = b.CreateAnd(here, members(inst, 2));
    V result = b.CreateAnd(s.load(equal), group);
    if (ptx.has(Modifier::all)) {
      result = b.CreateSelect(b.CreateICmpEQ(result, group), group, s.u32(0));
    }
    define_pair(inst, result, b.CreateICmpNE(result, s.u32(0)));
  });
}

namespace {

uint32_t neutral_of(const ptx::Instruction& redux) {
  const bool is_signed = ptx::is_signed(redux.type());
  if (redux.has(Modifier::and_)) return UINT32_MAX;
  if (redux.has(Modifier::min)) return is_signed ? INT32_MAX : UINT32_MAX;
  if (redux.has(Modifier::max)) return is_signed ? static_cast<uint32_t>(INT32_MIN) : 0;
  return 0;
}

V combine(llvm::IRBuilder<>& b, const ptx::Instruction& redux, V x, V y) {
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

/// The least or greatest of the numbers of a group. NaN is the neutral element where numbers are
/// preferred to it; with .NaN the infinity that no number is beyond is.
void Warp::lower_real_redux(const simt::Inst& inst, V active) {
  const auto& ptx = *inst.ptx;
  simt::arithmetic::Lanes lanes(b, simt::Machine(), 0);
  const bool maximum = ptx.has(Modifier::max), propagates = ptx.has(Modifier::NaN);
  const float infinity = std::numeric_limits<float>::infinity();
  V neutral = lanes.real32(maximum ? -infinity : infinity);
  if (!propagates) neutral = lanes.nan_like(neutral);
  const auto combined = [&](V x, V y) {
    V real = lanes.as_real(y);
    if (ptx.has(Modifier::abs)) real = lanes.fabs(real);
    V best = simt::arithmetic::real_min_max(lanes, maximum, propagates, lanes.as_real(x), real);
    return lanes.bits(lanes.canonical_nan(best));
  };
  reduce(inst, active, lanes.bits(neutral), combined);
}

void Warp::lower_redux(const simt::Inst& inst, V active) {
  const auto& ptx = *inst.ptx;
  if (ptx::is_float(ptx.type())) return lower_real_redux(inst, active);
  reduce(inst, active, s.u32(neutral_of(ptx)), [&](V x, V y) { return combine(b, ptx, x, y); });
}

void Warp::reduce(const simt::Inst& inst, V active, V neutral,
                  const std::function<V(V, V)>& combined) {
  const auto& ptx = *inst.ptx;
  const auto content = s.new_variable(b.getInt32Ty()), mask = s.new_variable(b.getInt32Ty());
  s.store(mask, s.u32(0));
  under(active, [&] {
    s.store(content, b.CreateBitCast(s.operand(inst, ptx.operands[1], ptx.type()), b.getInt32Ty()));
    s.store(mask, members(inst, 2));
  });
  V here = participants(active);
  exchange(active, s.load(content), [&] {
    const auto result = s.new_variable(b.getInt32Ty());
    s.store(result, neutral);
    V group = b.CreateAnd(here, s.load(mask));
    s.repeat(32, [&](V lane) {
      V bit = b.CreateAnd(b.CreateLShr(group, lane), s.u32(1));
      s.if_then(b.CreateICmpNE(bit, s.u32(0)),
                [&] { s.store(result, combined(s.load(result), of_lane(lane))); });
    });
    under(active, [&] { s.define_result(inst, inst.writes[0].first, s.load(result), ptx.type()); });
  });
}

void Warp::lower_elect(const simt::Inst& inst, V active) {
  V here = participants(active);
  under(active, [&] {
    V group = b.CreateAnd(here, members(inst, 1));
    V leader = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, group, b.getFalse());
    define_pair(inst, leader, b.CreateICmpEQ(s.lane(), leader));
  });
}

}  // namespace km::spirv
