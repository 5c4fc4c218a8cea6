#include "ptx/mnemonic.h"

#include <algorithm>

#include "ptx/names.h"

namespace km::ptx {
namespace {

constexpr size_t kMostModifiers = 24;
constexpr size_t kMostListed = 14;

struct Word {
  std::string_view text;
  size_t offset = 0;
  std::optional<Type> type;
  std::optional<Modifier> modifier;
};

std::string quoted(std::string_view text) {
  constexpr size_t kLongest = 100;
  if (text.size() > kLongest) return "'" + std::string(text.substr(0, kLongest)) + "...'";
  return "'" + std::string(text) + "'";
}

/// All words that occur in some form of the opcode.
std::vector<std::string_view> words_of(Opcode opcode) {
  std::vector<std::string_view> words;
  auto add = [&](std::string_view word) {
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  };
  for (uint16_t index : forms_of(opcode)) {
    for (const SyntaxGroup& group : all_forms()[index].groups) {
      for (Modifier modifier : group.modifiers) add(text_of(modifier));
      for (Type type : group.types) add(text_of(type));
    }
  }
  return words;
}

std::string list_of(const std::vector<std::string_view>& words) {
  std::string text;
  for (size_t i = 0; i < std::min(words.size(), kMostListed); ++i) {
    text += (i ? " ." : ".") + std::string(words[i]);
  }
  if (words.size() > kMostListed) text += " ...";
  return text;
}

/// True if no form of the opcode is known, so that any words may follow it.
bool is_name_only(Opcode opcode) {
  auto forms = forms_of(opcode);
  return std::all_of(forms.begin(), forms.end(),
                     [](uint16_t index) { return all_forms()[index].any_modifiers; });
}

std::string unknown_word(Opcode opcode, std::string_view word) {
  std::string name = quoted(text_of(opcode));
  if (is_name_only(opcode)) return name + " is not supported by this version";
  std::string text = "unknown modifier " + quoted("." + std::string(word)) + " on " + name;
  auto words = words_of(opcode);
  if (words.empty()) return text + ", which takes no modifiers";
  std::string hint = suggest_among(word, words, ".");
  return text + (hint.empty() ? ", expected one of " + list_of(words) : hint);
}

/// The mismatch between the words and a form: the number of words that the form does not allow,
/// plus that of its required groups that no word matches.
struct Misfit {
  size_t score = 0;
  const Word* extra = nullptr;           // the first word that the form does not allow
  const SyntaxGroup* missing = nullptr;  // the first required group that no word matches
};

Misfit misfit_of(const Form& form, const std::vector<Word>& words) {
  Misfit result;
  std::vector<bool> used(form.groups.size(), false);
  auto fits = [](const SyntaxGroup& group, const Word& word) {
    if (word.type) return std::count(group.types.begin(), group.types.end(), *word.type) > 0;
    return std::count(group.modifiers.begin(), group.modifiers.end(), *word.modifier) > 0;
  };
  size_t next_type = 0;  // types keep their order
  for (const Word& word : words) {
    size_t group = word.type ? next_type : 0;
    while (group < used.size() && (used[group] || !fits(form.groups[group], word))) ++group;
    if (group < used.size()) {
      used[group] = true;
      if (word.type) next_type = group + 1;
    } else {
      ++result.score;
      if (!result.extra) result.extra = &word;
    }
  }
  for (size_t group = 0; group < used.size(); ++group) {
    if (used[group] || form.groups[group].optional) continue;
    ++result.score;
    if (!result.missing) result.missing = &form.groups[group];
  }
  return result;
}

std::string group_text(const SyntaxGroup& group) {
  std::vector<std::string_view> words;
  for (Modifier modifier : group.modifiers) words.push_back(text_of(modifier));
  for (Type type : group.types) words.push_back(text_of(type));
  return (words.size() > 1 ? "one of " : "") + list_of(words);
}

void explain_no_form(Mnemonic& mnemonic, const std::vector<Word>& words, std::string_view text) {
  const Form* nearest = nullptr;
  Misfit best;
  for (uint16_t index : forms_of(mnemonic.opcode)) {
    Misfit misfit = misfit_of(all_forms()[index], words);
    if (nearest && misfit.score >= best.score) continue;
    nearest = &all_forms()[index];
    best = misfit;
  }
  std::string shape = ", the nearest form is " + quoted(form_text(*nearest));
  if (best.extra) {
    mnemonic.error_offset = best.extra->offset;
    mnemonic.error = "modifier " + quoted("." + std::string(best.extra->text)) + " does not fit " +
                     quoted(text) + shape;
  } else if (best.missing) {
    mnemonic.error_offset = text.size();
    mnemonic.error = quoted(text) + " lacks " + group_text(*best.missing) + shape;
  } else {
    mnemonic.error = quoted(text) + " has its modifiers in the wrong order" + shape;
  }
}

/// Splits at the dots and looks up every word; returns false with the error set for an unknown one.
bool read_words(std::string_view text, Mnemonic& mnemonic, std::vector<Word>& words) {
  size_t at = text.find('.');
  while (at < text.size()) {
    size_t end = std::min(text.find('.', at + 1), text.size());
    Word word{text.substr(at + 1, end - at - 1), at, {}, {}};
    word.type = find_type(word.text);
    if (!word.type) word.modifier = find_modifier(word.text);
    mnemonic.error_offset = at;
    if (!word.type && !word.modifier) {
      mnemonic.error = unknown_word(mnemonic.opcode, word.text);
      return false;
    }
    if (words.size() == kMostModifiers) {
      mnemonic.error = "too many modifiers on " + quoted(text_of(mnemonic.opcode));
      return false;
    }
    words.push_back(word);
    at = end;
  }
  return true;
}

/// True if the instruction accesses memory without naming a state space, so by a generic address.
bool names_no_space(Opcode opcode, const std::vector<Modifier>& modifiers) {
  const bool accesses = opcode == Opcode::ld || opcode == Opcode::st || opcode == Opcode::atom ||
                        opcode == Opcode::red;
  return accesses && std::none_of(modifiers.begin(), modifiers.end(), [](Modifier modifier) {
           return is_space(modifier) || modifier == Modifier::async || modifier == Modifier::bulk;
         });
}

/// True if .lo, .hi or .wide of a product comes first, as it must, since it is part of the
/// instruction's name.
bool leads_with_part(Opcode opcode, const std::vector<Word>& words) {
  const bool product = opcode == Opcode::mul || opcode == Opcode::mad || opcode == Opcode::madc ||
                       opcode == Opcode::mul24 || opcode == Opcode::mad24;
  const auto is_part = [](const Word& word) {
    return word.modifier == Modifier::lo || word.modifier == Modifier::hi ||
           word.modifier == Modifier::wide;
  };
  return !product || words.empty() || is_part(words.front()) ||
         std::none_of(words.begin(), words.end(), is_part);
}

}  // namespace

Mnemonic read_mnemonic(std::string_view text) {
  Mnemonic mnemonic;
  std::string_view head = text.substr(0, text.find('.'));
  auto opcode = find_opcode(head);
  if (!opcode) {
    mnemonic.error = "unknown instruction " + quoted(head) + suggest_opcode(head);
    return mnemonic;
  }
  mnemonic.opcode = *opcode;
  std::vector<Word> words;
  if (!read_words(text, mnemonic, words)) return mnemonic;

  std::vector<Type> types;
  std::vector<Modifier> modifiers;
  for (const Word& word : words) {
    if (word.type) types.push_back(*word.type);
    if (!word.modifier) continue;
    modifiers.push_back(*word.modifier);
    auto bit = static_cast<uint32_t>(*word.modifier);
    mnemonic.modifier_bits[bit / 64] |= uint64_t{1} << (bit % 64);
  }
  if (!leads_with_part(*opcode, words)) {
    mnemonic.error_offset = head.size();
    mnemonic.error = "'.lo', '.hi' and '.wide' stand directly after " + quoted(head);
    return mnemonic;
  }
  for (uint16_t index : forms_of(*opcode)) {
    auto ordered = match_syntax(all_forms()[index], types, modifiers);
    if (ordered) mnemonic.candidates.push_back({index, std::move(*ordered)});
  }
  if (mnemonic.candidates.empty()) {
    explain_no_form(mnemonic, words, text);
    return mnemonic;
  }
  mnemonic.is_generic = names_no_space(*opcode, modifiers);
  mnemonic.type_count = static_cast<uint8_t>(std::min<size_t>(types.size(), kMaxTypes));
  std::copy_n(types.begin(), mnemonic.type_count, mnemonic.types.begin());
  return mnemonic;
}

}  // namespace km::ptx
