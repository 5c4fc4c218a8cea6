// Checks of operands against the table: kind, number of elements, type.
#include <algorithm>
#include <bit>

#include "ptx/checks/verifier.h"
#include "ptx/names.h"
#include "ptx/parser/lexer.h"
#include "ptx/wmma_counts.h"

namespace km::ptx {
namespace {

using Kind = Operand::Kind;

std::string dotted(Type type) { return "." + std::string(text_of(type)); }

/// The ISA's rules for operand types: bits match everything of their size, integers match integers,
/// floats match only themselves; ld, st and cvt also accept wider registers. Formats that no
/// register can be declared with are kept in untyped registers.
bool compatible(Type found, Type wanted, bool may_be_wider) {
  if (found == wanted) return true;
  if (found == Type::pred || wanted == Type::pred) return false;
  uint32_t have = size_bits(found), need = size_bits(wanted);
  TypeKind from = kind_of(found), to = kind_of(wanted);
  const bool declared = to != TypeKind::floating || wanted == Type::f16 || wanted == Type::f32 ||
                        wanted == Type::f64 || wanted == Type::f16x2;
  if (!declared || is_packed_integer(wanted)) may_be_wider = false;
  if (may_be_wider ? have < need : have != need) return false;
  if (to == TypeKind::bits || from == TypeKind::bits) return true;
  if (to == TypeKind::floating || is_packed_integer(wanted)) return false;
  return from == TypeKind::unsigned_int || from == TypeKind::signed_int;
}

class OperandChecker {
 public:
  OperandChecker(const Module& module, const Function& function, const Instruction& instruction)
      : module_(module), function_(function), instruction_(instruction) {}

  /// The message for the operand's fault; empty if there is none.
  std::string check(const OperandSpec& spec, const Operand& operand) {
    switch (spec.shape) {
      case OperandShape::address:
        return check_address(operand);
      case OperandShape::tuple:
        return operand.kind == Kind::tuple ? "" : mismatch(operand, "a tuple such as [a, {b, c}]");
      case OperandShape::label:
        return operand.kind == Kind::label ? "" : mismatch(operand, "a label");
      case OperandShape::table:
        return operand.kind == Kind::target_list ? "" : mismatch(operand, "a list of targets");
      case OperandShape::call:
        return "";
      case OperandShape::value:
        return check_value(spec, operand);
    }
    return "";
  }

 private:
  std::string name_of(const Operand& operand) const {
    switch (operand.kind) {
      case Kind::none:
        return "nothing";
      case Kind::reg: {
        const Register& reg = function_.registers[operand.reg];
        return quote(reg.name) + " of type " + dotted(reg.type);
      }
      case Kind::immediate:
        return "a constant";
      case Kind::symbol:
        return quote(symbol_of(module_, function_, operand).name);
      case Kind::special:
        return quote("%" + std::string(text_of(operand.special)));
      case Kind::address:
        return "an address in brackets";
      case Kind::vector:
        return "a vector of " + std::to_string(operand.count);
      case Kind::label:
        return "a label";
      case Kind::sink:
        return "'_'";
      case Kind::pair:
        return "a pair with '|'";
      case Kind::list:
        return "a list in parentheses";
      case Kind::tuple:
        return "a tuple in brackets";
      case Kind::target_list:
        return "a list of targets";
      case Kind::prototype:
        return "a prototype";
    }
    return "an operand";
  }

  std::string mismatch(const Operand& operand, const std::string& expected) const {
    return "found " + name_of(operand) + ", expected " + expected + " in '" +
           std::string(text_of(instruction_.opcode)) + "'";
  }

  std::string check_address(const Operand& operand) const {
    if (operand.kind != Kind::address) return mismatch(operand, "an address in brackets");
    if (operand.symbol != kNone) return check_space(operand);
    const Space space = space_of(instruction_);
    if (operand.reg == kNone) {
      const bool known = !is_plain_access() || space == Space::local;
      return known ? "" : "a constant is an address in .local only: move it into a register";
    }
    const Register& base = function_.registers[operand.reg];
    const uint32_t width = size_bits(base.type);
    if (!is_integer(base.type) || (width != 32 && width != 64)) {
      return "found the base " + quote(base.name) + " of type " + dotted(base.type) +
             ", expected a 32-bit or 64-bit integer register";
    }
    if (width == 64 && has_tensor_addresses(instruction_)) {
      return "found the base " + quote(base.name) +
             " of 64 bits, addresses in tensor memory have 32";
    }
    const bool long_only = space == Space::global || space == Space::generic;
    if (width == 64 || !long_only || !is_plain_access()) return "";
    return "found the base " + quote(base.name) + " of 32 bits, addresses in ." +
           std::string(text_of(space)) + " space have 64";
  }

  bool is_access() const {
    const Opcode op = instruction_.opcode;
    return op == Opcode::ld || op == Opcode::st || op == Opcode::ldu || op == Opcode::atom ||
           op == Opcode::red;
  }
  bool is_plain_access() const {
    return is_access() && !instruction_.has(Modifier::async) && !instruction_.has(Modifier::bulk);
  }

  /// ld.shared requires a variable in .shared; without a space the address is generic.
  std::string check_space(const Operand& operand) const {
    const Symbol& symbol = symbol_of(module_, function_, operand);
    if (symbol.is_function) return quote(symbol.name) + " is a function, not a variable";
    if (is_access() && kind_of(symbol.type) == TypeKind::opaque) {
      return quote(symbol.name) + " is a texture, sampler or surface: it cannot be accessed";
    }
    Opcode op = instruction_.opcode;
    bool strict = op == Opcode::ld || op == Opcode::st || op == Opcode::ldu || op == Opcode::atom ||
                  op == Opcode::red || op == Opcode::prefetch || op == Opcode::discard ||
                  op == Opcode::applypriority;
    const bool is_launch_control = op == Opcode::clusterlaunchcontrol;
    if (!is_launch_control && (!strict || instruction_.has(Modifier::async))) return "";
    const Space wanted = is_launch_control ? Space::shared : space_of(instruction_);
    if (wanted == symbol.space) return "";
    if (wanted == Space::generic && symbol.space == Space::global) return "";
    std::string found =
        "variable " + quote(symbol.name) + " is in ." +
        std::string(symbol.space == Space::constant ? "const" : text_of(symbol.space));
    std::string mnemonic = "'" + std::string(text_of(op)) + "'";
    if (wanted == Space::generic) {
      return found + ", " + mnemonic + " without a state space needs a generic address (cvta)";
    }
    return found + ", expected one in ." +
           std::string(wanted == Space::constant ? "const" : text_of(wanted)) + " in " + mnemonic;
  }

  std::string check_value(const OperandSpec& spec, const Operand& operand) const {
    if (operand.kind == Kind::pair) {
      if (!spec.pair) return mismatch(operand, "a single destination");
      const Operand* parts = &function_.operand_pool[operand.first];
      if (parts[0].kind == Kind::sink && parts[1].kind == Kind::sink) {
        return "at least one of two results must be kept";
      }
      std::string problem = check_elements(spec, parts[0]);
      return problem.empty() ? check_second(parts[1]) : problem;
    }
    if (spec.pair && !spec.pair_optional) {
      return mismatch(operand, "two destinations, 'd|p', the second a predicate");
    }
    return check_elements(spec, operand);
  }

  std::string check_second(const Operand& operand) const {
    bool good = operand.kind == Kind::sink || (operand.kind == Kind::reg && !operand.negated &&
                                               function_.registers[operand.reg].type == Type::pred);
    return good ? "" : mismatch(operand, "a register of type .pred after '|'");
  }

  std::string check_elements(const OperandSpec& spec, const Operand& operand) const {
    uint32_t wanted = element_count(spec, instruction_);
    bool vector = operand.kind == Kind::vector;
    bool split = spec.rule == TypeRule::split;
    if (!vector) {
      if (wanted > 1) return mismatch(operand, "a vector of " + std::to_string(wanted));
      return split ? mismatch(operand, "a vector") : check_scalar(spec, operand, 1);
    }
    bool single = spec.count_rule == CountRule::one && !split && wanted == 1;
    if (single) return mismatch(operand, "a single " + dotted(operand_type(spec, instruction_)));
    if (wanted > 0 && operand.count != wanted) {
      return mismatch(operand, "a vector of " + std::to_string(wanted));
    }
    if (split && !splits(spec, operand.count)) {
      return mismatch(
          operand, "2, 4 or 8 parts that make up " + dotted(instruction_.types[spec.type_index]));
    }
    uint32_t width = 0, sinks = 0;
    for (uint32_t i = 0; i < operand.count; ++i) {
      const Operand& element = function_.operand_pool[operand.first + i];
      if (element.kind == Kind::sink && spec.written) {
        ++sinks;
        continue;
      }
      std::string problem = check_scalar(spec, element, operand.count);
      if (!problem.empty()) return problem;
      if (element.kind != Kind::reg) continue;
      const uint32_t own = size_bits(function_.registers[element.reg].type);
      if (width != 0 && own != width) return "the registers of a vector must have one size";
      width = own;
    }
    return sinks == operand.count ? "a vector of '_' alone has no type" : "";
  }

  bool splits(const OperandSpec& spec, uint32_t parts) const {
    uint32_t width = size_bits(instruction_.types[spec.type_index]);
    return parts > 1 && std::has_single_bit(parts) && parts <= 8 && width / parts >= 8;
  }

  std::string check_scalar(const OperandSpec& spec, const Operand& operand,
                           uint32_t elements) const {
    Type wanted = operand_type(spec, instruction_, elements);
    switch (operand.kind) {
      case Kind::reg:
        return check_register(spec, operand, wanted);
      case Kind::immediate:
        return spec.written ? mismatch(operand, "a register") : check_immediate(spec, wanted);
      case Kind::sink:
        return spec.written && may_discard() ? "" : mismatch(operand, expected_text(spec, wanted));
      case Kind::special:
        return check_special(spec, operand, wanted);
      case Kind::symbol:
        return check_symbol(spec, operand, wanted);
      default:
        return mismatch(operand, expected_text(spec, wanted));
    }
  }

  /// True if a single result may be discarded (_).
  bool may_discard() const {
    switch (instruction_.opcode) {
      case Opcode::setp:
      case Opcode::lop3:
      case Opcode::atom:
      case Opcode::match:
      case Opcode::elect:
      case Opcode::mbarrier:
        return true;
      default:
        return false;
    }
  }

  static std::string check_immediate(const OperandSpec& spec, Type wanted) {
    const bool written =
        kind_of(wanted) != TypeKind::floating || wanted == Type::f32 || wanted == Type::f64;
    if (spec.rule == TypeRule::immediate || (written && !is_packed_integer(wanted))) return "";
    return "there are no constants of type " + dotted(wanted) + ": move one into a register";
  }

  std::string expected_text(const OperandSpec& spec, Type wanted) const {
    if (spec.rule == TypeRule::immediate) return "an integer constant";
    if (spec.rule == TypeRule::pointer) return "an address of 32 or 64 bits";
    return std::string(spec.written ? "a register" : "a value") + " of type " + dotted(wanted);
  }

  std::string check_register(const OperandSpec& spec, const Operand& operand, Type wanted) const {
    if (spec.rule == TypeRule::immediate) return mismatch(operand, "an integer constant");
    if (operand.negated && !spec.may_negate) return "this operand cannot be negated";
    if (operand.selector != 0 && !spec.may_select) {
      return "a part of a register cannot be selected in '" +
             std::string(text_of(instruction_.opcode)) + "'";
    }
    Type found = function_.registers[operand.reg].type;
    bool relaxed = spec.rule == TypeRule::relaxed || spec.rule == TypeRule::vector;
    // Like ptxas, f16x2 registers are accepted for 32-bit integers and for pairs of 16-bit
    // integers.
    const bool halves = found == Type::f16x2 && spec.rule != TypeRule::fixed;
    if (halves && kind_of(wanted) != TypeKind::floating &&
        (is_integer(wanted) || is_packed_integer(wanted)) &&
        (relaxed ? size_bits(wanted) <= 32 : size_bits(wanted) == 32)) {
      return "";
    }
    if (spec.rule == TypeRule::pointer) {
      bool good = compatible(found, Type::u64, false) || compatible(found, Type::u32, false);
      return good ? "" : mismatch(operand, expected_text(spec, wanted));
    }
    return compatible(found, wanted, relaxed) ? "" : mismatch(operand, expected_text(spec, wanted));
  }

  std::string check_special(const OperandSpec& spec, const Operand& operand, Type wanted) const {
    if (spec.written) return mismatch(operand, "a register: special registers are read-only");
    const bool reads = instruction_.opcode == Opcode::mov || instruction_.opcode == Opcode::cvt;
    if (!reads) return mismatch(operand, "a register: special registers are read with mov");
    const Type found = info_of(operand.special).type;
    if (found == Type::pred || wanted == Type::pred) {
      return found == wanted ? "" : mismatch(operand, expected_text(spec, wanted));
    }
    // The lower half of a special register can be moved, because these registers had 16 bits once.
    const bool half = info_of(operand.special).components > 1 && size_bits(wanted) == 16;
    const bool relaxed = instruction_.opcode == Opcode::cvt;
    const bool grid = operand.special == SpecialRegister::gridid && size_bits(wanted) >= 16;
    const bool fits = relaxed ? size_bits(found) >= size_bits(wanted)
                              : size_bits(found) == size_bits(wanted) || half || grid;
    return fits && is_integer(wanted) ? "" : mismatch(operand, expected_text(spec, wanted));
  }

  std::string check_symbol(const OperandSpec& spec, const Operand& operand, Type wanted) const {
    if (!spec.may_be_symbol) {
      return mismatch(operand, expected_text(spec, wanted) +
                                   " (the address of a variable is taken with mov or cvta)");
    }
    uint32_t width = size_bits(wanted);
    bool good = !is_float(wanted) && (width == 32 || width == 64);
    return good ? check_named(operand, width) : mismatch(operand, expected_text(spec, wanted));
  }

  /// Checks the address of a variable that is used as a value.
  std::string check_named(const Operand& operand, uint32_t width) const {
    const Symbol& symbol = symbol_of(module_, function_, operand);
    const bool opaque = kind_of(symbol.type) == TypeKind::opaque;
    if (opaque && width != 64) return quote(symbol.name) + " needs a register of 64 bits";
    const auto is_listed = [&](const std::vector<SymbolId>& list) {
      return std::count(list.begin(), list.end(), operand.symbol) > 0;
    };
    const bool own = operand.local_symbol && symbol.space == Space::param &&
                     !is_listed(function_.params) && !is_listed(function_.returns);
    if (own) return "argument " + quote(symbol.name) + " of a call has no address";
    const Space wanted = space_of(instruction_);
    const bool converts = instruction_.opcode == Opcode::cvta && wanted != Space::generic;
    if (!converts || (!symbol.is_function && symbol.space == wanted)) return "";
    return quote(symbol.name) + " is " +
           (symbol.is_function ? "a function" : "in ." + std::string(text_of(symbol.space))) +
           ", expected a variable in ." + std::string(text_of(wanted));
  }

  const Module& module_;
  const Function& function_;
  const Instruction& instruction_;
};

}  // namespace

const Symbol& symbol_of(const Module& module, const Function& function, const Operand& operand) {
  return operand.local_symbol ? function.symbols[operand.symbol] : module.symbols[operand.symbol];
}

Type argument_type(const Module& module, const Function& function, const Instruction& call,
                   bool is_result, uint32_t index) {
  const Operand& callee = call.operands[1];
  const Operand& targets = call.operands[3];
  const Symbol* parameter = nullptr;
  if (callee.kind == Operand::Kind::symbol) {
    const Function& target = module.functions[symbol_of(module, function, callee).function];
    const auto& list = is_result ? target.returns : target.params;
    if (index < list.size()) parameter = &target.symbols[list[index]];
  } else if (targets.kind == Operand::Kind::prototype) {
    const Prototype& prototype = function.prototypes[targets.label];
    const auto& list = is_result ? prototype.returns : prototype.params;
    if (index < list.size()) parameter = &list[index];
  }
  return parameter && !parameter->is_array ? parameter->type : Type::b64;
}

std::optional<OperandProblem> find_operand_problem(const Module& module, const Function& function,
                                                   const Instruction& instruction,
                                                   const Assignment& assignment) {
  OperandChecker checker(module, function, instruction);
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    std::string message = checker.check(*assignment[i], instruction.operands[i]);
    if (!message.empty()) return OperandProblem{i, std::move(message)};
  }
  return std::nullopt;
}

}  // namespace km::ptx
