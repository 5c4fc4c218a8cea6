// Instructions near those of the table: what ptxas may take and the table may lack.
#include <algorithm>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "forms.h"
#include "numbered_names.h"
#include "ptx/forms.h"
#include "ptx/names.h"
#include "support/form_example.h"

namespace km::ptx::test {
namespace {

constexpr Type kAllTypes[] = {
#define KM_PTX_TYPE(name, text, size_bits, kind) Type::name,
#include "ptx/types.def"
#undef KM_PTX_TYPE
};

/// Prints each line once.
class Lines {
 public:
  explicit Lines(std::ostream& out) : out_(out) {}

  void add(const Form& form, const Choice& choice) {
    for (const bool full : {false, true}) {
      NumberedNames names;
      const std::string text = Example(form, choice, full, names).text() + ";";
      if (seen_.insert(text).second) out_ << text << '\n';
    }
  }

 private:
  std::ostream& out_;
  std::set<std::string> seen_;
};

Choice least_choice(const Form& form) {
  Choice choice;
  for (const SyntaxGroup& group : form.groups) {
    const bool is_left_out = group.optional && !is_needed(form, group);
    choice.push_back(is_left_out ? std::nullopt : std::optional<size_t>(0));
  }
  return choice;
}

std::vector<size_t> type_groups(const Form& form) {
  std::vector<size_t> places;
  for (size_t i = 0; i < form.groups.size(); ++i) {
    if (!form.groups[i].types.empty()) places.push_back(i);
  }
  return places;
}

/// Each type in each place; in both places of instructions with two.
void change_types(Lines& lines, const Form& original) {
  Form form = original;
  const std::vector<size_t> places = type_groups(form);
  Choice base = least_choice(form);
  for (const size_t place : places) form.groups[place].types.assign(kAllTypes, std::end(kAllTypes));
  const auto index_of = [&](size_t place) {
    const Type first = original.groups[place].types.front();
    return static_cast<size_t>(std::find(kAllTypes, std::end(kAllTypes), first) - kAllTypes);
  };
  for (const size_t place : places) base[place] = index_of(place);
  for (const size_t place : places) {
    for (size_t type = 0; type < std::size(kAllTypes); ++type) {
      Choice choice = base;
      choice[place] = type;
      lines.add(form, choice);
      if (places.size() != 2 || place == places[1]) continue;
      for (size_t other = 0; other < std::size(kAllTypes); ++other) {
        choice[places[1]] = other;
        lines.add(form, choice);
      }
    }
  }
}

/// All modifiers that some form of the opcode has.
std::vector<Modifier> modifiers_of(Opcode opcode) {
  std::set<Modifier> found;
  for (const uint16_t index : forms_of(opcode)) {
    for (const SyntaxGroup& group : all_forms()[index].groups) {
      found.insert(group.modifiers.begin(), group.modifiers.end());
    }
  }
  return {found.begin(), found.end()};
}

/// One modifier more, at each place; one less; with each type.
void change_modifiers(Lines& lines, const Form& original) {
  const std::vector<size_t> places = type_groups(original);
  const size_t types = places.empty() ? 1 : original.groups[places.front()].types.size();
  const SyntaxGroup added{modifiers_of(original.opcode), {}, false};
  for (size_t type = 0; type < types; ++type) {
    Choice base = least_choice(original);
    if (!places.empty()) base[places.front()] = type;
    for (size_t at = 0; at <= original.groups.size(); ++at) {
      Form form = original;
      form.groups.insert(form.groups.begin() + at, added);
      Choice choice = base;
      choice.insert(choice.begin() + at, size_t{0});
      for (size_t word = 0; word < added.modifiers.size(); ++word) {
        choice[at] = word;
        lines.add(form, choice);
      }
      if (at == original.groups.size() || !original.groups[at].types.empty()) continue;
      choice = base;
      choice[at] = std::nullopt;
      lines.add(original, choice);
    }
  }
}

SyntaxGroup group_of(std::vector<Modifier> modifiers) { return {std::move(modifiers), {}, true}; }

/// Every conversion from and to every type with every rounding and the modifiers beside it.
void change_conversions(Lines& lines, const Form& original) {
  Form form = original;
  const SyntaxGroup all{{}, {kAllTypes, std::end(kAllTypes)}, false};
  form.groups = {group_of({Modifier::rn, Modifier::rz, Modifier::rm, Modifier::rp, Modifier::rni,
                           Modifier::rzi, Modifier::rmi, Modifier::rpi, Modifier::rna}),
                 group_of({Modifier::ftz}),
                 group_of({Modifier::relu}),
                 group_of({Modifier::sat, Modifier::satfinite}),
                 all,
                 all};
  Choice choice = least_choice(form);
  const auto next = [&](size_t place) {  // false: it begins anew
    const SyntaxGroup& group = form.groups[place];
    const size_t word = choice[place] ? *choice[place] + 1 : 0;
    const bool is_last = word == words_of(group);
    choice[place] = !is_last         ? std::optional(word)
                    : group.optional ? std::nullopt
                                     : std::optional<size_t>(0);
    return !is_last;
  };
  for (size_t place = 0; place < form.groups.size();) {
    lines.add(form, choice);
    for (place = 0; place < form.groups.size() && !next(place); ++place) continue;
  }
}

}  // namespace

void print_neighbours(std::ostream& out) {
  Lines lines(out);
  const Form* conversion = nullptr;
  for (const Form& form : all_forms()) {
    if (form.any_modifiers || form.opcode == Opcode::wgmma) continue;
    change_types(lines, form);
    change_modifiers(lines, form);
    if (form.opcode == Opcode::cvt && conversion == nullptr) conversion = &form;
  }
  if (conversion != nullptr) change_conversions(lines, *conversion);
}

}  // namespace km::ptx::test
