// bar and barrier. A partial warp arrives with all its 32 lanes.
#include "reference/block.h"

namespace km::reference {

using ptx::Operand;

namespace {

/// Operands: the destination of .red, the number, perhaps the count, the predicate of .red.
struct Operands {
  unsigned number = 0, count = 0, predicate = 0;  // count 0: none
};

Operands operands_of(const Instruction& in) {
  const bool reduces = in.has(Modifier::red);
  Operands result;
  result.number = reduces ? 1 : 0;
  result.predicate = in.operand_count - 1u;
  const unsigned end = in.operand_count - (reduces ? 1u : 0u);
  if (end > result.number + 1) result.count = result.number + 1;
  return result;
}

}  // namespace

void Block::arrive(Thread& thread, const Step& step) {
  const Instruction& in = *step.in;
  if (in.has(Modifier::cluster)) {
    return fail(thread, "an instruction that the reference does not know");
  }
  const Operands operands = operands_of(in);
  const auto id = static_cast<uint32_t>(read(thread, in.operands[operands.number], Type::u32));
  if (id >= barriers_.size()) return fail(thread, "a barrier beyond 15");
  Barrier& barrier = barriers_[id];
  if (operands.count) {
    barrier.expected = static_cast<uint32_t>(read(thread, in.operands[operands.count], Type::u32));
  }
  ++barrier.arrived;
  const bool last = thread.number + 1 == threads_.size();
  if (last && operands.count) barrier.arrived += kWarpLanes - 1 - thread.lane();
  if (in.has(Modifier::red)) {
    ++barrier.reducing;
    barrier.predicates += read(thread, in.operands[operands.predicate], Type::pred) != 0 ? 1 : 0;
  }
  if (!in.has(Modifier::arrive)) {
    thread.state = State::at_barrier;
    thread.waiting = &step;
    thread.barrier = id;
  }
  try_complete(id);
  // A thread that waited on and goes on has been moved already.
  if (thread.state == State::ready && !in.has(Modifier::arrive)) thread.jumped = true;
}

void Block::try_complete(uint32_t id) {
  Barrier& barrier = barriers_[id];
  if (barrier.arrived == 0) return;
  const uint32_t needed = barrier.expected ? barrier.expected : live_;
  if (barrier.arrived < needed) return;
  const Barrier done = barrier;
  barrier = {};
  for (Thread& thread : threads_) {
    if (thread.state != State::at_barrier || thread.barrier != id) continue;
    const Instruction& in = *thread.waiting->in;
    if (in.has(Modifier::red)) {
      Bits result = done.predicates;
      if (in.has(Modifier::and_)) result = done.predicates == done.reducing ? 1 : 0;
      if (in.has(Modifier::or_)) result = done.predicates != 0 ? 1 : 0;
      write(thread, in.operands[0], thread.waiting->types[0], result);
    }
    thread.state = State::ready;
    thread.waiting = nullptr;
    ++thread.frame().pc;
  }
}

}  // namespace km::reference
