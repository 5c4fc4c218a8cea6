// Checks of whole modules: indices, versions, branches, calls.
#include "ptx/checks/verifier.h"

#include <algorithm>

#include "base/integers.h"
#include "base/text.h"
#include "ptx/checks/instruction_rules.h"
#include "ptx/names.h"
#include "ptx/parser/lexer.h"
#include "ptx/place.h"
#include "ptx/ptx.h"
#include "ptx/target.h"

namespace km::ptx {
namespace {

using Kind = Operand::Kind;

class Verifier {
 public:
  Verifier(const Module& module, bool with_operands)
      : module_(module),
        target_(find_target(module.target).value_or(Target{})),
        with_operands_(with_operands) {}

  Status run() {
    for (const Symbol& symbol : module_.symbols) KM_TRY(check_symbol(symbol));
    for (const Function& function : module_.functions) {
      function_ = &function;
      KM_TRY(check_function());
    }
    return {};
  }

 private:
  Error error_at(Location location, const std::string& message) const {
    return {KM_ERROR_INVALID_PTX, text_place(module_.name, location) + ": " + message};
  }
  Error error(const std::string& message) const {
    return error_at(instruction_->location, message);
  }

  Status check_symbol(const Symbol& symbol) const {
    bool bad = symbol.is_function && symbol.function >= module_.functions.size();
    for (const Relocation& relocation : symbol.relocations) {
      bad |= relocation.symbol >= module_.symbols.size();
    }
    if (bad) return error_at(symbol.location, quote(symbol.name) + " refers to nothing");
    return {};
  }

  Status check_function() {
    for (const Symbol& symbol : function_->symbols) KM_TRY(check_symbol(symbol));
    size_t symbols = function_->symbols.size();
    for (const auto* list : {&function_->params, &function_->returns}) {
      for (SymbolId id : *list) {
        if (id >= symbols) return error_at(function_->location, "a parameter is not a symbol");
      }
    }
    for (const Label& label : function_->labels) {
      if (label.instruction > function_->code.size()) {
        return error_at(function_->location, "label " + quote(label.name) + " lies outside");
      }
    }
    KM_TRY(check_parameters());
    KM_TRY(check_target_lists());
    for (const Instruction& instruction : function_->code) {
      instruction_ = &instruction;
      KM_TRY(check_instruction());
    }
    return {};
  }

  /// Parameters are limited to 4,352 bytes, and to 32,764 since PTX 8.1 with sm_70.
  Status check_parameters() const {
    if (!function_->is_entry) return {};
    constexpr uint64_t kMost = 32764, kMostBefore = 4352;
    constexpr uint32_t kFirstIsa = 81, kFirstTarget = 70;
    uint64_t end = 0;
    for (const SymbolId id : function_->params) {
      const Symbol& symbol = function_->symbols[id];
      const uint64_t align = std::max(symbol.align_bytes, 1u);
      end = round_up(end, align) + symbol.size_bytes;
    }
    const uint32_t version = 10 * module_.version_major + module_.version_minor;
    const bool many = version >= kFirstIsa && module_.target_sm >= kFirstTarget;
    const uint64_t most = many ? kMost : kMostBefore;
    if (end <= most) return {};
    return error_at(function_->location,
                    "kernel " + quote(function_->name) + " has " + std::to_string(end) +
                        " bytes of parameters, at most " + std::to_string(most) +
                        (many ? " are allowed" : " are allowed before PTX 8.1 and sm_70"));
  }

  Status check_target_lists() const {
    for (const TargetList& list : function_->target_lists) {
      for (LabelId label : list.labels) {
        if (label >= function_->labels.size()) {
          return error_at(function_->location, quote(list.name) + " names no label");
        }
      }
      for (SymbolId symbol : list.functions) {
        if (symbol >= module_.symbols.size() || !module_.symbols[symbol].is_function) {
          return error_at(function_->location, quote(list.name) + " names no function");
        }
      }
    }
    return {};
  }

  Status check_instruction() {
    if (instruction_->form >= all_forms().size()) return error("an instruction without a form");
    const Form& form = all_forms()[instruction_->form];
    KM_TRY(check_versions(form));
    KM_TRY(check_vector_width());
    const std::string rule = broken_rule(module_, *function_, *instruction_);
    if (!rule.empty()) return error(rule);
    if (instruction_->guard != kNone) KM_TRY(check_guard());
    if (with_operands_) KM_TRY(check_operands(form));
    return instruction_->opcode == Opcode::call ? check_call() : Status();
  }

  Status check_versions(const Form& form) const {
    uint32_t version = module_.version_major * 10 + module_.version_minor;
    const auto form_name = [&] { return "this form of " + quote(text_of(form.opcode)); };
    if (!form.targets.has(target_)) {
      return error(form_name() + " needs '.target " + text_of(form.targets) + "'" +
                   (form.targets.most == UINT16_MAX ? " or later" : "") + ", the module says " +
                   module_.target);
    }
    if (version < form.min_isa) {
      return error(form_name() + " needs '.version " + std::to_string(form.min_isa / 10) + "." +
                   std::to_string(form.min_isa % 10) + "' or later, the module says " +
                   std::to_string(module_.version_major) + "." +
                   std::to_string(module_.version_minor));
    }
    if (!form.any_modifiers) return {};
    Error unsupported = error(form_name() + " is not supported by this version");
    unsupported.status = KM_ERROR_UNSUPPORTED_PTX;
    return unsupported;
  }

  /// Vectors of 256 bits require PTX 8.8 and sm_100, global memory, and elements of 32 or 64 bits.
  Status check_vector_width() const {
    Opcode op = instruction_->opcode;
    if ((op != Opcode::ld && op != Opcode::st) || instruction_->has(Modifier::bulk)) return {};
    constexpr uint32_t kWidest = 128, kFirstTarget = 100, kFirstVersion = 88;
    const uint32_t elements = instruction_->has(Modifier::v8)   ? 8
                              : instruction_->has(Modifier::v4) ? 4
                              : instruction_->has(Modifier::v2) ? 2
                                                                : 1;
    const uint32_t bits = elements * size_bits(instruction_->type());
    if (bits <= kWidest) return {};
    if (module_.target_sm < kFirstTarget) {
      return error("vectors of more than 128 bits need '.target sm_100' or later");
    }
    if (10 * module_.version_major + module_.version_minor < kFirstVersion) {
      return error("vectors of more than 128 bits need '.version 8.8' or later");
    }
    if (bits > 2 * kWidest || size_bits(instruction_->type()) > 64) {
      return error("vectors of more than 128 bits are .v8 of 32 bits and .v4 of 64 bits");
    }
    const Space space = space_of(*instruction_);
    if (space == Space::global || space == Space::generic) return {};
    return error("vectors of more than 128 bits are for global memory, not for ." +
                 std::string(text_of(space)));
  }

  Status check_guard() const {
    bool good = instruction_->guard < function_->registers.size() &&
                function_->registers[instruction_->guard].type == Type::pred;
    if (!good) return error("a guard must be a register of type .pred");
    return {};
  }

  Status check_operands(const Form& form) const {
    if (instruction_->opcode != form.opcode || instruction_->operand_count > kMaxOperands ||
        instruction_->type_count > kMaxTypes) {
      return error("an instruction that does not fit its form");
    }
    for (unsigned i = 0; i < instruction_->operand_count; ++i) {
      if (!in_bounds(instruction_->operands[i], 0)) return error("an operand refers to nothing");
    }
    auto assignment = assign_operands(form, *instruction_);
    if (!assignment) {
      return error(quote(text_of(form.opcode)) + " takes " +
                   operand_count_text(form, *instruction_) + " operands, found " +
                   std::to_string(instruction_->operand_count));
    }
    auto problem = find_operand_problem(module_, *function_, *instruction_, *assignment);
    if (problem) return error(problem->message);
    return {};
  }

  bool in_bounds(const Operand& operand, unsigned depth) const {
    constexpr unsigned kDeepest = 3;
    size_t symbols = operand.local_symbol ? function_->symbols.size() : module_.symbols.size();
    switch (operand.kind) {
      case Kind::reg:
        return operand.reg < function_->registers.size();
      case Kind::symbol:
        return operand.symbol < symbols;
      case Kind::address:
        return (operand.reg == kNone || operand.reg < function_->registers.size()) &&
               (operand.symbol == kNone || operand.symbol < symbols);
      case Kind::label:
        return operand.label < function_->labels.size();
      case Kind::target_list:
        return operand.label < function_->target_lists.size();
      case Kind::prototype:
        return operand.label < function_->prototypes.size();
      case Kind::special:
        return static_cast<uint32_t>(operand.special) < count::kSpecialRegisters;
      case Kind::vector:
      case Kind::pair:
      case Kind::list:
      case Kind::tuple:
        break;
      default:
        return true;
    }
    size_t pool = function_->operand_pool.size();
    if (depth == kDeepest || operand.first > pool || operand.count > pool - operand.first) {
      return false;
    }
    if (operand.kind == Kind::pair && operand.count != 2) return false;
    for (uint32_t i = 0; i < operand.count; ++i) {
      if (!in_bounds(function_->operand_pool[operand.first + i], depth + 1)) return false;
    }
    return true;
  }

  Status check_call() const {
    const auto& operands = instruction_->operands;
    const Operand& callee = operands[1];
    bool shaped = instruction_->operand_count >= 3 && operands[0].kind == Kind::list &&
                  operands[2].kind == Kind::list;
    if (!shaped) return error("a call is {results, callee, arguments, targets}");
    if (callee.kind == Kind::symbol) return check_direct_call(callee);
    uint32_t width = size_bits(function_->registers[callee.reg].type);
    bool pointer = compatible_pointer(function_->registers[callee.reg].type) &&
                   width == module_.address_size_bits;
    if (!pointer) return error("an indirect call needs the address of a function in a register");
    if (instruction_->operand_count < 4) {
      return error("an indirect call needs a '.callprototype' or a list of functions");
    }
    if (operands[3].kind != Kind::prototype) return {};
    const Prototype& prototype = function_->prototypes[operands[3].label];
    std::vector<const Symbol*> returns, params;
    for (const Symbol& symbol : prototype.returns) returns.push_back(&symbol);
    for (const Symbol& symbol : prototype.params) params.push_back(&symbol);
    KM_TRY(check_arguments(operands[0], returns, prototype.name, "results"));
    return check_arguments(operands[2], params, prototype.name, "arguments");
  }

  static bool compatible_pointer(Type type) {
    TypeKind kind = kind_of(type);
    return kind == TypeKind::bits || kind == TypeKind::unsigned_int || kind == TypeKind::signed_int;
  }

  Status check_direct_call(const Operand& callee) const {
    const Symbol& symbol = symbol_of(module_, *function_, callee);
    if (!symbol.is_function) return error(quote(symbol.name) + " is not a function");
    const Function& target = module_.functions[symbol.function];
    if (target.is_entry) return error("kernel " + quote(target.name) + " cannot be called");
    std::vector<const Symbol*> returns, params;
    for (SymbolId id : target.returns) returns.push_back(&target.symbols[id]);
    for (SymbolId id : target.params) params.push_back(&target.symbols[id]);
    KM_TRY(check_arguments(instruction_->operands[0], returns, target.name, "results"));
    return check_arguments(instruction_->operands[2], params, target.name, "arguments");
  }

  Status check_arguments(const Operand& list, const std::vector<const Symbol*>& params,
                         std::string_view callee, std::string_view what) const {
    bool open = !params.empty() && params.back()->unsized;
    bool fits = open ? list.count + 1 >= params.size() : list.count == params.size();
    if (!fits) {
      return error(quote(callee) + " has " + std::to_string(params.size()) + " " +
                   std::string(what) + ", found " + std::to_string(list.count));
    }
    size_t checked = std::min<size_t>(list.count, open ? params.size() - 1 : params.size());
    for (size_t i = 0; i < checked; ++i) {
      const Operand& argument = function_->operand_pool[list.first + i];
      uint64_t wanted = params[i]->size_bytes, found = wanted;
      if (argument.kind == Kind::reg) {
        found = size_bytes(function_->registers[argument.reg].type);
      } else if (argument.kind == Kind::symbol) {
        const Symbol& symbol = symbol_of(module_, *function_, argument);
        if (symbol.space != Space::param) {
          return error(quote(symbol.name) + " is in ." + std::string(text_of(symbol.space)) +
                       ", expected a variable in .param");
        }
        found = symbol.size_bytes;
      } else if (argument.kind != Kind::immediate && argument.kind != Kind::sink) {
        return error("number " + std::to_string(i + 1) + " of the " + std::string(what) + " of " +
                     quote(callee) + " is not a variable, register or constant");
      }
      if (found != wanted) {
        return error("number " + std::to_string(i + 1) + " of the " + std::string(what) + " of " +
                     quote(callee) + " has " + counted(found, "byte") + ", expected " +
                     std::to_string(wanted));
      }
    }
    return {};
  }

  const Module& module_;
  const Target target_;
  const bool with_operands_;
  const Function* function_ = nullptr;
  const Instruction* instruction_ = nullptr;
};

}  // namespace

Status verify_structure(const Module& module) { return Verifier(module, false).run(); }

Status verify(const Module& module) { return Verifier(module, true).run(); }

}  // namespace km::ptx
