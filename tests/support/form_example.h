// An instruction of any row of the PTX table, as text.
#pragma once

#include <string>

#include "ptx/forms.h"
#include "ptx/names.h"
#include "ptx/wmma_counts.h"

namespace km::ptx::test {

/// Makes an instruction of a form: with every optional modifier, or with none.
class Example {
 public:
  Example(const Form& form, bool full) : form_(form), full_(full) {}

  std::string text() {
    std::string mnemonic(text_of(form_.opcode));
    for (const SyntaxGroup& group : form_.groups) {
      if (group.optional && (!full_ || is_exclusive(group))) continue;
      if (!group.types.empty()) {
        Type type = group.types.front();
        instruction_.types[instruction_.type_count++] = type;
        mnemonic += "." + std::string(text_of(type));
        continue;
      }
      Modifier modifier = choose(group);
      add(modifier);
      mnemonic += "." + std::string(text_of(modifier));
    }
    std::string operands;
    unsigned index = 0;
    for (const OperandSpec& spec : form_.operands) {
      if (spec.needs && !instruction_.has(*spec.needs)) continue;
      if (spec.optional && !full_) continue;
      operands += (operands.empty() ? " " : ", ") + operand(spec, index++);
    }
    return mnemonic + operands;
  }

 private:
  /// Hints for caches exclude cache operators and state spaces.
  static bool is_exclusive(const SyntaxGroup& group) {
    if (group.modifiers.empty()) return false;
    const std::string_view first = text_of(group.modifiers.front());
    return first.starts_with("L1::") || first.starts_with("L2::") || first == "unified";
  }

  /// A second group of the same modifiers takes its last one, so that both stay apart.
  Modifier choose(const SyntaxGroup& group) {
    return instruction_.has(group.modifiers.front()) ? group.modifiers.back()
                                                     : group.modifiers.front();
  }

  void add(Modifier modifier) {
    auto bit = static_cast<uint32_t>(modifier);
    instruction_.modifier_bits[bit / 64] |= uint64_t{1} << (bit % 64);
    instruction_.modifiers.push_back(modifier);
  }

  std::string operand(const OperandSpec& spec, unsigned index) {
    switch (spec.shape) {
      case OperandShape::address:
        return "[%rd1+8]";
      case OperandShape::tuple:
        return "[%rd2, {%r1, %r2}]";
      case OperandShape::label:
        return "L";
      case OperandShape::table:
        return "T";
      case OperandShape::call:
        return "f";
      case OperandShape::value:
        break;
    }
    std::string text = value(spec, index);
    return spec.pair ? text + "|%p2" : text;
  }

  std::string value(const OperandSpec& spec, unsigned index) {
    if (spec.rule == TypeRule::immediate) return constant();
    const uint32_t fragment = form_.opcode == Opcode::wmma ? wmma_count(instruction_, index) : 0;
    uint32_t elements = fragment != 0 ? fragment : element_count(spec, instruction_);
    bool split = spec.rule == TypeRule::split;
    if (split) elements = 2;
    std::string one = name(spec, operand_type(spec, instruction_, elements));
    bool vector = fragment != 0 || elements > 1 || spec.count_rule == CountRule::exact;
    if (!vector) return one;
    std::string text = "{" + one;
    for (uint32_t i = 1; i < elements; ++i) text += ", " + one;
    return text + "}";
  }

  /// One that the form takes.
  std::string constant() const {
    switch (form_.opcode) {
      case Opcode::applypriority:
      case Opcode::discard:
      case Opcode::fence:
        return "128";
      case Opcode::cp:
        return instruction_.has(Modifier::ca) || instruction_.has(Modifier::cg) ? "16" : "1";
      case Opcode::mma:
        return "0";
      case Opcode::setmaxnreg:
        return "40";
      default:
        return "1";
    }
  }

  static std::string name(const OperandSpec& spec, Type type) {
    if (spec.rule == TypeRule::pointer) return "%rd3";
    if (type == Type::pred) return spec.may_negate ? "!%p1" : "%p1";
    if (type == Type::f32) return "%f1";
    if (type == Type::f64) return "%fd1";
    switch (size_bits(type)) {
      case 8:
        return "%b1";
      case 16:
        return "%rs1";
      case 64:
        return "%rd1";
      case 128:
        return "%rq1";
      default:
        return "%r1";
    }
  }

  const Form& form_;
  const bool full_;
  Instruction instruction_;
};

}  // namespace km::ptx::test
