// An instruction of any row of the PTX table, as text.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "ptx/forms.h"
#include "ptx/names.h"
#include "ptx/wmma_counts.h"

namespace km::ptx::test {

/// One word of each group of a form's syntax: its number, from 0, or nothing if it is left out.
using Choice = std::vector<std::optional<size_t>>;

inline size_t words_of(const SyntaxGroup& group) {
  return group.types.size() + group.modifiers.size();
}

/// The operands' names, which the module around the instruction declares.
class OperandNames {
 public:
  virtual ~OperandNames() = default;
  virtual std::string address(const Instruction& instruction) {
    return has_tensor_addresses(instruction) ? "[%r1+8]" : "[%rd1+8]";
  }
  virtual std::string tuple() { return "[%rd2, {%r1, %r2}]"; }
  virtual std::string label() { return "L"; }
  virtual std::string table() { return "T"; }
  virtual std::string function() { return "f"; }
  virtual std::string second_predicate() { return "%p2"; }
  /// A constant that the form takes.
  virtual std::string constant(const Instruction& instruction) {
    switch (instruction.opcode) {
      case Opcode::applypriority:
      case Opcode::discard:
      case Opcode::fence:
        return "128";
      case Opcode::cp:
        return instruction.has(Modifier::ca) || instruction.has(Modifier::cg) ? "16" : "1";
      case Opcode::mma:
      case Opcode::st:
        return "0";
      case Opcode::tensormap:
        return instruction.has(Modifier::replace) ? "1" : "128";
      case Opcode::setmaxnreg:
        return "40";
      default:
        return "1";
    }
  }
  virtual std::string value(const OperandSpec& spec, Type type) {
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
};

/// Makes an instruction of a form: with the words of a choice, and with or without the operands
/// that may be left out.
class Example {
 public:
  Example(const Form& form, const Choice& choice, bool full, OperandNames& names)
      : form_(form), full_(full), names_(names) {
    instruction_.opcode = form.opcode;
    text_ = text_of(form.opcode);
    for (size_t i = 0; i < form.groups.size(); ++i) {
      if (choice[i]) add_word(form.groups[i], *choice[i]);
    }
    std::string operands;
    unsigned index = 0;
    for (const OperandSpec& spec : form.operands) {
      if (spec.needs && !instruction_.has(*spec.needs)) continue;
      if (spec.optional && !full_) continue;
      operands += (operands.empty() ? " " : ", ") + operand(spec, index++);
    }
    text_ += operands;
  }

  const std::string& text() const { return text_; }

 private:
  void add_word(const SyntaxGroup& group, size_t word) {
    if (!group.types.empty()) {
      const Type type = group.types[word];
      if (instruction_.type_count < instruction_.types.size()) {
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

  std::string operand(const OperandSpec& spec, unsigned index) {
    switch (spec.shape) {
      case OperandShape::address:
        return names_.address(instruction_);
      case OperandShape::tuple:
        return instruction_.has(Modifier::_1d) && form_.opcode == Opcode::cp ? "[%rd2, {%r1}]"
                                                                             : names_.tuple();
      case OperandShape::label:
        return names_.label();
      case OperandShape::table:
        return names_.table();
      case OperandShape::call:
        return names_.function();
      case OperandShape::value:
        break;
    }
    const std::string text = value(spec, index);
    return spec.pair ? text + "|" + names_.second_predicate() : text;
  }

  std::string value(const OperandSpec& spec, unsigned index) {
    constexpr unsigned kSelector = 4;  // of sparse wgmma
    const bool selects = form_.opcode == Opcode::wgmma && instruction_.has(Modifier::sp);
    if (spec.rule == TypeRule::immediate && selects && index == kSelector) return "0";
    if (spec.rule == TypeRule::immediate) return names_.constant(instruction_);
    uint32_t fragment = form_.opcode == Opcode::wmma ? wmma_count(instruction_, index) : 0;
    if (spec.count_rule == CountRule::any)
      fragment = std::max(fragment, tensor_count(instruction_));
    uint32_t elements = fragment != 0 ? fragment : element_count(spec, instruction_);
    if (spec.rule == TypeRule::split) elements = 2;
    const Type type = operand_type(spec, instruction_, elements);
    const std::string one = names_.value(spec, type);
    const bool is_vector = fragment != 0 || elements > 1 || spec.count_rule == CountRule::exact;
    if (!is_vector) return one;
    std::string text = "{" + one;
    for (uint32_t i = 1; i < elements; ++i) text += ", " + names_.value(spec, type);
    return text + "}";
  }

  const Form& form_;
  const bool full_;
  OperandNames& names_;
  Instruction instruction_;
  std::string text_;
};

/// True for hints for caches, which exclude cache operators and state spaces.
inline bool is_exclusive(const SyntaxGroup& group) {
  if (group.modifiers.empty()) return false;
  const std::string_view first = text_of(group.modifiers.front());
  return first.starts_with("L1::") || first.starts_with("L2::") || first == "unified";
}

/// The words of tensor maps, reductions and multimem that go with each other.
inline size_t first_word(const Form& form, const SyntaxGroup& group) {
  const auto place = [](const auto& list, auto word) {
    const auto found = std::find(list.begin(), list.end(), word);
    return found == list.end() ? size_t{0} : static_cast<size_t>(found - list.begin());
  };
  const auto has = [&](Modifier modifier) {
    return std::any_of(form.groups.begin(), form.groups.end(), [&](const SyntaxGroup& one) {
      return std::count(one.modifiers.begin(), one.modifiers.end(), modifier) != 0;
    });
  };
  if (form.opcode == Opcode::tensormap && has(Modifier::global_address)) {
    return place(group.types, Type::b64);
  }
  if (form.opcode == Opcode::cp && has(Modifier::reduce) && !has(Modifier::tensor)) {
    return std::max(place(group.modifiers, Modifier::add), place(group.types, Type::u32));
  }
  if (form.opcode == Opcode::tcgen05 && has(Modifier::red)) {
    return place(group.modifiers, Modifier::x2);
  }
  if (form.opcode == Opcode::tcgen05 && has(Modifier::ashift)) {
    return place(group.modifiers, Modifier::collector_a_lastuse);
  }
  if (form.opcode != Opcode::multimem || has(Modifier::bulk)) return 0;
  if (group.types.empty()) {
    return std::max(place(group.modifiers, Modifier::add),
                    place(group.modifiers, Modifier::relaxed));
  }
  return std::max(place(group.types, Type::u32), place(group.types, Type::f16x2));
}

/// True for what may be left out under old versions alone.
inline bool is_needed(const Form& form, const SyntaxGroup& group) {
  return form.opcode == Opcode::wmma && !group.modifiers.empty() &&
         group.modifiers.front() == Modifier::aligned;
}

/// Chooses every optional modifier that goes with the others, or none.
inline Choice choice_of(const Form& form, bool full) {
  Choice choice;
  std::vector<Modifier> chosen;
  for (const SyntaxGroup& group : form.groups) {
    const bool is_left_out = !is_needed(form, group) && (!full || is_exclusive(group));
    if (group.optional && is_left_out) {
      choice.emplace_back(std::nullopt);
      continue;
    }
    // A second group of the same modifiers takes its last one, so that both stay apart.
    const std::vector<Modifier> modifiers(group.modifiers.begin(), group.modifiers.end());
    const bool is_again = !modifiers.empty() && std::find(chosen.begin(), chosen.end(),
                                                          modifiers.front()) != chosen.end();
    choice.emplace_back(is_again ? modifiers.size() - 1 : first_word(form, group));
    if (!modifiers.empty()) chosen.push_back(modifiers[*choice.back()]);
  }
  return choice;
}

/// The name of a target that has the form: sm_90a, or the first of those that do.
inline std::string target_of(const Form& form) {
  constexpr uint16_t kUsual = 90;
  const uint16_t number = std::max(form.targets.least, kUsual);
  return "sm_" + std::to_string(std::min(number, form.targets.most)) + "a";
}

/// An instruction of a form with every optional modifier, or with none.
inline std::string example_of(const Form& form, bool full) {
  OperandNames names;
  return Example(form, choice_of(form, full), full, names).text();
}

}  // namespace km::ptx::test
