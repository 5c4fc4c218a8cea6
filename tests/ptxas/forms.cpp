#include "forms.h"

#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "ptx/forms.h"
#include "ptx/names.h"

namespace km::ptx::test {
namespace {

/// One word of each group of a form's syntax: its number, from 0, or nothing if it is left out.
using Choice = std::vector<std::optional<size_t>>;

size_t words_of(const SyntaxGroup& group) { return group.types.size() + group.modifiers.size(); }

class Example {
 public:
  Example(const Form& form, const Choice& choice, bool full) : form_(form), full_(full) {
    text_ = text_of(form.opcode);
    for (size_t i = 0; i < form.groups.size(); ++i) {
      if (choice[i]) add_word(form.groups[i], *choice[i]);
    }
    std::string operands;
    for (const OperandSpec& spec : form.operands) {
      if (spec.needs && !instruction_.has(*spec.needs)) continue;
      if (spec.optional && !full_) continue;
      operands += (operands.empty() ? " " : ", ") + operand(spec);
    }
    text_ += operands + ";";
  }

  const std::string& text() const { return text_; }

 private:
  void add_word(const SyntaxGroup& group, size_t word) {
    if (!group.types.empty()) {
      const Type type = group.types[word];
      if (instruction_.type_count < kMaxTypes) {
        instruction_.types[instruction_.type_count++] = type;
      }
      text_ += "." + std::string(text_of(type));
      return;
    }
    const Modifier modifier = group.modifiers[word];
    const auto bit = static_cast<uint32_t>(modifier);
    instruction_.modifier_bits[bit / 64] |= uint64_t{1} << (bit % 64);
    instruction_.modifiers.push_back(modifier);
    text_ += "." + std::string(text_of(modifier));
  }

  std::string address() const {
    const bool shared =
        instruction_.has(Modifier::shared_cta) || instruction_.has(Modifier::shared_cluster);
    const Space space = space_of(instruction_);
    if (form_.opcode == Opcode::st && space == Space::param) return "[pv]";
    if (space == Space::param) return "[para]";
    return space == Space::shared || shared ? "[%b32_7]" : "[%b64_7]";
  }

  std::string operand(const OperandSpec& spec) {
    switch (spec.shape) {
      case OperandShape::address:
        return address();
      case OperandShape::tuple:
        return "[%b64_6, {%b32_6, %b32_7}]";
      case OperandShape::label:
        return "L1";
      case OperandShape::table:
        return "T1";
      case OperandShape::call:
        return "nothing";
      case OperandShape::value:
        break;
    }
    const std::string text = value(spec);
    return spec.pair ? text + "|%pred_2" : text;
  }

  std::string value(const OperandSpec& spec) {
    if (spec.rule == TypeRule::immediate) return "1";
    uint32_t elements = element_count(spec, instruction_);
    const bool split = spec.rule == TypeRule::split;
    if (split) elements = 2;
    const Type type = operand_type(spec, instruction_, elements);
    const bool vector = elements > 1 || spec.count_rule == CountRule::exact;
    if (!vector) return name(spec, type);
    std::string text = "{" + name(spec, type);
    for (uint32_t i = 1; i < elements; ++i) text += ", " + name(spec, type);
    return text + "}";
  }

  std::string name(const OperandSpec& spec, Type type) {
    number_ = number_ % 8 + 1;
    const std::string number = std::to_string(number_);
    if (spec.rule == TypeRule::pointer) return "%b64_" + number;
    if (type == Type::pred) return "%pred_" + number;
    if (type == Type::f32 || type == Type::f64) {
      return "%" + std::string(text_of(type)) + "_" + number;
    }
    const uint32_t bits = size_bits(type) < 16 ? 16 : size_bits(type);
    return "%b" + std::to_string(bits) + "_" + number;
  }

  const Form& form_;
  const bool full_;
  Instruction instruction_;
  std::string text_;
  unsigned number_ = 0;
};

std::vector<Choice> choices_of(const Form& form) {
  Choice least, full;
  for (const SyntaxGroup& group : form.groups) {
    least.push_back(group.optional ? std::nullopt : std::optional<size_t>(0));
    full.push_back(0);
  }
  std::vector<Choice> choices{least, full};
  for (size_t i = 0; i < form.groups.size(); ++i) {
    for (size_t word = 0; word < words_of(form.groups[i]); ++word) {
      for (const Choice& base : {least, full}) {
        choices.push_back(base);
        choices.back()[i] = word;
        if (i + 1 == form.groups.size() || form.groups[i].types.empty()) continue;
        for (size_t other = 0; other < words_of(form.groups.back()); ++other) {  // pairs of types
          choices.push_back(choices.back());
          choices.back().back() = other;
        }
      }
    }
  }
  return choices;
}

}  // namespace

void print_forms(std::ostream& out) {
  std::set<std::string> seen;
  for (const Form& form : all_forms()) {
    if (form.any_modifiers || form.opcode == Opcode::wgmma) continue;
    for (const Choice& choice : choices_of(form)) {
      for (const bool full : {false, true}) {
        const std::string text = Example(form, choice, full).text();
        if (seen.insert(text).second) out << text << '\n';
      }
    }
  }
}

}  // namespace km::ptx::test
