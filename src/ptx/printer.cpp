// Prints modules as text, so that parse(print(m)) equals m.
#include <algorithm>

#include "ptx/checks/verifier.h"
#include "ptx/forms.h"
#include "ptx/names.h"
#include "ptx/parser/literal.h"
#include "ptx/ptx.h"
#include "ptx/selector.h"

namespace km::ptx {
namespace {

using Kind = Operand::Kind;

std::string offset_text(int64_t offset) { return offset == 0 ? "" : "+" + std::to_string(offset); }

std::string_view linkage_text(Linkage linkage) {
  switch (linkage) {
    case Linkage::internal:
      return "";
    case Linkage::visible:
      return ".visible ";
    case Linkage::external:
      return ".extern ";
    case Linkage::weak:
      return ".weak ";
    case Linkage::common:
      return ".common ";
  }
  return "";
}

std::string_view space_text(Space space) {
  return space == Space::constant ? "const" : text_of(space);
}

class Printer {
 public:
  explicit Printer(const Module& module) : module_(module) {}

  void print_module();
  void print_instruction(const Function& function, const Instruction& instruction);
  std::string take() { return std::move(out_); }

 private:
  void add(std::string_view text) { out_ += text; }
  template <class... Parts>
  void add(std::string_view first, const Parts&... rest) {
    out_ += first;
    add(rest...);
  }

  void print_header();
  void print_declaration(const Symbol& symbol);
  void print_data(const Symbol& symbol);
  void print_relocation(const Relocation& relocation);
  void print_values(const Symbol& symbol, size_t level, uint64_t begin);
  void print_value(const Symbol& symbol, uint64_t element);
  void print_function(const Function& function, bool as_declaration);
  void print_parameters(const Function& function, const std::vector<SymbolId>& list);
  void print_prototype_parameters(const std::vector<Symbol>& list);
  void print_directives(const Function& function);
  void print_size(std::string_view name, const std::array<uint32_t, 3>& sizes);
  void print_body(const Function& function);
  void print_registers(const Function& function);
  void print_targets(const Function& function);
  void print_mnemonic(const Instruction& instruction);
  void print_operand(const Operand& operand, Type type);
  void print_elements(const Operand& operand, Type type);
  void print_call(const Instruction& instruction);
  void print_arguments(const Instruction& instruction, unsigned index);
  bool refers_forward() const;

  const Module& module_;
  const Function* function_ = nullptr;
  const Symbol* data_symbol_ = nullptr;
  std::vector<uint64_t> extents_;
  size_t next_relocation_ = 0;
  std::string out_;
};

void Printer::print_module() {
  print_header();
  bool forward = refers_forward();
  for (const Function& function : module_.functions) {
    if (!function.is_entry && (forward || function.is_declaration)) print_function(function, true);
  }
  for (const Symbol& symbol : module_.symbols) {
    if (!symbol.is_function) print_declaration(symbol);
  }
  for (const Function& function : module_.functions) {
    if (function.alias_of == kNone) continue;
    add(".alias ", function.name, ", ", module_.functions[function.alias_of].name, ";\n");
  }
  for (bool entries : {false, true}) {
    for (const Function& function : module_.functions) {
      if (function.is_entry != entries || (function.is_declaration && !entries)) continue;
      print_function(function, function.is_declaration);
    }
  }
}

/// True if a function is referred to before its body; all functions are then declared first.
bool Printer::refers_forward() const {
  for (const Symbol& symbol : module_.symbols) {
    for (const Relocation& relocation : symbol.relocations) {
      if (module_.symbols[relocation.symbol].is_function) return true;
    }
  }
  for (const Function& function : module_.functions) {
    if (function.alias_of != kNone) return true;
    auto names_function = [&](const Operand& operand) {
      return operand.kind == Kind::symbol && !operand.local_symbol &&
             module_.symbols[operand.symbol].is_function;
    };
    for (const TargetList& list : function.target_lists) {
      if (!list.functions.empty()) return true;
    }
    for (const Instruction& instruction : function.code) {
      auto begin = instruction.operands.begin();
      if (std::any_of(begin, begin + instruction.operand_count, names_function)) return true;
    }
  }
  return false;
}

void Printer::print_header() {
  add(".version ", std::to_string(module_.version_major), ".",
      std::to_string(module_.version_minor), "\n.target ", module_.target);
  for (const std::string& option : module_.target_options) add(", ", option);
  add("\n.address_size ", std::to_string(module_.address_size_bits), "\n");
  for (const auto& [index, name] : module_.files) {
    add(".file ", std::to_string(index), " \"", name, "\"\n");
  }
  for (const std::string& pragma : module_.pragmas) add(".pragma \"", pragma, "\";\n");
}

void Printer::print_declaration(const Symbol& symbol) {
  add(linkage_text(symbol.linkage), ".", space_text(symbol.space));
  if (symbol.managed) add(" .attribute(.managed)");
  add(" .align ", std::to_string(symbol.align_bytes));
  if (symbol.vector_count > 1) add(" .v", std::to_string(symbol.vector_count));
  add(" .", text_of(symbol.type));
  if (symbol.is_param_pointer) {
    add(" .ptr");
    if (symbol.pointer_space != Space::generic) add(" .", space_text(symbol.pointer_space));
    add(" .align ", std::to_string(symbol.pointer_align_bytes));
  }
  add(" ", symbol.name);
  for (size_t i = 0; i < symbol.dimensions.size(); ++i) {
    bool open = i == 0 && symbol.unsized;
    add("[", open ? "" : std::to_string(symbol.dimensions[i]), "]");
  }
  if (symbol.space == Space::param || symbol.space == Space::reg) return;
  print_data(symbol);
  add(";\n");
}

void Printer::print_data(const Symbol& symbol) {
  if (symbol.data.empty()) return;
  add(" = ");
  next_relocation_ = 0;
  data_symbol_ = &symbol;
  std::vector<uint64_t> dimensions = symbol.dimensions;
  if (symbol.vector_count > 1) dimensions.push_back(symbol.vector_count);
  extents_.assign(dimensions.size() + 1, 1);
  for (size_t i = dimensions.size(); i-- > 0;) extents_[i] = extents_[i + 1] * dimensions[i];
  if (dimensions.empty()) {
    print_value(symbol, 0);
  } else {
    print_values(symbol, 0, 0);
  }
}

/// Prints the braces of one level, up to the end of the initial data.
void Printer::print_values(const Symbol& symbol, size_t level, uint64_t begin) {
  uint64_t elements = symbol.data.size() / size_bytes(symbol.type);
  uint64_t step = extents_[level + 1];
  bool leaf = level + 2 == extents_.size();
  add("{");
  for (uint64_t at = begin; at < begin + extents_[level] && at < elements; at += step) {
    if (at > begin) add(", ");
    if (leaf) {
      print_value(symbol, at);
    } else {
      print_values(symbol, level + 1, at);
    }
  }
  add("}");
}

void Printer::print_value(const Symbol& symbol, uint64_t element) {
  uint32_t width = size_bytes(symbol.type);
  uint64_t offset = element * width;
  if (next_relocation_ < symbol.relocations.size() &&
      symbol.relocations[next_relocation_].offset == offset) {
    print_relocation(symbol.relocations[next_relocation_++]);
    return;
  }
  uint64_t bits = 0;
  for (uint32_t i = 0; i < std::min(width, 8u); ++i) {
    bits |= uint64_t{symbol.data[offset + i]} << (8 * i);
  }
  add(literal_text(bits, symbol.type, false));
}

void Printer::print_relocation(const Relocation& relocation) {
  std::string name = module_.symbols[relocation.symbol].name;
  if (relocation.generic) name = "generic(" + name + ")";
  name += offset_text(relocation.addend);
  if (relocation.mask != UINT64_MAX) {
    name = literal_text(relocation.mask, Type::u64, false) + "(" + name + ")";
  }
  add(name);
}

void Printer::print_parameters(const Function& function, const std::vector<SymbolId>& list) {
  add("(");
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) add(", ");
    print_declaration(function.symbols[list[i]]);
  }
  add(")");
}

void Printer::print_prototype_parameters(const std::vector<Symbol>& list) {
  add("(");
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) add(", ");
    print_declaration(list[i]);
  }
  add(")");
}

void Printer::print_size(std::string_view name, const std::array<uint32_t, 3>& sizes) {
  if (sizes[0] == 0) return;
  add("\n.", name, " ", std::to_string(sizes[0]));
  add(", ", std::to_string(sizes[1]), ", ", std::to_string(sizes[2]));
}

void Printer::print_directives(const Function& function) {
  print_size("maxntid", function.maxntid);
  print_size("reqntid", function.reqntid);
  print_size("reqnctapercluster", function.reqnctapercluster);
  auto number = [&](std::string_view name, uint32_t value) {
    if (value > 0) add("\n.", name, " ", std::to_string(value));
  };
  number("minnctapersm", function.minnctapersm);
  number("maxnreg", function.maxnreg);
  number("maxclusterrank", function.maxclusterrank);
  if (function.explicitcluster) add("\n.explicitcluster");
  if (function.noreturn) add("\n.noreturn");
  for (const std::string& pragma : function.pragmas) add("\n.pragma \"", pragma, "\";");
}

void Printer::print_function(const Function& function, bool as_declaration) {
  add("\n", linkage_text(function.linkage), function.is_entry ? ".entry " : ".func ");
  if (!function.returns.empty()) print_parameters(function, function.returns);
  add(" ", function.name, " ");
  print_parameters(function, function.params);
  if (as_declaration) {
    if (function.noreturn) add("\n.noreturn");
    add(";\n");
    return;
  }
  print_directives(function);
  add("\n{\n");
  print_body(function);
  add("}\n");
}

void Printer::print_registers(const Function& function) {
  size_t i = 0;
  for (const auto* list : {&function.returns, &function.params}) {
    for (SymbolId id : *list) i += function.symbols[id].space == Space::reg;
  }
  Type open = Type::none;
  for (; i < function.registers.size(); ++i) {
    const Register& reg = function.registers[i];
    size_t dot = reg.name.find('.');
    if (dot != std::string::npos) {  // .reg .v4: its components are consecutive
      auto stem = std::string_view(reg.name).substr(0, dot + 1);
      size_t end = i;
      while (end < function.registers.size() && function.registers[end].name.starts_with(stem)) {
        ++end;
      }
      if (open != Type::none) add(";\n");
      open = Type::none;
      add(".reg .v", std::to_string(end - i), " .", text_of(reg.type), " ", stem.substr(0, dot),
          ";\n");
      i = end - 1;
      continue;
    }
    if (reg.type == open) {
      add(", ", reg.name);
      continue;
    }
    if (open != Type::none) add(";\n");
    add(".reg .", text_of(reg.type), " ", reg.name);
    open = reg.type;
  }
  if (open != Type::none) add(";\n");
}

/// Prints lists of targets and prototypes before the code that refers to them.
void Printer::print_targets(const Function& function) {
  for (const Prototype& prototype : function.prototypes) {
    add(prototype.name, ": .callprototype ");
    print_prototype_parameters(prototype.returns);
    add(" _ ");
    print_prototype_parameters(prototype.params);
    add(prototype.noreturn ? " .noreturn;\n" : ";\n");
  }
  for (const TargetList& list : function.target_lists) {
    add(list.name, list.functions.empty() ? ": .branchtargets " : ": .calltargets ");
    for (size_t i = 0; i < list.labels.size(); ++i) {
      add(i ? ", " : "", function.labels[list.labels[i]].name);
    }
    for (size_t i = 0; i < list.functions.size(); ++i) {
      add(i ? ", " : "", module_.symbols[list.functions[i]].name);
    }
    add(";\n");
  }
}

void Printer::print_body(const Function& function) {
  function_ = &function;
  print_registers(function);
  size_t parameters = function.params.size() + function.returns.size();
  for (size_t i = parameters; i < function.symbols.size(); ++i) {
    const Symbol& symbol = function.symbols[i];
    print_declaration(symbol);
    if (symbol.space == Space::param) add(";\n");
  }
  print_targets(function);
  std::vector<std::pair<uint32_t, LabelId>> labels;
  for (LabelId id = 0; id < function.labels.size(); ++id) {
    labels.emplace_back(function.labels[id].instruction, id);
  }
  std::sort(labels.begin(), labels.end());
  auto label = labels.begin();
  uint32_t line = kNone;
  for (uint32_t i = 0; i <= function.code.size(); ++i) {
    for (; label != labels.end() && label->first == i; ++label) {
      add(function.labels[label->second].name, ":\n");
    }
    if (i == function.code.size()) break;
    const Instruction& instruction = function.code[i];
    if (instruction.source_line != line && instruction.source_line < function.source_lines.size()) {
      line = instruction.source_line;
      const SourceLine& at = function.source_lines[line];
      add(".loc ", std::to_string(at.file), " ", std::to_string(at.line), " ",
          std::to_string(at.column), "\n");
    }
    add("\t");
    print_instruction(function, instruction);
    add(";\n");
  }
}

void Printer::print_mnemonic(const Instruction& instruction) {
  add(text_of(instruction.opcode));
  const Form& form = all_forms()[instruction.form];
  size_t type = 0, modifier = 0;
  for (const SyntaxGroup& group : form.groups) {
    if (!group.types.empty() && type < instruction.type_count) {
      bool here = std::find(group.types.begin(), group.types.end(), instruction.types[type]) !=
                  group.types.end();
      if (here) add(".", text_of(instruction.types[type++]));
    } else if (modifier < instruction.modifiers.size()) {
      Modifier next = instruction.modifiers[modifier];
      bool here =
          std::find(group.modifiers.begin(), group.modifiers.end(), next) != group.modifiers.end();
      if (!here) continue;
      if (next != Modifier::unified) add(".", text_of(next));  // printed after the address
      ++modifier;
    }
  }
}

void Printer::print_elements(const Operand& operand, Type type) {
  for (uint32_t i = 0; i < operand.count; ++i) {
    if (i > 0) add(operand.kind == Kind::pair ? "|" : ", ");
    print_operand(function_->operand_pool[operand.first + i], type);
  }
}

void Printer::print_operand(const Operand& operand, Type type) {
  bool predicate = type == Type::pred || (operand.kind == Kind::reg &&
                                          function_->registers[operand.reg].type == Type::pred);
  if (operand.negated) add(predicate ? "!" : "-");
  switch (operand.kind) {
    case Kind::none:
      break;
    case Kind::reg:
      add(function_->registers[operand.reg].name);
      if (operand.selector != 0) add(".", selector_text(operand.selector));
      break;
    case Kind::immediate:
      add(literal_text(operand.bits, type, operand.is_float_literal));
      break;
    case Kind::symbol:
      add(symbol_of(module_, *function_, operand).name, offset_text(operand.offset));
      break;
    case Kind::special:
      add("%", text_of(operand.special));
      if (info_of(operand.special).components > 1) {
        add(".", std::string_view("xyzw").substr(operand.component, 1));
      }
      break;
    case Kind::address:
      add("[");
      if (operand.reg != kNone) add(function_->registers[operand.reg].name);
      if (operand.symbol != kNone) add(symbol_of(module_, *function_, operand).name);
      if (operand.reg == kNone && operand.symbol == kNone) {
        add(std::to_string(operand.offset));
      } else {
        add(offset_text(operand.offset));
      }
      add("]");
      break;
    case Kind::vector:
      add("{");
      print_elements(operand, type);
      add("}");
      break;
    case Kind::pair:
      print_elements(operand, type);
      break;
    case Kind::list:
      break;  // only of a call, which prints it
    case Kind::tuple:
      add("[");
      print_elements(operand, Type::b32);
      add("]");
      break;
    case Kind::label:
      add(function_->labels[operand.label].name);
      break;
    case Kind::sink:
      add("_");
      break;
    case Kind::target_list:
      add(function_->target_lists[operand.label].name);
      break;
    case Kind::prototype:
      add(function_->prototypes[operand.label].name);
      break;
  }
}

void Printer::print_call(const Instruction& instruction) {
  add(" ");
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const Operand& operand = instruction.operands[i];
    if (i == 0 && operand.count == 0) continue;
    if (i == 2 && operand.count == 0 && instruction.operand_count < 4) continue;
    bool first = i == 0 || (i == 1 && instruction.operands[0].count == 0);
    if (!first) add(", ");
    if (operand.kind == Kind::list) {
      print_arguments(instruction, i);
    } else {
      print_operand(operand, Type::b64);
    }
  }
}

void Printer::print_arguments(const Instruction& instruction, unsigned index) {
  const Operand& list = instruction.operands[index];
  add("(");
  for (uint32_t i = 0; i < list.count; ++i) {
    if (i > 0) add(", ");
    print_operand(function_->operand_pool[list.first + i],
                  argument_type(module_, *function_, instruction, index == 0, i));
  }
  add(")");
}

void Printer::print_instruction(const Function& function, const Instruction& instruction) {
  function_ = &function;
  if (instruction.guard != kNone) {
    add(instruction.guard_negated ? "@!" : "@", function.registers[instruction.guard].name, " ");
  }
  print_mnemonic(instruction);
  if (instruction.opcode == Opcode::call) {
    print_call(instruction);
    return;
  }
  auto assignment = assign_operands(all_forms()[instruction.form], instruction);
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const Operand& operand = instruction.operands[i];
    Type type = Type::b64;
    if (assignment) {
      uint32_t elements = operand.kind == Kind::vector ? operand.count : 1;
      type = operand_type(*(*assignment)[i], instruction, elements);
    }
    add(i ? ", " : " ");
    print_operand(operand, type);
    if (operand.kind == Kind::address && instruction.has(Modifier::unified)) add(".unified");
  }
}

}  // namespace

std::string print(const Module& module) {
  Printer printer(module);
  printer.print_module();
  return printer.take();
}

std::string print(const Module& module, const Function& function, const Instruction& instruction) {
  Printer printer(module);
  printer.print_instruction(function, instruction);
  return printer.take();
}

}  // namespace km::ptx
