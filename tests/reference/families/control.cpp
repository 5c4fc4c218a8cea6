// Branches, calls and exits.
#include <cstring>

#include "reference/block.h"

namespace km::reference {

using ptx::Operand;
using ptx::Symbol;
using Kind = ptx::Operand::Kind;

namespace {

constexpr uint64_t kFrameAlign = 16, kLocalLimit = uint64_t{1} << 22;

bool is_param_variable(const Frame& frame, const Operand& operand) {
  if (operand.kind != Kind::symbol || !operand.local_symbol) return false;
  return frame.code->function->symbols[operand.symbol].space == ptx::Space::param;
}

}  // namespace

void Block::branch(Thread& thread, ptx::LabelId label) {
  Frame& frame = thread.frame();
  frame.pc = frame.code->function->labels[label].instruction;
  thread.jumped = true;
}

void Block::branch_indexed(Thread& thread, const Step& step) {
  const Instruction& in = *step.in;
  const auto& lists = thread.frame().code->function->target_lists;
  const auto& labels = lists[in.operands[1].label].labels;
  const auto index = static_cast<uint64_t>(read(thread, in.operands[0], Type::u32));
  if (index >= labels.size()) return fail(thread, "an index beyond the targets");
  branch(thread, labels[index]);
}

/// A new frame above the current one.
void Block::enter(Thread& thread, const Code& code, const Instruction* call) {
  Frame frame;
  frame.code = &code;
  frame.call = call;
  if (!thread.frames.empty()) {
    const Frame& top = thread.frames.back();
    frame.base = (top.base + top.code->frame_bytes + kFrameAlign - 1) / kFrameAlign * kFrameAlign;
  }
  frame.registers.resize(code.function->registers.size());
  const uint64_t end = frame.base + code.frame_bytes;
  if (end > kLocalLimit) return fail(thread, "the stack overflows");
  if (thread.local.size() < end) thread.local.resize(end);
  thread.frames.push_back(std::move(frame));
  thread.jumped = true;
}

uint8_t* Block::frame_bytes(Thread& thread, const Frame& frame, ptx::SymbolId symbol) {
  return thread.local.data() + frame.base + frame.code->places[symbol].address;
}

void Block::call(Thread& thread, const Step& step) {
  const Instruction& in = *step.in;
  const Operand& target = in.operands[1];
  const Code* code = nullptr;
  if (target.kind == Kind::symbol) {
    code = grid_.program.callee(grid_.program.module().symbols[target.symbol]);
  } else {
    code = grid_.program.callee_at(static_cast<uint64_t>(read(thread, target, Type::u64)));
  }
  if (code == nullptr) return fail(thread, "a function without a body");
  const std::vector<Bytes> arguments = argument_bytes(thread, in, *code->function);
  const size_t depth = thread.frames.size();
  ++thread.frame().pc;
  enter(thread, *code, &in);
  if (thread.frames.size() == depth) return;  // the stack overflowed
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ptx::SymbolId id = code->function->params[i];
    const Symbol& param = code->function->symbols[id];
    if (param.reg != ptx::kNone) {
      std::memcpy(&thread.frame().registers[param.reg], arguments[i].data(), sizeof(Bits));
    } else {
      std::memcpy(frame_bytes(thread, thread.frame(), id), arguments[i].data(), param.size_bytes);
    }
  }
}

/// What the caller passes, from its variables and registers.
std::vector<Block::Bytes> Block::argument_bytes(Thread& thread, const Instruction& call,
                                                const ptx::Function& callee) {
  const Operand& list = call.operands[2];
  std::vector<Bytes> arguments;
  for (uint32_t i = 0; i < list.count && i < callee.params.size(); ++i) {
    const Symbol& param = callee.symbols[callee.params[i]];
    const Operand& argument = element(thread, list, i);
    Bytes bytes(std::max<uint64_t>(param.size_bytes, sizeof(Bits)));
    if (is_param_variable(thread.frame(), argument)) {
      std::memcpy(bytes.data(), frame_bytes(thread, thread.frame(), argument.symbol),
                  param.size_bytes);
    } else {
      const Bits value = read(thread, argument, param.type);
      std::memcpy(bytes.data(), &value, sizeof value);
    }
    arguments.push_back(std::move(bytes));
  }
  return arguments;
}

/// Returns to the caller with the results; the outermost function ends the thread.
void Block::leave(Thread& thread) {
  thread.jumped = true;
  if (thread.frames.size() == 1) return exit(thread);
  const Frame callee = std::move(thread.frames.back());
  thread.frames.pop_back();
  const ptx::Function& function = *callee.code->function;
  const Operand& list = callee.call->operands[0];
  for (uint32_t i = 0; i < list.count && i < function.returns.size(); ++i) {
    const Symbol& result = function.symbols[function.returns[i]];
    const Operand& target = element(thread, list, i);
    Bits value = 0;
    if (result.reg != ptx::kNone) {
      value = callee.registers[result.reg];
    } else if (target.kind == Kind::symbol) {
      std::memcpy(frame_bytes(thread, thread.frame(), target.symbol),
                  frame_bytes(thread, callee, function.returns[i]), result.size_bytes);
      continue;
    } else {
      std::memcpy(&value, frame_bytes(thread, callee, function.returns[i]),
                  std::min<uint64_t>(result.size_bytes, sizeof value));
    }
    if (target.kind == Kind::symbol) {
      std::memcpy(frame_bytes(thread, thread.frame(), target.symbol), &value,
                  std::min<uint64_t>(result.size_bytes, sizeof value));
    } else {
      write(thread, target, result.type, value);
    }
  }
}

void Block::exit(Thread& thread) {
  thread.state = State::exited;
  thread.jumped = true;
  --live_;
  for (uint32_t id = 0; id < barriers_.size(); ++id) try_complete(id);
  const uint32_t first = thread.number / kWarpLanes * kWarpLanes;
  for (uint32_t i = first; i < first + kWarpLanes && i < threads_.size(); ++i) {
    if (threads_[i].state == State::at_warp_operation) try_warp_operation(threads_[i]);
  }
}

}  // namespace km::reference
