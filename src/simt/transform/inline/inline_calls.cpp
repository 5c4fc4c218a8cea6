#include "simt/transform/inline/inline_calls.h"

#include <algorithm>
#include <utility>

#include "ptx/checks/program_check.h"
#include "simt/abi.h"
#include "simt/kernel/kernel.h"
#include "simt/transform/inline/dynamic_stack.h"
#include "simt/transform/inline/inliner.h"
#include "simt/transform/make_instruction.h"

namespace km::simt {

using ptx::Function;
using ptx::Instruction;
using ptx::LabelId;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::RegisterId;
using ptx::Space;
using ptx::Symbol;
using ptx::SymbolId;

namespace {

constexpr size_t kMostRegisters = 1'000'000;

}  // namespace

Error Inliner::error(const Instruction& at, const std::string& what) const {
  return make_error(KM_ERROR_UNSUPPORTED_PTX, "%s: %s", describe(module_, at).c_str(),
                    what.c_str());
}

Result<Function> Inliner::run() {
  out_ = function_;
  out_.code.clear();
  out_.operand_pool.clear();
  out_.registers.clear();
  out_.labels.clear();
  out_.target_lists.clear();
  out_.source_lines.clear();
  out_.prototypes.clear();  // prototypes of indirect calls
  Frame frame;
  frame.source = &function_;
  frame.function = kernel_;
  for (SymbolId id = 0; id < function_.symbols.size(); ++id) frame.symbols.push_back(id);
  is_own_param_.assign(function_.symbols.size(), 0);
  for (SymbolId id : function_.params) is_own_param_[id] = 1;
  enter(frame);
  KM_TRY(copy_body(frame));
  KM_TRY(emit_shared_bodies());
  return std::move(out_);
}

std::string Inliner::unique(const std::string& name) const {
  return copies_ == 0 ? name : name + "$in" + std::to_string(copies_);
}

/// Allocates the body's registers, labels, lists and source lines in the copy.
void Inliner::enter(Frame& frame) {
  const Function& source = *frame.source;
  frame.first_register = static_cast<RegisterId>(out_.registers.size());
  for (const ptx::Register& reg : source.registers) {
    out_.registers.push_back({unique(reg.name), reg.type});
  }
  frame.first_label = static_cast<LabelId>(out_.labels.size());
  for (const ptx::Label& label : source.labels) out_.labels.push_back({unique(label.name), 0});
  frame.first_target_list = static_cast<uint32_t>(out_.target_lists.size());
  for (ptx::TargetList list : source.target_lists) {
    list.name = unique(list.name);
    for (LabelId& label : list.labels) label += frame.first_label;
    out_.target_lists.push_back(std::move(list));
  }
  frame.first_source_line = static_cast<uint32_t>(out_.source_lines.size());
  out_.source_lines.insert(out_.source_lines.end(), source.source_lines.begin(),
                           source.source_lines.end());
}

Status Inliner::copy_body(Frame& frame) {
  const Function& source = *frame.source;
  std::vector<LabelId> order(source.labels.size());
  for (LabelId id = 0; id < order.size(); ++id) order[id] = id;
  std::sort(order.begin(), order.end(), [&](LabelId a, LabelId b) {
    return source.labels[a].instruction < source.labels[b].instruction;
  });
  auto next = order.begin();
  const auto count = static_cast<uint32_t>(source.code.size());
  for (uint32_t i = 0; i <= count; ++i) {
    for (; next != order.end() && source.labels[*next].instruction == i; ++next) {
      place(frame.first_label + *next);
    }
    if (i < count) KM_TRY(copy_instruction(frame, source.code[i], i + 1 == count));
  }
  return {};
}

Status Inliner::copy_instruction(Frame& frame, const Instruction& source, bool is_last) {
  if (source.opcode == Opcode::call) return expand_call(frame, source);
  if (source.opcode == Opcode::ret && frame.is_call) {
    // The end follows directly, so no jump is emitted; an unnecessary label would split the block.
    if (is_last) return {};
    if (frame.end == kNone) frame.end = add_label(frame.source->name + "$end");
    const Instruction guarded = map(frame, source);
    emit(make_instruction("bra", {label_operand(frame.end)}, guarded));
    return check_size(source);
  }
  emit(map(frame, source));
  return check_size(source);
}

void Inliner::emit(const std::string& mnemonic, std::initializer_list<Operand> operands,
                   const Instruction& like) {
  emit(make_instruction(mnemonic, operands, like));
}

Status Inliner::check_size(const Instruction& at) {
  if (out_.code.size() <= kMostInstructions && out_.registers.size() <= kMostRegisters) return {};
  return error(at, "the kernel, with the functions that it calls, has more than " +
                       std::to_string(kMostInstructions) + " instructions or " +
                       std::to_string(kMostRegisters) + " registers");
}

Operand Inliner::map(const Frame& frame, const Operand& operand, const Instruction& at) {
  if (operand.local_symbol && frame.local_offsets.contains(operand.symbol)) {
    return map_local(frame, operand, at);
  }
  Operand result = operand;
  if (result.reg != kNone) result.reg += frame.first_register;
  if (result.local_symbol) {
    result.symbol = frame.symbols[operand.symbol];
  } else if (operand.kind == Operand::Kind::symbol && module_.symbols[operand.symbol].is_function) {
    const uint32_t function = module_.symbols[operand.symbol].function;
    return immediate_operand(function_address(resolve_alias(module_, function)));
  }
  if (operand.kind == Operand::Kind::label) result.label += frame.first_label;
  if (operand.kind == Operand::Kind::target_list) result.label += frame.first_target_list;
  result.first = 0;
  if (operand.count != 0) {
    std::vector<Operand> elements;
    for (uint32_t i = 0; i < operand.count; ++i) {
      elements.push_back(map(frame, frame.source->operand_pool[operand.first + i], at));
    }
    result.first = static_cast<uint32_t>(out_.operand_pool.size());
    out_.operand_pool.insert(out_.operand_pool.end(), elements.begin(), elements.end());
  }
  return result;
}

/// A variable of one activation has an address that is computed as a sum.
Operand Inliner::map_local(const Frame& frame, const Operand& operand, const Instruction& at) {
  const int64_t offset =
      operand.offset + static_cast<int64_t>(frame.local_offsets.at(operand.symbol));
  Operand result = register_operand(frame.locals);
  if (operand.kind == Operand::Kind::address) {
    result.kind = Operand::Kind::address;
    result.offset = offset;
    return result;
  }
  const Operand base = result;
  result = register_operand(add_register(ptx::Type::u64));
  Instruction sum = make_instruction(
      "add.u64", {result, base, immediate_operand(static_cast<uint64_t>(offset))}, at);
  sum.guard = kNone;
  sum.guard_negated = false;
  if (sum.source_line != kNone) sum.source_line += frame.first_source_line;
  emit(std::move(sum));
  return result;
}

Instruction Inliner::map(const Frame& frame, const Instruction& instruction) {
  Instruction result = instruction;
  if (result.guard != kNone) result.guard += frame.first_register;
  if (result.source_line != kNone) result.source_line += frame.first_source_line;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const Operand& operand = instruction.operands[i];
    const bool is_callee =
        instruction.opcode == Opcode::call && i == 1 && operand.kind == Operand::Kind::symbol;
    if (!is_callee) result.operands[i] = map(frame, operand, instruction);
  }
  map_space(frame, result);
  return result;
}

/// A .param address in a register points to a parameter or result of a function, and these are in
/// local memory once their address is taken. In the kernel itself it can also point to a parameter
/// of the kernel, which is only read.
void Inliner::map_space(const Frame& frame, Instruction& instruction) const {
  const bool by_register = std::none_of(
      instruction.operands.begin(), instruction.operands.begin() + instruction.operand_count,
      [](const Operand& operand) { return operand.symbol != kNone; });
  const bool is_local = by_register && (frame.is_call || instruction.opcode == Opcode::st);
  replace_modifier(instruction, Modifier::param_func,
                   by_register ? Modifier::local : Modifier::param);
  if (is_local) replace_modifier(instruction, Modifier::param, Modifier::local);
}

Status Inliner::expand_call(const Frame& frame, const Instruction& source) {
  Call call{frame, source, map(frame, source)};
  KM_TRY(check_lists(call));
  const bool is_direct = source.operands[1].kind == Operand::Kind::symbol;
  LabelId after = kNone;
  if (call.copy.guard != kNone) {
    after = add_label("$skipped");
    Instruction around = make_instruction("bra", {label_operand(after)}, call.copy);
    around.guard_negated = !around.guard_negated;
    emit(std::move(around));
    call.copy.guard = kNone;
    call.copy.guard_negated = false;
  }
  if (is_direct) {
    KM_TRY(expand_target(call, graph_.targets(frame.function, source).front()));
  } else {
    KM_TRY(expand_pointer(call));
  }
  if (after != kNone) place(after);
  return {};
}

Status Inliner::expand_target(const Call& call, uint32_t function) {
  const Function& callee = module_.functions[function];
  if (callee.is_declaration && ptx::is_runtime_function(callee.name))
    return expand_external(call, callee);
  if (callee.is_declaration) {
    return error(call.copy, "function '" + callee.name +
                                "' has no body here and is not one that the runtime offers "
                                "(vprintf, __assertfail, malloc, free)");
  }
  return plan_.is_shared(function) ? jump_to_body(call, function) : expand_body(call, function);
}

/// Compares the pointer with each function that it may hold, one after the other.
Status Inliner::expand_pointer(const Call& call) {
  const Operand pointer = call.copy.operands[1];
  const uint32_t size = ptx::size_bytes(out_.registers[pointer.reg].type);
  const std::string compare = "setp.ne." + std::string(bits_type_text(size));
  const LabelId after = add_label("$called");
  for (uint32_t function : graph_.targets(call.caller.function, call.source)) {
    const LabelId next = add_label("$next");
    const Operand differs = register_operand(add_register(ptx::Type::pred));
    emit(compare, {differs, pointer, immediate_operand(function_address(function))}, call.copy);
    Instruction skip = make_instruction("bra", {label_operand(next)}, call.copy);
    skip.guard = differs.reg;
    emit(std::move(skip));
    KM_TRY(expand_target(call, function));
    emit("bra", {label_operand(after)}, call.copy);
    place(next);
  }
  emit(make_trap(FaultKind::no_function, call.copy));
  place(after);
  return check_size(call.copy);
}

/// Replaces variables by registers around the call, so that only loads and stores refer to
/// variables.
Status Inliner::expand_external(const Call& call, const Function& callee) {
  const Instruction& copy = call.copy;
  std::vector<std::pair<SymbolId, Operand>> results;
  for (unsigned list : {0u, 2u}) {
    const auto& params = list == 0 ? callee.returns : callee.params;
    if (params.size() != copy.operands[list].count) {
      return error(copy, "'" + callee.name + "' is called with other arguments than declared");
    }
    for (uint32_t i = 0; i < copy.operands[list].count; ++i) {
      const Operand operand = out_.operand_pool[copy.operands[list].first + i];
      if (operand.kind != Operand::Kind::symbol) continue;
      const uint64_t size = callee.symbols[params[i]].size_bytes;
      const ptx::Type type = bits_type(size);
      if (type == ptx::Type::none) return error(copy, "an argument of this size");
      const Operand reg = register_operand(add_register(type));
      if (list == 2) load(copy, reg, operand.symbol, 0, size);
      if (list == 0) results.emplace_back(operand.symbol, reg);
      out_.operand_pool[copy.operands[list].first + i] = reg;
    }
  }
  Instruction emitted = copy;
  // The wrappers of CUDA's device runtime are not in the program's text, but their calls are.
  if (callee.name == ptx::kDeviceCallName && call.caller.site != nullptr) {
    emitted.location = call.caller.site->location;
    emitted.source_line = call.caller.site->source_line;
  }
  emit(std::move(emitted));
  for (const auto& [symbol, reg] : results) {
    store(copy, symbol, 0, reg, ptx::size_bytes(out_.registers[reg.reg].type));
  }
  return check_size(copy);
}

Status Inliner::expand_body(const Call& call, uint32_t function) {
  const Function& callee = module_.functions[function];
  ++copies_;
  Frame inner;
  inner.source = &callee;
  inner.function = function;
  inner.is_call = true;
  inner.site = &call.copy;
  enter(inner);
  KM_TRY(check_size(call.copy));
  bind_variables(inner);
  KM_TRY(bind_params(call, inner));
  bind_results(call, inner);
  const bool allocates = allocates_stack(callee);
  Operand stack;
  if (allocates) {
    stack = register_operand(add_register(ptx::Type::u64));
    emit("stacksave.u64", {stack}, call.copy);
  }
  KM_TRY(copy_body(inner));
  if (inner.end != kNone) place(inner.end);
  if (allocates) emit("stackrestore.u64", {stack}, call.copy);
  take_results(call, inner);
  return check_size(call.copy);
}

LabelId Inliner::add_label(const std::string& name) {
  const auto id = static_cast<LabelId>(out_.labels.size());
  // Labels' names are never compared; they only make a printed kernel readable.
  out_.labels.push_back({name + "$" + std::to_string(id), 0});
  return id;
}

SymbolId Inliner::add_param(const Symbol& like) {
  Symbol symbol = like;
  symbol.name = unique(like.name) + "$" + std::to_string(out_.symbols.size());
  symbol.space = Space::param;
  symbol.is_param_pointer = false;
  symbol.reg = kNone;
  out_.symbols.push_back(std::move(symbol));
  return static_cast<SymbolId>(out_.symbols.size() - 1);
}

RegisterId Inliner::add_register(ptx::Type type) {
  const auto id = static_cast<RegisterId>(out_.registers.size());
  // Registers have at least 16 bits here.
  out_.registers.push_back(
      {"%arg$" + std::to_string(id), type == ptx::Type::b8 ? ptx::Type::b16 : type});
  return id;
}

Result<Function> inline_calls(const InliningCosts& costs, uint32_t kernel) {
  const InliningPlan plan(costs, kernel);
  return Inliner(costs.graph, plan, kernel).run();
}

}  // namespace km::simt
