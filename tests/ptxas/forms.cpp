#include "forms.h"

#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "numbered_names.h"
#include "ptx/forms.h"
#include "ptx/names.h"
#include "support/form_example.h"

namespace km::ptx::test {
namespace {

std::vector<Choice> choices_of(const Form& form) {
  Choice least, full;
  for (const SyntaxGroup& group : form.groups) {
    const bool is_left_out = group.optional && !is_needed(form, group);
    least.push_back(is_left_out ? std::nullopt : std::optional<size_t>(0));
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

void print_samples(std::ostream& out) {
  std::set<std::string> seen;
  for (const Form& form : all_forms()) {
    if (form.any_modifiers || form.opcode == Opcode::wgmma) continue;
    const Choice least = choice_of(form, false);
    for (size_t i = 0; i < form.groups.size(); ++i) {
      for (size_t word = 0; word < words_of(form.groups[i]); ++word) {
        Choice choice = least;
        choice[i] = word;
        NumberedNames names;
        const std::string text = Example(form, choice, false, names).text() + ";";
        if (seen.insert(text).second) out << text << '\n';
      }
    }
  }
}

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
