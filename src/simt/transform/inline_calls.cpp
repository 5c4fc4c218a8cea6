#include "simt/transform/inline_calls.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "simt/kernel.h"
#include "simt/transform/dynamic_stack.h"
#include "simt/transform/make_instruction.h"

namespace km::simt {
namespace {

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

// Far beyond real kernels (the largest of a thousand files has 33,363 instructions); chains of
// calls that double at every level stop here.
constexpr size_t kMostInstructions = 200'000;
constexpr size_t kMostRegisters = 1'000'000;
constexpr size_t kDeepestCalls = 200;

/// What the runtime offers to kernels.
bool is_known_external(std::string_view name) {
  return name == "vprintf" || name == "__assertfail" || name == "malloc" || name == "free";
}

/// One body being copied: how its numbers become numbers of the copy.
struct Frame {
  const Function* source = nullptr;
  uint32_t function = kNone;  // index in the module
  RegisterId first_register = 0;
  LabelId first_label = 0;
  uint32_t first_source_line = 0;
  uint32_t first_target_list = 0;
  std::vector<SymbolId> symbols;
  bool is_call = false;  // else the kernel itself
  LabelId end = kNone;   // where `ret` of a call goes, once there is one
};

class Inliner {
 public:
  Inliner(const ptx::Module& module, const Function& function)
      : module_(module), function_(function) {}

  Result<Function> run();

 private:
  Error error(const Instruction& at, const std::string& what) const;
  Status check_size(const Instruction& at) const;
  void enter(Frame& frame);
  Status copy_body(Frame& frame);
  Status copy_instruction(Frame& frame, const Instruction& source, bool is_last);
  void emit(Instruction instruction) { out_.code.push_back(std::move(instruction)); }

  Operand map(const Frame& frame, const Operand& operand);
  Instruction map(const Frame& frame, const Instruction& instruction);
  void map_space(const Frame& frame, Instruction& instruction) const;

  Status expand_call(const Frame& frame, const Instruction& source);
  Status expand_direct(const Instruction& call, uint32_t function);
  Status expand_body(const Instruction& call, uint32_t function);
  Status expand_external(Instruction call, const Function& callee);
  Result<uint32_t> callee_of(const Instruction& call) const;

  SymbolId add_param(const Symbol& like);
  const std::vector<SymbolId>& variables_of(uint32_t function);
  void bind_variables(Frame& callee);
  Status check_lists(const Instruction& call) const;
  Status bind_params(const Instruction& call, Frame& callee);
  Status bind_param(const Instruction& call, const Operand& argument, const Symbol& param,
                    Frame& callee, SymbolId& out_symbol);
  void bind_results(const Instruction& call, Frame& callee);
  void take_results(const Instruction& call, const Frame& callee);
  void move_register(const Instruction& like, const Operand& to, const Operand& from);
  void load(const Instruction& like, const Operand& to, SymbolId from, uint64_t offset,
            uint64_t size_bytes);
  void store(const Instruction& like, SymbolId to, uint64_t offset, const Operand& from,
             uint64_t size_bytes);
  void copy_variable(const Instruction& like, SymbolId from, SymbolId to);
  RegisterId add_register(ptx::Type type);
  LabelId add_label(const std::string& name);
  std::string unique(const std::string& name) const;

  const ptx::Module& module_;
  const Function& function_;
  Function out_;
  std::vector<uint32_t> active_;  // functions whose bodies are being copied
  std::map<uint32_t, std::vector<SymbolId>> variables_;
  uint32_t copies_ = 0;  // bodies copied so far, for names
};

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
  out_.prototypes.clear();  // of indirect calls
  Frame frame;
  frame.source = &function_;
  const auto first = module_.functions.data();
  const auto last = first + module_.functions.size();
  // A kernel calls no kernel, so its own index matters for functions alone.
  if (&function_ >= first && &function_ < last) {
    frame.function = static_cast<uint32_t>(&function_ - first);
  }
  for (SymbolId id = 0; id < function_.symbols.size(); ++id) frame.symbols.push_back(id);
  enter(frame);
  active_.push_back(frame.function);
  KM_TRY(copy_body(frame));
  return std::move(out_);
}

std::string Inliner::unique(const std::string& name) const {
  return copies_ == 0 ? name : name + "$in" + std::to_string(copies_);
}

/// Makes room for the body's registers, labels, lists and source lines.
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
      out_.labels[frame.first_label + *next].instruction = static_cast<uint32_t>(out_.code.size());
    }
    if (i < count) KM_TRY(copy_instruction(frame, source.code[i], i + 1 == count));
  }
  return {};
}

Status Inliner::copy_instruction(Frame& frame, const Instruction& source, bool is_last) {
  if (source.opcode == Opcode::call) return expand_call(frame, source);
  if (source.opcode == Opcode::ret && frame.is_call) {
    // The end follows anyway. Labels that nothing needs would only split blocks.
    if (is_last) return {};
    if (frame.end == kNone) frame.end = add_label(frame.source->name + "$end");
    const Instruction guarded = map(frame, source);
    emit(make_instruction("bra", {label_operand(frame.end)}, guarded));
    return check_size(source);
  }
  emit(map(frame, source));
  return check_size(source);
}

Status Inliner::check_size(const Instruction& at) const {
  if (out_.code.size() <= kMostInstructions && out_.registers.size() <= kMostRegisters) return {};
  return error(at, "the kernel grows beyond " + std::to_string(kMostInstructions) +
                       " instructions when its calls are inlined");
}

Operand Inliner::map(const Frame& frame, const Operand& operand) {
  Operand result = operand;
  if (result.reg != kNone) result.reg += frame.first_register;
  if (result.local_symbol) result.symbol = frame.symbols[operand.symbol];
  if (operand.kind == Operand::Kind::label) result.label += frame.first_label;
  if (operand.kind == Operand::Kind::target_list) result.label += frame.first_target_list;
  result.first = 0;
  if (operand.count != 0) {
    std::vector<Operand> elements;
    for (uint32_t i = 0; i < operand.count; ++i) {
      elements.push_back(map(frame, frame.source->operand_pool[operand.first + i]));
    }
    result.first = static_cast<uint32_t>(out_.operand_pool.size());
    out_.operand_pool.insert(out_.operand_pool.end(), elements.begin(), elements.end());
  }
  return result;
}

Instruction Inliner::map(const Frame& frame, const Instruction& instruction) {
  Instruction result = instruction;
  if (result.guard != kNone) result.guard += frame.first_register;
  if (result.source_line != kNone) result.source_line += frame.first_source_line;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    result.operands[i] = map(frame, instruction.operands[i]);
  }
  map_space(frame, result);
  return result;
}

/// A .param address held in a register points into a parameter or a result of a function, and
/// those lie in local memory once somebody takes their address; in the kernel itself it can also
/// point to a parameter of the kernel, which is only read.
void Inliner::map_space(const Frame& frame, Instruction& instruction) const {
  const bool by_register = std::none_of(
      instruction.operands.begin(), instruction.operands.begin() + instruction.operand_count,
      [](const Operand& operand) { return operand.symbol != kNone; });
  const bool is_local = by_register && (frame.is_call || instruction.opcode == Opcode::st);
  replace_modifier(instruction, Modifier::param_func,
                   by_register ? Modifier::local : Modifier::param);
  if (is_local) replace_modifier(instruction, Modifier::param, Modifier::local);
}

Result<uint32_t> Inliner::callee_of(const Instruction& call) const {
  const Operand& callee = call.operands[1];
  if (callee.kind != Operand::Kind::symbol) return error(call, "calls through pointers do not run");
  uint32_t function = module_.symbols[callee.symbol].function;
  if (module_.functions[function].alias_of != kNone) {
    function = module_.functions[function].alias_of;
  }
  return function;
}

Status Inliner::expand_call(const Frame& frame, const Instruction& source) {
  KM_ASSIGN(const uint32_t function, callee_of(source));
  Instruction call = map(frame, source);
  KM_TRY(check_lists(call));
  if (call.guard == kNone) return expand_direct(call, function);
  const LabelId after = add_label("$skipped");
  Instruction around = make_instruction("bra", {label_operand(after)}, call);
  around.guard_negated = !around.guard_negated;
  emit(std::move(around));
  call.guard = kNone;
  call.guard_negated = false;
  KM_TRY(expand_direct(call, function));
  out_.labels[after].instruction = static_cast<uint32_t>(out_.code.size());
  return {};
}

/// Arguments and results are registers, constants or whole .param variables of this function.
Status Inliner::check_lists(const Instruction& call) const {
  for (const Operand* list : {&call.operands[0], &call.operands[2]}) {
    for (uint32_t i = 0; i < list->count; ++i) {
      const Operand& operand = out_.operand_pool[list->first + i];
      if (operand.kind != Operand::Kind::symbol) continue;
      if (!operand.local_symbol || operand.offset != 0 ||
          out_.symbols[operand.symbol].space != Space::param) {
        return error(call, "an argument is no variable in .param of this function");
      }
    }
  }
  return {};
}

Status Inliner::expand_direct(const Instruction& call, uint32_t function) {
  const Function& callee = module_.functions[function];
  if (!callee.is_declaration) return expand_body(call, function);
  if (is_known_external(callee.name)) return expand_external(call, callee);
  return error(call, "function '" + callee.name +
                         "' has no body here and is not one that the runtime offers (vprintf, "
                         "__assertfail, malloc, free)");
}

/// Variables become registers around the call, so that nothing but loads and stores knows them.
Status Inliner::expand_external(Instruction call, const Function& callee) {
  std::vector<std::pair<SymbolId, Operand>> results;
  for (unsigned list : {0u, 2u}) {
    const auto& params = list == 0 ? callee.returns : callee.params;
    if (params.size() != call.operands[list].count) {
      return error(call, "'" + callee.name + "' is called with other arguments than declared");
    }
    for (uint32_t i = 0; i < call.operands[list].count; ++i) {
      const Operand operand = out_.operand_pool[call.operands[list].first + i];
      if (operand.kind != Operand::Kind::symbol) continue;
      const uint64_t size = callee.symbols[params[i]].size_bytes;
      const ptx::Type type = bits_type(size);
      if (type == ptx::Type::none) return error(call, "an argument of this size");
      const Operand reg = register_operand(add_register(type));
      if (list == 2) load(call, reg, operand.symbol, 0, size);
      if (list == 0) results.emplace_back(operand.symbol, reg);
      out_.operand_pool[call.operands[list].first + i] = reg;
    }
  }
  emit(call);
  for (const auto& [symbol, reg] : results) {
    store(call, symbol, 0, reg, ptx::size_bytes(out_.registers[reg.reg].type));
  }
  return check_size(call);
}

Status Inliner::expand_body(const Instruction& call, uint32_t function) {
  const Function& callee = module_.functions[function];
  if (std::find(active_.begin(), active_.end(), function) != active_.end()) {
    return error(call, "function '" + callee.name + "' is recursive, which does not run here");
  }
  if (active_.size() > kDeepestCalls) return error(call, "calls are nested too deeply");
  ++copies_;
  Frame inner;
  inner.source = &callee;
  inner.function = function;
  inner.is_call = true;
  enter(inner);
  KM_TRY(check_size(call));
  bind_variables(inner);
  KM_TRY(bind_params(call, inner));
  bind_results(call, inner);
  const bool allocates = allocates_stack(callee);
  Operand stack;
  if (allocates) {
    stack = register_operand(add_register(ptx::Type::u64));
    emit(make_instruction("stacksave.u64", {stack}, call));
  }
  active_.push_back(function);
  KM_TRY(copy_body(inner));
  active_.pop_back();
  if (inner.end != kNone) {
    out_.labels[inner.end].instruction = static_cast<uint32_t>(out_.code.size());
  }
  if (allocates) emit(make_instruction("stackrestore.u64", {stack}, call));
  take_results(call, inner);
  return check_size(call);
}

LabelId Inliner::add_label(const std::string& name) {
  const auto id = static_cast<LabelId>(out_.labels.size());
  // Names of labels are never compared, but a printed kernel must read well.
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

/// A function's own variables, .shared ones above all, are the same at every call: a function that
/// is not recursive has one activation at a time.
const std::vector<SymbolId>& Inliner::variables_of(uint32_t function) {
  auto [entry, is_new] = variables_.try_emplace(function);
  if (!is_new) return entry->second;
  for (const Symbol& symbol : module_.functions[function].symbols) {
    const bool is_variable = symbol.space != Space::param && symbol.space != Space::reg;
    entry->second.push_back(is_variable ? static_cast<SymbolId>(out_.symbols.size()) : kNone);
    if (!is_variable) continue;
    out_.symbols.push_back(symbol);
    out_.symbols.back().name = unique(symbol.name);
  }
  return entry->second;
}

void Inliner::bind_variables(Frame& callee) {
  callee.symbols = variables_of(callee.function);
  const std::vector<Symbol>& symbols = callee.source->symbols;
  for (SymbolId id = 0; id < symbols.size(); ++id) {
    const auto& params = callee.source->params;
    const bool is_param = std::find(params.begin(), params.end(), id) != params.end();
    if (symbols[id].space == Space::param && !is_param) {
      callee.symbols[id] = add_param(symbols[id]);  // results, and variables of inner calls
    }
  }
}

Status Inliner::bind_params(const Instruction& call, Frame& callee) {
  const Operand& arguments = call.operands[2];
  const Function& source = *callee.source;
  const bool open = !source.params.empty() && source.symbols[source.params.back()].unsized;
  if (open || source.params.size() != arguments.count ||
      source.returns.size() != call.operands[0].count) {
    return error(call, "functions with variable arguments do not run here");
  }
  for (uint32_t i = 0; i < arguments.count; ++i) {
    const Operand argument = out_.operand_pool[arguments.first + i];
    const Symbol& param = source.symbols[source.params[i]];
    KM_TRY(bind_param(call, argument, param, callee, callee.symbols[source.params[i]]));
  }
  return {};
}

Status Inliner::bind_param(const Instruction& call, const Operand& argument, const Symbol& param,
                           Frame& callee, SymbolId& out_symbol) {
  const bool is_variable = argument.kind == Operand::Kind::symbol;
  if (param.space == Space::reg) {
    const Operand target = register_operand(param.reg + callee.first_register);
    if (is_variable) {
      load(call, target, argument.symbol, 0, param.size_bytes);
    } else if (argument.kind != Operand::Kind::sink) {
      move_register(call, target, argument);
    }
    return {};
  }
  // A function reads its parameters only, so the caller's variable can stand for them. A kernel's
  // own parameters are copied: the callee may take the address.
  const auto& own = out_.params;
  if (is_variable && std::find(own.begin(), own.end(), argument.symbol) == own.end()) {
    out_symbol = argument.symbol;
    return {};
  }
  out_symbol = add_param(param);
  if (is_variable) {
    copy_variable(call, argument.symbol, out_symbol);
  } else if (bits_type(param.size_bytes) == ptx::Type::none) {
    return error(call, "an argument of this size must be a variable in .param");
  } else if (argument.kind != Operand::Kind::sink) {
    store(call, out_symbol, 0, argument, param.size_bytes);
  }
  return {};
}

/// The caller's variable stands for the result, unless it is an argument too.
void Inliner::bind_results(const Instruction& call, Frame& callee) {
  const Operand &results = call.operands[0], &arguments = call.operands[2];
  for (uint32_t i = 0; i < results.count; ++i) {
    const Operand& target = out_.operand_pool[results.first + i];
    const SymbolId id = callee.source->returns[i];
    if (target.kind != Operand::Kind::symbol || callee.symbols[id] == kNone) continue;
    bool shared = false;
    for (uint32_t k = 0; k < arguments.count; ++k) {
      shared |= out_.operand_pool[arguments.first + k].symbol == target.symbol;
    }
    if (!shared) callee.symbols[id] = target.symbol;
  }
}

void Inliner::take_results(const Instruction& call, const Frame& callee) {
  const Operand results = call.operands[0];
  for (uint32_t i = 0; i < results.count; ++i) {
    const Operand target = out_.operand_pool[results.first + i];
    const SymbolId id = callee.source->returns[i];
    const Symbol& result = callee.source->symbols[id];
    const bool is_variable = target.kind == Operand::Kind::symbol;
    if (target.kind == Operand::Kind::sink) continue;
    if (result.space == Space::reg) {
      const Operand from = register_operand(result.reg + callee.first_register);
      if (is_variable) {
        store(call, target.symbol, 0, from, result.size_bytes);
      } else {
        move_register(call, target, from);
      }
    } else if (!is_variable) {
      load(call, target, callee.symbols[id], 0, result.size_bytes);
    } else if (callee.symbols[id] != target.symbol) {
      copy_variable(call, callee.symbols[id], target.symbol);
    }
  }
}

RegisterId Inliner::add_register(ptx::Type type) {
  const auto id = static_cast<RegisterId>(out_.registers.size());
  // No register is as narrow as a byte.
  out_.registers.push_back(
      {"%arg$" + std::to_string(id), type == ptx::Type::b8 ? ptx::Type::b16 : type});
  return id;
}

void Inliner::move_register(const Instruction& like, const Operand& to, const Operand& from) {
  const ptx::Type type = out_.registers[to.reg].type;
  const bool is_register = from.kind == Operand::Kind::reg;
  const ptx::Type from_type = is_register ? out_.registers[from.reg].type : type;
  emit(make_instruction(move_mnemonic(type, from_type), {to, from}, like));
}

void Inliner::load(const Instruction& like, const Operand& to, SymbolId from, uint64_t offset,
                   uint64_t size_bytes) {
  const std::string mnemonic = "ld.param." + std::string(bits_type_text(size_bytes));
  emit(make_instruction(mnemonic, {to, address_operand(from, int64_t(offset))}, like));
}

void Inliner::store(const Instruction& like, SymbolId to, uint64_t offset, const Operand& from,
                    uint64_t size_bytes) {
  const std::string mnemonic = "st.param." + std::string(bits_type_text(size_bytes));
  emit(make_instruction(mnemonic, {address_operand(to, int64_t(offset)), from}, like));
}

void Inliner::copy_variable(const Instruction& like, SymbolId from, SymbolId to) {
  const uint64_t size = out_.symbols[from].size_bytes;
  const uint64_t align = std::clamp<uint64_t>(out_.symbols[from].align_bytes, 1, 8);
  for (uint64_t offset = 0; offset < size;) {
    uint64_t piece = align;
    while (piece > size - offset) piece /= 2;
    const Operand reg = register_operand(add_register(bits_type(piece)));
    load(like, reg, from, offset, piece);
    store(like, to, offset, reg, piece);
    offset += piece;
  }
}

}  // namespace

Result<Function> inline_calls(const ptx::Module& module, const Function& function) {
  return Inliner(module, function).run();
}

}  // namespace km::simt
