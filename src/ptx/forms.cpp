#include "ptx/forms.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "ptx/names.h"

namespace km::ptx {
namespace {

struct Row {
  Opcode opcode;
  Family family;
  std::string_view syntax, operands;
  uint16_t min_isa;
  TargetSet targets;
};

// The words of the table's last column.
constexpr TargetSet specific(uint16_t from, uint16_t to = UINT16_MAX) {
  return TargetSet::specific(from, to);
}
constexpr TargetSet architecture(uint16_t from, uint16_t to) {
  return TargetSet::architecture(from, to);
}

constexpr Row kRows[] = {
#define KM_PTX_INSTRUCTION(opcode, family, syntax, operands, min_isa, targets) \
  {Opcode::opcode, Family::family, syntax, operands, min_isa, targets},
#include "ptx/instructions.def"
#undef KM_PTX_INSTRUCTION
};

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::string_view take_until(std::string_view& text, std::string_view stops) {
  size_t end = std::min(text.find_first_of(stops), text.size());
  std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

/// Compiles the patterns of one row; faults of the row go to `errors`.
class FormBuilder {
 public:
  FormBuilder(const Row& row, std::vector<std::string>& errors) : row_(row), errors_(errors) {}

  Form build() {
    form_.opcode = row_.opcode;
    form_.syntax = row_.syntax;
    form_.operand_text = row_.operands;
    form_.min_isa = row_.min_isa;
    form_.targets = row_.targets;
    form_.any_modifiers = row_.syntax == "*";
    if (!form_.any_modifiers) build_syntax(row_.syntax);
    build_operands(row_.operands);
    return std::move(form_);
  }

 private:
  void complain(std::string_view what) {
    errors_.push_back(std::string(text_of(row_.opcode)) + std::string(row_.syntax) + " " +
                      std::string(row_.operands) + ": " + std::string(what));
  }

  void add_word(SyntaxGroup& group, std::string_view word) {
    if (auto type = find_type(word)) {
      group.types.push_back(*type);
      return;
    }
    auto found = find_modifiers(word);
    if (found.empty()) complain("unknown word " + std::string(word));
    group.modifiers.insert(group.modifiers.end(), found.begin(), found.end());
  }

  void build_syntax(std::string_view text) {
    while (!text.empty()) {
      if (!take(text, ".")) return complain("expected '.'");
      SyntaxGroup group;
      if (take(text, "{")) {
        std::string_view words = take_until(text, "}");
        take(text, "}");
        while (!words.empty()) {
          add_word(group, take_until(words, ","));
          take(words, ",");
        }
      } else {
        add_word(group, take_until(text, ".?"));
      }
      group.optional = take(text, "?");
      if (!group.types.empty() && !group.modifiers.empty()) complain("types mixed with modifiers");
      form_.groups.push_back(std::move(group));
    }
  }

  void build_operands(std::string_view text) {
    while (!text.empty()) {
      while (take(text, " ")) continue;
      std::string_view item = take_until(text, ",");
      take(text, ",");
      form_.operands.push_back(build_operand(item));
      const OperandSpec& spec = form_.operands.back();
      if (spec.optional || spec.needs) form_.fixed_count = false;
    }
    if (form_.operands.size() > kMaxOperands) complain("too many operands");
  }

  OperandSpec build_operand(std::string_view item) {
    OperandSpec spec;
    spec.text = item;
    if (take(item, "[")) {
      std::string_view name = take_until(item, "]");
      spec.shape = name == "t" ? OperandShape::tuple : OperandShape::address;
      return spec;
    }
    spec.may_negate = take(item, "!") || take(item, "-");
    std::string_view name = take_until(item, ":.");
    spec.written = name == "d" || name == "p";
    spec.may_select = take(item, ".");
    if (!take(item, ":")) complain("expected ':'");
    read_type(spec, take_until(item, "*&?@|"));
    read_suffixes(spec, item);
    return spec;
  }

  void read_type(OperandSpec& spec, std::string_view word) {
    if (word == "label" || word == "table" || word == "call") {
      spec.shape = word == "label"   ? OperandShape::label
                   : word == "table" ? OperandShape::table
                                     : OperandShape::call;
    } else if (word == "imm") {
      spec.rule = TypeRule::immediate;
    } else if (word == "addr") {
      spec.rule = TypeRule::pointer;
    } else if (auto type = find_type(word)) {
      spec.fixed = *type;
    } else if (word.size() == 2 && word[1] >= '0' && word[1] < '0' + int{kMaxTypes}) {
      spec.type_index = static_cast<uint8_t>(word[1] - '0');
      read_rule(spec, word[0]);
    } else {
      complain("unknown operand type " + std::string(word));
    }
  }

  void read_rule(OperandSpec& spec, char letter) {
    switch (letter) {
      case 't':
        spec.rule = TypeRule::same;
        return;
      case 'w':
        spec.rule = TypeRule::wide;
        return;
      case 'x':
        spec.rule = TypeRule::relaxed;
        return;
      case 'v':
        spec.rule = TypeRule::vector;
        return;
      case 's':
        spec.rule = TypeRule::split;
        return;
      default:
        complain("unknown type rule");
    }
  }

  void read_suffixes(OperandSpec& spec, std::string_view item) {
    if (take(item, "*n/")) {
      spec.count_rule = CountRule::shape_n;
      spec.count = static_cast<uint8_t>(item.front() - '0');
      item.remove_prefix(1);
    } else if (take(item, "*")) {
      std::string_view digits = take_until(item, "&?@|");
      spec.count_rule = digits.empty() ? CountRule::any : CountRule::exact;
      std::from_chars(digits.data(), digits.data() + digits.size(), spec.count);
    }
    if (take(item, "|p")) {
      spec.pair = true;
      spec.pair_optional = take(item, "?");
    }
    spec.may_be_symbol = take(item, "&");
    spec.optional = take(item, "?");
    if (take(item, "@")) {
      spec.needs = find_modifier(item);
      if (!spec.needs) complain("unknown modifier after @");
      item = {};
    }
    if (!item.empty()) complain("left over: " + std::string(item));
  }

  const Row& row_;
  std::vector<std::string>& errors_;
  Form form_;
};

struct Table {
  std::vector<Form> forms;
  std::vector<std::vector<uint16_t>> by_opcode{count::kOpcodes};
  std::vector<std::string> errors;

  Table() {
    forms.reserve(std::size(kRows));
    for (const Row& row : kRows) {
      by_opcode[static_cast<size_t>(row.opcode)].push_back(static_cast<uint16_t>(forms.size()));
      forms.push_back(FormBuilder(row, errors).build());
    }
  }
};

const Table& table() {
  static const Table table;
  return table;
}

template <class Value>
bool contains(const std::vector<Value>& values, Value value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool match_types(const Form& form, std::span<const Type> types) {
  size_t next = 0;
  for (const SyntaxGroup& group : form.groups) {
    if (group.types.empty()) continue;
    if (next < types.size() && contains(group.types, types[next])) {
      ++next;
    } else if (!group.optional) {
      return false;
    }
  }
  return next == types.size();
}

Type widened(Type type) {
  switch (type) {
    case Type::u16:
      return Type::u32;
    case Type::s16:
      return Type::s32;
    case Type::u32:
      return Type::u64;
    case Type::s32:
      return Type::s64;
    default:
      return type;
  }
}

/// N of the modifier m64nNkK.
uint32_t shape_n(const Instruction& instruction) {
  for (Modifier modifier : instruction.modifiers) {
    std::string_view text = text_of(modifier);
    if (!take(text, "m64n")) continue;
    uint32_t n = 0;
    std::from_chars(text.data(), text.data() + text.size(), n);
    return n;
  }
  return 0;
}

uint32_t vector_modifier(const Instruction& instruction) {
  if (instruction.has(Modifier::v2)) return 2;
  if (instruction.has(Modifier::v4)) return 4;
  return instruction.has(Modifier::v8) ? 8 : 1;
}

/// The state space that a modifier names; generic if it names none.
Space space_of(Modifier modifier) {
  switch (modifier) {
#define KM_PTX_SPACE(name, text)
#define KM_PTX_SPACE_MODIFIER(name, space) \
  case Modifier::name:                     \
    return Space::space;
#include "ptx/spaces.def"
#undef KM_PTX_SPACE
#undef KM_PTX_SPACE_MODIFIER
    default:
      return Space::generic;
  }
}

}  // namespace

bool is_space(Modifier modifier) { return space_of(modifier) != Space::generic; }

bool is_rewritten(const Form& form) {
  return form.opcode == Opcode::mov && !form.groups.empty() &&
         contains(form.groups.front().modifiers, Modifier::v2);
}

std::span<const Form> all_forms() { return table().forms; }

Family family_of(const Instruction& instruction) { return kRows[instruction.form].family; }

std::span<const uint16_t> forms_of(Opcode opcode) {
  return table().by_opcode[static_cast<size_t>(opcode)];
}

std::vector<std::string> table_errors() {
  std::vector<std::string> errors = table().errors;
  for (uint32_t i = 0; i < count::kOpcodes; ++i) {
    auto opcode = static_cast<Opcode>(i);
    if (forms_of(opcode).empty()) errors.push_back(std::string(text_of(opcode)) + ": no form");
  }
  return errors;
}

std::optional<std::vector<Modifier>> match_syntax(const Form& form, std::span<const Type> types,
                                                  std::span<const Modifier> modifiers) {
  if (form.any_modifiers) return std::vector<Modifier>(modifiers.begin(), modifiers.end());
  if (!match_types(form, types)) return std::nullopt;
  std::vector<const Modifier*> chosen(form.groups.size(), nullptr);
  size_t last_space = 0;
  for (const Modifier& modifier : modifiers) {
    size_t group = 0;
    while (group < chosen.size() &&
           (chosen[group] || !contains(form.groups[group].modifiers, modifier))) {
      ++group;
    }
    if (group == chosen.size()) return std::nullopt;
    if (is_space(modifier)) {  // cp.async.bulk: destination first
      if (group < last_space) return std::nullopt;
      last_space = group;
    }
    chosen[group] = &modifier;
  }
  std::vector<Modifier> ordered;
  for (size_t group = 0; group < chosen.size(); ++group) {
    if (chosen[group]) {
      ordered.push_back(*chosen[group]);
    } else if (!form.groups[group].optional && !form.groups[group].modifiers.empty()) {
      return std::nullopt;
    }
  }
  return ordered;
}

std::optional<Assignment> assign_operands(const Form& form, const Instruction& instruction) {
  Assignment assignment{};
  size_t given = instruction.operand_count;
  if (!form.operands.empty() && form.operands[0].shape == OperandShape::call) {
    assignment.fill(&form.operands[0]);
    return assignment;
  }
  if (form.fixed_count) {
    if (given != form.operands.size()) return std::nullopt;
    for (size_t i = 0; i < given; ++i) assignment[i] = &form.operands[i];
    return assignment;
  }
  size_t required = 0;
  auto certain = [&](const OperandSpec& spec) {
    return !spec.optional && (!spec.needs || instruction.has(*spec.needs));
  };
  for (const OperandSpec& spec : form.operands) required += certain(spec);
  if (given < required) return std::nullopt;
  size_t spare = given - required, next = 0;
  for (const OperandSpec& spec : form.operands) {
    bool present = certain(spec);
    if (spec.optional && spare > 0) {
      present = true;
      --spare;
    }
    if (present) assignment[next++] = &spec;
  }
  if (next != given) return std::nullopt;
  return assignment;
}

Type operand_type(const OperandSpec& spec, const Instruction& instruction, uint32_t elements) {
  Type type = instruction.types[spec.type_index];
  switch (spec.rule) {
    case TypeRule::fixed:
      return spec.fixed;
    case TypeRule::wide:
      return widened(type);
    case TypeRule::split:
      return bits_type(size_bits(type) / std::max(elements, 1u));
    case TypeRule::immediate:
      return Type::s64;
    case TypeRule::pointer:
      return Type::u64;
    case TypeRule::same:
    case TypeRule::relaxed:
    case TypeRule::vector:
      break;
  }
  return type;
}

uint32_t element_count(const OperandSpec& spec, const Instruction& instruction) {
  if (spec.rule == TypeRule::vector) return vector_modifier(instruction);
  switch (spec.count_rule) {
    case CountRule::one:
      return spec.rule == TypeRule::split ? 0 : 1;
    case CountRule::exact:
      return spec.count;
    case CountRule::any:
      return 0;
    case CountRule::shape_n:
      return shape_n(instruction) / spec.count;
  }
  return 1;
}

Space space_of(const Instruction& instruction) {
  for (Modifier modifier : instruction.modifiers) {
    if (const Space space = space_of(modifier); space != Space::generic) return space;
  }
  return Space::generic;
}

std::optional<Modifier> integral_rounding(const Instruction& instruction) {
  constexpr std::pair<Modifier, Modifier> kDirections[] = {{Modifier::rni, Modifier::rn},
                                                           {Modifier::rzi, Modifier::rz},
                                                           {Modifier::rmi, Modifier::rm},
                                                           {Modifier::rpi, Modifier::rp}};
  for (const auto& [integral, direction] : kDirections) {
    if (instruction.has(integral)) return direction;
  }
  return std::nullopt;
}

std::string operand_count_text(const Form& form, const Instruction& instruction) {
  size_t required = 0, optional = 0;
  for (const OperandSpec& spec : form.operands) {
    if (spec.optional) {
      ++optional;
    } else if (!spec.needs || instruction.has(*spec.needs)) {
      ++required;
    }
  }
  std::string text = std::to_string(required);
  if (optional > 0) text += " to " + std::to_string(required + optional);
  return text;
}

std::string form_text(const Form& form) {
  return std::string(text_of(form.opcode)) + std::string(form.syntax);
}

std::string form_key(const Form& form) {
  return form_text(form) + " " + std::string(form.operand_text);
}

}  // namespace km::ptx
