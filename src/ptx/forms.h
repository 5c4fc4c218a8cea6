// The table instructions.def, compiled to patterns of modifiers and operands that can be matched.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/ir.h"
#include "ptx/target.h"

namespace km::ptx {

constexpr unsigned kMaxOperands = std::tuple_size_v<decltype(Instruction::operands)>;
constexpr unsigned kMaxTypes = std::tuple_size_v<decltype(Instruction::types)>;

enum class OperandShape : uint8_t { value, address, tuple, label, table, call };

/// The rule by which an operand's type follows from the instruction (the letters of
/// instructions.def).
enum class TypeRule : uint8_t {
  fixed,      // u32, f16x2 ...
  same,       // tN
  wide,       // wN
  relaxed,    // xN
  vector,     // vN
  split,      // sN
  immediate,  // imm
  pointer,    // addr: an address of 32 or 64 bits
};

enum class CountRule : uint8_t { one, exact, any, shape_n };

struct OperandSpec {
  std::string_view text;  // text in the table, for messages
  OperandShape shape = OperandShape::value;
  TypeRule rule = TypeRule::fixed;
  CountRule count_rule = CountRule::one;
  uint8_t type_index = 0;
  uint8_t count = 1;  // exact: elements; shape_n: divisor of N
  Type fixed = Type::none;
  bool written = false;
  bool optional = false;
  bool may_negate = false;
  bool may_select = false;
  bool may_be_symbol = false;
  bool pair = false;
  bool pair_optional = false;
  std::optional<Modifier> needs;  // the operand exists exactly if the instruction has this modifier
};

/// One `.word`, `.{a,b}` or `.{a,b}?` of a syntax pattern.
struct SyntaxGroup {
  std::vector<Modifier> modifiers;
  std::vector<Type> types;
  bool optional = false;
};

struct Form {
  Opcode opcode{};
  std::string_view syntax, operand_text;
  std::vector<SyntaxGroup> groups;
  std::vector<OperandSpec> operands;
  uint16_t min_isa = 0;  // version * 10
  TargetSet targets;
  bool any_modifiers = false;
  bool fixed_count = true;  // no optional or conditional operand
};

/// A family of forms has its own lowering code; families.def has one row per family.
enum class Family : uint8_t {
#define KM_PTX_FAMILY(name) name,
#include "ptx/families.def"
#undef KM_PTX_FAMILY
};

/// The family of the instruction's form, from its row of instructions.def.
Family family_of(const Instruction& instruction);

/// True if the parser replaces instructions of this form by other forms, as it does for moves of
/// vectors.
bool is_rewritten(const Form& form);

/// All forms, in the order of the table. Instruction::form is an index into it.
std::span<const Form> all_forms();

/// The indices in all_forms() of the forms with this opcode.
std::span<const uint16_t> forms_of(Opcode opcode);

/// The faults of instructions.def itself; a test checks that there are none.
std::vector<std::string> table_errors();

/// Sorts `modifiers` into the order of the form's syntax; nothing if they do not match it.
std::optional<std::vector<Modifier>> match_syntax(const Form& form, std::span<const Type> types,
                                                  std::span<const Modifier> modifiers);

/// The spec that each operand of the instruction matches, judged by number and modifiers only.
using Assignment = std::array<const OperandSpec*, kMaxOperands>;
std::optional<Assignment> assign_operands(const Form& form, const Instruction& instruction);

/// The operand type that the spec requires in this instruction. For a split vector it is the type
/// of one of `elements` parts.
Type operand_type(const OperandSpec& spec, const Instruction& instruction, uint32_t elements = 1);

/// The number of elements that a vector operand must have; 0: any number, 1: a plain register.
uint32_t element_count(const OperandSpec& spec, const Instruction& instruction);

/// True if the modifier is a state space: global, shared::cta ...
bool is_space(Modifier modifier);

/// The state space that the modifiers name (ld.shared, atom.global ...), otherwise generic.
Space space_of(const Instruction& instruction);

/// The direction (rn, rz, rm or rp) in which an instruction rounds to an integral number; nothing
/// if it does not round that way.
std::optional<Modifier> integral_rounding(const Instruction& instruction);

/// The allowed number of operands for messages, such as "2 or 3".
std::string operand_count_text(const Form& form, const Instruction& instruction);

/// "add.{u16,u32}" for messages.
std::string form_text(const Form& form);

/// Text and operands, which together identify a row of the table in lists of forms.
std::string form_key(const Form& form);

}  // namespace km::ptx
