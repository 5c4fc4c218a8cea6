#include "forms.h"

#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "ptx/forms.h"
#include "ptx/names.h"
#include "support/form_example.h"

namespace km::ptx::test {
namespace {

/// The names that context.py declares; of registers eight of each kind, in turn.
class NumberedNames final : public OperandNames {
 public:
  std::string address(const Instruction& instruction) override {
    const bool shared =
        instruction.has(Modifier::shared_cta) || instruction.has(Modifier::shared_cluster);
    const Space space = space_of(instruction);
    if (instruction.opcode == Opcode::st && space == Space::param) return "[pv]";
    if (space == Space::param) return "[para]";
    return space == Space::shared || shared ? "[%b32_7]" : "[%b64_7]";
  }
  std::string tuple() override { return "[%b64_6, {%b32_6, %b32_7}]"; }
  std::string label() override { return "L1"; }
  std::string table() override { return "T1"; }
  std::string function() override { return "nothing"; }
  std::string second_predicate() override { return "%pred_2"; }
  std::string constant(const Instruction&) override { return "1"; }
  std::string value(const OperandSpec& spec, Type type) override {
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

 private:
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
        NumberedNames names;
        const std::string text = Example(form, choice, full, names).text() + ";";
        if (seen.insert(text).second) out << text << '\n';
      }
    }
  }
}

}  // namespace km::ptx::test
