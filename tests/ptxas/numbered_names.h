// The operands of examples, by the names of context.py.
#pragma once

#include <string>

#include "ptx/forms.h"
#include "ptx/names.h"
#include "support/form_example.h"

namespace km::ptx::test {

/// The names that context.py declares; of registers eight of each kind, in turn.
class NumberedNames final : public OperandNames {
 public:
  std::string address(const Instruction& instruction) override {
    const bool shared =
        instruction.has(Modifier::shared_cta) || instruction.has(Modifier::shared_cluster);
    const Space space = space_of(instruction);
    if (instruction.opcode == Opcode::st && space == Space::param) return "[pv]";
    if (space == Space::param) return "[para]";
    const bool is_short = space == Space::shared || shared || has_tensor_addresses(instruction);
    return is_short ? "[%b32_7]" : "[%b64_7]";
  }
  std::string tuple() override { return "[%b64_6, {%b32_6, %b32_7}]"; }
  std::string label() override { return "L1"; }
  std::string table() override { return "T1"; }
  std::string function() override { return "nothing"; }
  std::string second_predicate() override { return "%pred_2"; }
  std::string constant(const Instruction& instruction) override {
    return instruction.opcode == Opcode::st ? "0" : "1";
  }
  std::string value(const OperandSpec& spec, Type type) override {
    number_ = number_ % 8 + 1;
    const std::string number = std::to_string(number_);
    if (spec.rule == TypeRule::pointer) return "%b64_" + number;
    if (type == Type::pred) return "%pred_" + number;
    if (type == Type::f32 || type == Type::f64) {
      return "%" + std::string(text_of(type)) + "_" + number;
    }
    const bool is_narrow = spec.rule == TypeRule::same && kind_of(type) == TypeKind::floating;
    const uint32_t bits = size_bits(type) < 16 && !is_narrow ? 16 : size_bits(type);
    return "%b" + std::to_string(bits) + "_" + number;
  }

 private:
  unsigned number_ = 0;
};

}  // namespace km::ptx::test
