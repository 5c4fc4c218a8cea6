// Warp operations. One with a mask of members happens when all of them that have not exited have
// come to the same operation with the same mask, at whatever PC; one without when nobody in the
// warp can go on otherwise, for those at the same PC.
#include <algorithm>

#include "reference/block.h"
#include "reference/values.h"

namespace km::reference {

using ptx::Operand;
using Group = std::vector<Thread*>;

namespace {

bool same_operation(const Instruction& a, const Instruction& b) {
  return a.opcode == b.opcode && a.types == b.types && a.modifiers == b.modifiers;
}

uint32_t mask_of(const Group& group) {
  uint32_t mask = 0;
  for (const Thread* thread : group) mask |= 1u << thread->lane();
  return mask;
}

}  // namespace

void Block::join(Thread& thread, const Step& step) {
  const Instruction& in = *step.in;
  thread.waiting = &step;
  thread.members = 0;
  if (in.has(Modifier::sync)) {
    const Operand& members = in.operands[in.operand_count - 1u];
    thread.members = static_cast<uint32_t>(read(thread, members, Type::b32));
    if ((thread.members >> thread.lane() & 1) == 0) {
      return fail(thread, "a thread that is not among the members");
    }
  }
  thread.state = State::at_warp_operation;
  try_warp_operation(thread);
  if (thread.state == State::ready) thread.jumped = true;
}

void Block::try_warp_operation(Thread& thread) {
  if (thread.members == 0) return;
  const uint32_t first = thread.number - thread.lane();
  Group group;
  for (uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    if ((thread.members >> lane & 1) == 0 || first + lane >= threads_.size()) continue;
    Thread& other = threads_[first + lane];
    if (other.state == State::exited) continue;
    if (other.state != State::at_warp_operation || other.members != thread.members) return;
    if (!same_operation(*other.waiting->in, *thread.waiting->in)) return;
    group.push_back(&other);
  }
  finish_warp_operation(group);
}

/// Operations without a mask, when no thread can run. False where there are none.
bool Block::resolve_stragglers() {
  bool any = false;
  for (size_t first = 0; first < threads_.size(); first += kWarpLanes) {
    const size_t end = std::min(first + kWarpLanes, threads_.size());
    for (size_t i = first; i < end; ++i) {
      Thread& leader = threads_[i];
      if (leader.state != State::at_warp_operation || leader.members != 0) continue;
      Group group;
      for (size_t k = i; k < end; ++k) {
        Thread& other = threads_[k];
        const bool waits = other.state == State::at_warp_operation && other.members == 0;
        if (waits && other.waiting == leader.waiting) group.push_back(&other);
      }
      finish_warp_operation(group);
      any = true;
    }
  }
  return any;
}

void Block::finish_warp_operation(const Group& group) {
  switch (group[0]->waiting->in->opcode) {
    case Opcode::shfl:
      shuffle(group);
      break;
    case Opcode::vote:
      vote(group);
      break;
    case Opcode::match:
      match(group);
      break;
    case Opcode::redux:
      reduce(group);
      break;
    case Opcode::elect:
      elect(group);
      break;
    case Opcode::activemask:
      for (Thread* thread : group) {
        write(*thread, thread->waiting->in->operands[0], Type::b32, mask_of(group));
      }
      break;
    default:
      break;  // bar.warp.sync
  }
  for (Thread* thread : group) {
    thread->state = State::ready;
    thread->waiting = nullptr;
    ++thread->frame().pc;
  }
}

namespace {

/// The lane that a shuffle reads, and whether it lies in the segment.
struct ShuffleSource {
  int lane = 0;
  bool in_range = false;
};

ShuffleSource shuffle_source(const Instruction& in, int lane, uint32_t b, uint32_t c) {
  const int value = static_cast<int>(b & 31), clamp = static_cast<int>(c & 31);
  const int segment = static_cast<int>(c >> 8 & 31);
  const int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
  ShuffleSource source;
  if (in.has(Modifier::up)) {
    source.lane = lane - value;
    source.in_range = source.lane >= most;
  } else {
    source.lane = least | (value & ~segment);
    if (in.has(Modifier::down)) source.lane = lane + value;
    if (in.has(Modifier::bfly)) source.lane = lane ^ value;
    source.in_range = source.lane <= most;
  }
  if (!source.in_range) source.lane = lane;
  return source;
}

}  // namespace

/// From a lane that takes no part any value may come; here it is the own one.
void Block::shuffle(const Group& group) {
  std::array<Bits, kWarpLanes> sources{};
  const uint32_t here = mask_of(group);
  for (Thread* thread : group) {
    sources[thread->lane()] = read(*thread, thread->waiting->in->operands[1], Type::b32);
  }
  for (Thread* thread : group) {
    const Instruction& in = *thread->waiting->in;
    const auto b = static_cast<uint32_t>(read(*thread, in.operands[2], Type::u32));
    const auto c = static_cast<uint32_t>(read(*thread, in.operands[3], Type::u32));
    const auto [lane, in_range] = shuffle_source(in, static_cast<int>(thread->lane()), b, c);
    const unsigned from = (here >> lane & 1) != 0 ? static_cast<unsigned>(lane) : thread->lane();
    write_pair(*thread, in.operands[0], Type::b32, sources[from], in_range);
  }
}

void Block::vote(const Group& group) {
  uint32_t votes = 0;
  for (Thread* thread : group) {
    const bool yes = read(*thread, thread->waiting->in->operands[1], Type::pred) != 0;
    if (yes) votes |= 1u << thread->lane();
  }
  const uint32_t here = mask_of(group);
  for (Thread* thread : group) {
    const Instruction& in = *thread->waiting->in;
    Bits result = votes;
    if (in.has(Modifier::all)) result = votes == here ? 1 : 0;
    if (in.has(Modifier::any)) result = votes != 0 ? 1 : 0;
    if (in.has(Modifier::uni)) result = votes == 0 || votes == here ? 1 : 0;
    write(*thread, in.operands[0], in.has(Modifier::ballot) ? Type::b32 : Type::pred, result);
  }
}

void Block::match(const Group& group) {
  std::array<Bits, kWarpLanes> values{};
  for (Thread* thread : group) {
    const Step& step = *thread->waiting;
    values[thread->lane()] = read(*thread, step.in->operands[1], step.types[1]);
  }
  for (Thread* thread : group) {
    const Instruction& in = *thread->waiting->in;
    uint32_t equal = 0;
    for (const Thread* other : group) {
      if (values[other->lane()] == values[thread->lane()]) equal |= 1u << other->lane();
    }
    const bool all = equal == mask_of(group);
    if (in.has(Modifier::all) && !all) equal = 0;
    write_pair(*thread, in.operands[0], Type::b32, equal, all);
  }
}

namespace {

/// The lesser or greater of two numbers; of a NaN and a number the NaN only with .NaN.
Bits reduced_real(const Instruction& in, uint64_t a, uint64_t b) {
  const bool any_nan = is_nan(kF32, a) || is_nan(kF32, b);
  if (any_nan && in.has(Modifier::NaN)) return kF32.canonical_nan;
  return min_max(kF32, a, b, in.has(Modifier::max));
}

Bits reduced(const Instruction& in, Bits a, Bits b) {
  if (in.type() == Type::f32) {
    return reduced_real(in, static_cast<uint64_t>(a), static_cast<uint64_t>(b));
  }
  if (in.has(Modifier::add)) return a + b;
  if (in.has(Modifier::and_)) return a & b;
  if (in.has(Modifier::or_)) return a | b;
  if (in.has(Modifier::xor_)) return a ^ b;
  const auto x = static_cast<uint32_t>(a), y = static_cast<uint32_t>(b);
  const bool less =
      ptx::is_signed(in.type()) ? static_cast<int32_t>(x) < static_cast<int32_t>(y) : x < y;
  return less == in.has(Modifier::min) ? a : b;
}

}  // namespace

void Block::reduce(const Group& group) {
  const Instruction& in = *group[0]->waiting->in;
  const auto value = [&](Thread* thread) {
    const Bits bits = read(*thread, thread->waiting->in->operands[1], Type::b32);
    if (in.type() != Type::f32) return bits;
    if (is_nan(kF32, static_cast<uint64_t>(bits))) return Bits{kF32.canonical_nan};
    return in.has(Modifier::abs) ? truncate(bits, 31) : bits;
  };
  Bits result = value(group[0]);
  for (size_t i = 1; i < group.size(); ++i) {
    result = reduced(in, result, value(group[i]));
  }
  for (Thread* thread : group) {
    write(*thread, thread->waiting->in->operands[0], Type::b32, result);
  }
}

/// The lowest member.
void Block::elect(const Group& group) {
  for (Thread* thread : group) {
    write_pair(*thread, thread->waiting->in->operands[0], Type::b32, group[0]->lane(),
               thread == group[0]);
  }
}

}  // namespace km::reference
