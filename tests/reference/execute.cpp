// One instruction of one thread.
#include "ptx/forms.h"
#include "reference/block.h"
#include "reference/values.h"

namespace km::reference {

using ptx::Family;
using ptx::Operand;
using Kind = ptx::Operand::Kind;

namespace {

/// Instructions of a thread before the next one has its turn.
constexpr unsigned kQuantum = 512;

constexpr const char* kUnknown = "an instruction that the reference does not know";

}  // namespace

/// Runs until the thread waits, exits, faults or has used its turn.
bool Block::run_thread(Thread& thread) {
  for (unsigned i = 0; i < kQuantum && thread.state == State::ready; ++i) {
    if (++grid_.steps > grid_.launch.step_limit) {
      fail(thread, "the limit of steps is reached");
    } else {
      step(thread);
    }
    if (!fault_.empty()) break;
  }
  return true;
}

bool Block::passes_guard(Thread& thread, const Instruction& in) {
  if (in.guard == ptx::kNone) return true;
  return (thread.frame().registers[in.guard] != 0) != in.guard_negated;
}

void Block::step(Thread& thread) {
  Frame& frame = thread.frame();
  if (frame.pc >= frame.code->steps.size()) return leave(thread);
  const Step& step = frame.code->steps[frame.pc];
  if (!passes_guard(thread, *step.in)) {
    ++frame.pc;
    return;
  }
  thread.jumped = false;
  execute(thread, step);
  if (!thread.jumped && thread.state == State::ready && fault_.empty()) ++thread.frame().pc;
}

void Block::compute(Thread& thread, const Step& step) {
  const Instruction& in = *step.in;
  std::vector<Bits> sources;
  for (unsigned i = 1; i < in.operand_count; ++i) {
    const Operand& operand = in.operands[i];
    const bool is_vector = operand.kind == Kind::vector;
    for (uint32_t k = 0; k < (is_vector ? operand.count : 1); ++k) {
      const Operand& one = is_vector ? element(thread, operand, k) : operand;
      sources.push_back(read(thread, one, step.types[i]));
    }
  }
  const Outcome result = step.handler({in, sources, thread.carry});
  if (in.has(Modifier::cc)) thread.carry = result.carry;
  write_pair(thread, in.operands[0], step.types[0], result.d, result.p);
}

/// Copies; packs {a, b} into d; unpacks a into {d, e}.
void Block::move(Thread& thread, const Step& step) {
  const Instruction& in = *step.in;
  const Operand &to = in.operands[0], &from = in.operands[1];
  const unsigned bits = ptx::size_bits(in.type());
  Bits value = 0;
  if (from.kind == Kind::vector) {
    const unsigned part = bits / from.count;
    for (uint32_t i = 0; i < from.count; ++i) {
      value |= read(thread, element(thread, from, i), step.types[1]) << (i * part);
    }
  } else {
    value = read(thread, from, step.types[1]);
  }
  if (to.kind != Kind::vector) return write(thread, to, step.types[0], value);
  const unsigned part = bits / to.count;
  for (uint32_t i = 0; i < to.count; ++i) {
    write(thread, element(thread, to, i), step.types[0], value >> (i * part));
  }
}

void Block::execute(Thread& thread, const Step& step) {
  if (step.handler) return compute(thread, step);
  switch (ptx::family_of(*step.in)) {
    case Family::move:
      return move(thread, step);
    case Family::load:
      return load(thread, step);
    case Family::store:
      return store(thread, step);
    case Family::atomic:
      return atomic(thread, step);
    case Family::address:
      if (step.in->opcode == Opcode::cvta) return convert_address(thread, step);
      if (step.in->opcode == Opcode::isspacep) return test_space(thread, step);
      return fail(thread, kUnknown);
    case Family::async_copy:
      return copy_async(thread, step);
    case Family::control:
      return transfer(thread, step);
    case Family::call:
      return call(thread, step);
    case Family::barrier:
      return step.in->has(Modifier::warp) ? join(thread, step) : arrive(thread, step);
    case Family::warp:
      return join(thread, step);
    case Family::fence:
      return;
    case Family::hint:
      if (step.in->opcode == Opcode::brkpt) return fail(thread, kUnknown);
      return;
    default:
      return fail(thread, kUnknown);
  }
}

void Block::transfer(Thread& thread, const Step& step) {
  switch (step.in->opcode) {
    case Opcode::bra:
      return branch(thread, step.in->operands[0].label);
    case Opcode::brx:
      return branch_indexed(thread, step);
    case Opcode::ret:
      return leave(thread);
    case Opcode::exit:
      return exit(thread);
    default:
      return fail(thread, "trap");
  }
}

}  // namespace km::reference
