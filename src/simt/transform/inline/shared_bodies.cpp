// Inliner: shared bodies. A call stores its return site's number in the body's register and jumps;
// the body's end jumps back by a table of return sites. Before a call that may recurse into the
// caller's own body, the live values are saved on the thread's stack.
#include <algorithm>

#include "base/integers.h"
#include "simt/kernel/kernel.h"
#include "simt/transform/inline/dynamic_stack.h"
#include "simt/transform/inline/inliner.h"
#include "simt/transform/make_instruction.h"

namespace km::simt {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::SymbolId;
using ptx::Type;

namespace {

constexpr uint64_t kStackAlignBytes = 16;
// The first fields of the record that a call saves.
constexpr uint64_t kPreviousPlace = 0;  // record of the enclosing call
constexpr uint64_t kStackPlace = 8;     // stack pointer before the call
constexpr uint64_t kFirstPlace = 16;

Operand local_address(ptx::RegisterId base, uint64_t offset_bytes) {
  Operand operand = register_operand(base);
  operand.kind = Operand::Kind::address;
  operand.offset = static_cast<int64_t>(offset_bytes);
  return operand;
}

}  // namespace

Result<SharedBody*> Inliner::shared_body(uint32_t function) {
  auto [entry, is_new] = bodies_.try_emplace(function);
  SharedBody& body = entry->second;
  if (!is_new) return &body;
  ++copies_;
  Frame& frame = body.frame;
  frame.source = &module_.functions[function];
  frame.function = function;
  frame.is_call = true;
  enter(frame);
  bind_variables(frame);
  for (SymbolId id : frame.source->params) {
    const ptx::Symbol& param = frame.source->symbols[id];
    if (param.space != Space::reg) frame.symbols[id] = add_param(param);
  }
  body.entry = add_label(frame.source->name);
  frame.end = add_label(frame.source->name + "$end");
  body.site = add_register(Type::u32);
  body.sites = static_cast<uint32_t>(out_.target_lists.size());
  ptx::TargetList sites;
  sites.name = frame.source->name + "$sites$" + std::to_string(body.sites);
  out_.target_lists.push_back(std::move(sites));
  if (graph_.is_recursive(function)) {
    auto live = live_across_calls(*frame.source);
    if (!live) {
      return make_error(KM_ERROR_UNSUPPORTED_PTX,
                        "%s:%u: recursive function '%s' has too many registers and labels to be "
                        "called by the cpu backend",
                        module_.name.c_str(), frame.source->location.line,
                        frame.source->name.c_str());
    }
    body.live = std::move(*live);
    number_calls(body);
    lay_out_locals(frame);
  }
  pending_.push_back(function);
  return &body;
}

void Inliner::number_calls(SharedBody& body) {
  uint32_t calls = 0;
  for (const Instruction& instruction : body.frame.source->code) {
    body.call_number.push_back(calls);
    if (instruction.opcode == ptx::Opcode::call) ++calls;
  }
}

void Inliner::lay_out_locals(Frame& frame) {
  const auto& symbols = frame.source->symbols;
  for (SymbolId id = 0; id < symbols.size(); ++id) {
    if (symbols[id].space != Space::local) continue;
    const uint64_t align = std::clamp<uint64_t>(symbols[id].align_bytes, 1, kStackAlignBytes);
    frame.local_offsets[id] = round_up(frame.locals_bytes, align);
    frame.locals_bytes = frame.local_offsets[id] + symbols[id].size_bytes;
  }
  if (frame.locals_bytes != 0) frame.locals = add_register(Type::u64);
}

Status Inliner::emit_shared_bodies() {
  if (pending_.empty()) return {};
  emit("ret", {}, Instruction{});
  for (size_t i = 0; i < pending_.size(); ++i) {
    KM_TRY(emit_shared_body(bodies_.at(pending_[i])));
  }
  return {};
}

Status Inliner::emit_shared_body(SharedBody& body) {
  Frame& frame = body.frame;
  Instruction like;
  like.location = frame.source->location;
  place(body.entry);
  if (frame.locals != kNone) {
    emit("alloca.u64",
         {register_operand(frame.locals), immediate_operand(frame.locals_bytes),
          immediate_operand(kStackAlignBytes)},
         like);
  }
  KM_TRY(copy_body(frame));
  place(frame.end);
  Operand sites;
  sites.kind = Operand::Kind::target_list;
  sites.label = body.sites;
  emit("brx.idx", {register_operand(body.site), sites}, like);
  return {};
}

Status Inliner::jump_to_body(const Call& call, uint32_t function) {
  const Instruction& like = call.copy;
  const ptx::Function& callee = module_.functions[function];
  KM_TRY(check_signature(call, callee));
  KM_ASSIGN(SharedBody* const found, shared_body(function));
  SharedBody& body = *found;
  KM_ASSIGN(const auto arguments, read_arguments(call, callee));
  const bool comes_back = call.caller.is_call && graph_.comes_back(call.caller.function, function);
  std::vector<Kept> kept;
  Operand stack;
  if (comes_back) {
    kept = put_aside(call);
  } else if (graph_.reaches_recursion(kernel_) || allocates_stack(callee)) {
    stack = register_operand(add_register(Type::u64));
    emit("stacksave.u64", {stack}, like);
  }
  write_params(call, arguments, body.frame);
  auto& sites = out_.target_lists[body.sites].labels;
  emit("mov.u32", {register_operand(body.site), immediate_operand(sites.size())}, like);
  emit("bra", {label_operand(body.entry)}, like);
  const ptx::LabelId back = add_label("$back");
  sites.push_back(back);
  place(back);
  take_results(call, body.frame);
  if (comes_back) {
    take_back(like, kept);
  } else if (stack.kind == Operand::Kind::reg) {
    emit("stackrestore.u64", {stack}, like);
  }
  return check_size(like);
}

/// Copies arguments to separate registers, because the callee's parameters may be the caller's.
Result<std::vector<std::vector<Inliner::Piece>>> Inliner::read_arguments(
    const Call& call, const ptx::Function& callee) {
  std::vector<std::vector<Piece>> result;
  const Operand& list = call.copy.operands[2];
  for (uint32_t i = 0; i < list.count; ++i) {
    const Operand argument = out_.operand_pool[list.first + i];
    KM_ASSIGN(auto pieces, read_argument(call, argument, callee.symbols[callee.params[i]]));
    for (Piece& piece : pieces) {
      if (argument.kind != Operand::Kind::reg) continue;
      const Operand copy = register_operand(add_register(out_.registers[argument.reg].type));
      move_register(call.copy, copy, piece.value);
      piece.value = copy;
    }
    result.push_back(std::move(pieces));
  }
  return result;
}

void Inliner::write_params(const Call& call, const std::vector<std::vector<Piece>>& arguments,
                           const Frame& callee) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const SymbolId id = callee.source->params[i];
    const ptx::Symbol& param = callee.source->symbols[id];
    const bool in_register = param.space == Space::reg;
    write_param(call, arguments[i], callee, in_register ? kNone : callee.symbols[id], param.reg);
  }
}

std::vector<Inliner::Kept> Inliner::values_to_keep(const Call& call) const {
  const SharedBody& body = bodies_.at(call.caller.function);
  const auto index = static_cast<size_t>(&call.source - body.frame.source->code.data());
  const LiveValues& live = body.live[body.call_number[index]];
  std::vector<Kept> kept;
  auto add_register_value = [&](ptx::RegisterId reg) {
    const Type type = out_.registers[reg].type;
    const uint64_t size = type == Type::pred ? 4 : ptx::size_bytes(type);
    kept.push_back({reg, kNone, 0, size, 0});
  };
  add_register_value(body.site);
  if (body.frame.locals != kNone) add_register_value(body.frame.locals);
  for (ptx::RegisterId reg : live.registers) add_register_value(reg + body.frame.first_register);
  for (SymbolId id : live.variables) {
    const SymbolId variable = body.frame.symbols[id];
    for (const Piece& piece : pieces_of(variable)) {
      kept.push_back({kNone, variable, piece.offset_bytes, piece.size_bytes, 0});
    }
  }
  return kept;
}

std::vector<Inliner::Kept> Inliner::put_aside(const Call& call) {
  std::vector<Kept> kept = values_to_keep(call);
  uint64_t bytes = kFirstPlace;
  for (Kept& value : kept) {
    value.place_bytes = round_up(bytes, value.size_bytes);
    bytes = value.place_bytes + value.size_bytes;
  }
  const Operand top = register_operand(add_register(Type::u64));
  const Operand fresh = register_operand(add_register(Type::u64));
  if (kept_ == kNone) kept_ = add_register(Type::u64);
  emit("stacksave.u64", {top}, call.copy);
  emit("alloca.u64",
       {fresh, immediate_operand(round_up(bytes, kStackAlignBytes)),
        immediate_operand(kStackAlignBytes)},
       call.copy);
  emit("st.local.u64", {local_address(fresh.reg, kPreviousPlace), register_operand(kept_)},
       call.copy);
  emit("st.local.u64", {local_address(fresh.reg, kStackPlace), top}, call.copy);
  emit("mov.u64", {register_operand(kept_), fresh}, call.copy);
  for (const Kept& value : kept) keep(call.copy, value);
  return kept;
}

void Inliner::take_back(const Instruction& like, const std::vector<Kept>& kept) {
  for (const Kept& value : kept) restore(like, value);
  const Operand top = register_operand(add_register(Type::u64));
  emit("ld.local.u64", {top, local_address(kept_, kStackPlace)}, like);
  emit("ld.local.u64", {register_operand(kept_), local_address(kept_, kPreviousPlace)}, like);
  emit("stackrestore.u64", {top}, like);
}

/// Splits a 128-bit register into two.
Operand Inliner::halves() {
  Operand pair;
  pair.kind = Operand::Kind::vector;
  pair.first = static_cast<uint32_t>(out_.operand_pool.size());
  pair.count = 2;
  for (int i = 0; i < 2; ++i)
    out_.operand_pool.push_back(register_operand(add_register(Type::b64)));
  return pair;
}

void Inliner::keep(const Instruction& like, const Kept& kept) {
  Operand value = register_operand(kept.reg);
  const Operand to = local_address(kept_, kept.place_bytes);
  if (kept.reg == kNone) {
    value = register_operand(add_register(bits_type(kept.size_bytes)));
    load(like, value, kept.variable, kept.offset_bytes, kept.size_bytes);
  } else if (out_.registers[kept.reg].type == Type::pred) {
    const Operand flag = register_operand(add_register(Type::u32));
    emit("selp.u32", {flag, immediate_operand(1), immediate_operand(0), value}, like);
    value = flag;
  } else if (kept.size_bytes == 16) {
    const Operand pair = halves();
    emit("mov.b128", {pair, value}, like);
    emit("st.local.v2.b64", {to, pair}, like);
    return;
  }
  emit("st.local." + std::string(bits_type_text(kept.size_bytes)), {to, value}, like);
}

void Inliner::restore(const Instruction& like, const Kept& kept) {
  const Operand from = local_address(kept_, kept.place_bytes);
  const std::string load_type = "ld.local." + std::string(bits_type_text(kept.size_bytes));
  const Operand reg = register_operand(kept.reg);
  if (kept.reg == kNone) {
    const Operand value = register_operand(add_register(bits_type(kept.size_bytes)));
    emit(load_type, {value, from}, like);
    store(like, kept.variable, kept.offset_bytes, value, kept.size_bytes);
  } else if (out_.registers[kept.reg].type == Type::pred) {
    const Operand flag = register_operand(add_register(Type::u32));
    emit(load_type, {flag, from}, like);
    emit("setp.ne.u32", {reg, flag, immediate_operand(0)}, like);
  } else if (kept.size_bytes == 16) {
    const Operand pair = halves();
    emit("ld.local.v2.b64", {pair, from}, like);
    emit("mov.b128", {reg, pair}, like);
  } else {
    emit(load_type, {reg, from}, like);
  }
}

}  // namespace km::simt
