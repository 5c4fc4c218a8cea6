#include "ptx/index/module_index.h"

#include <algorithm>
#include <array>

#include "base/search.h"
#include "ptx/index/index_reader.h"
#include "ptx/parser/module_parser.h"

namespace km::ptx {
namespace {

constexpr std::array<bool, 256> make_word_table() {
  std::array<bool, 256> table{};
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = true;
  for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = table[c - 'a' + 'A'] = true;
  table['_'] = table['$'] = true;
  return table;
}

constexpr auto kIsWord = make_word_table();

bool is_word(char c) { return kIsWord[static_cast<unsigned char>(c)]; }

/// Calls visit(word) for each word of a text that may be a name, which neither registers nor
/// modifiers are. Words of comments and strings are among them.
template <class Visit>
void for_each_word(std::string_view text, Visit visit) {
  for (size_t begin = 0; begin < text.size();) {
    if (!is_word(text[begin])) {
      ++begin;
      continue;
    }
    size_t end = begin + 1;
    while (end < text.size() && is_word(text[end])) ++end;
    const char before = begin == 0 ? ' ' : text[begin - 1];
    const bool is_number = text[begin] >= '0' && text[begin] <= '9';
    if (!is_number && before != '%' && before != '.') visit(text.substr(begin, end - begin));
    begin = end;
  }
}

template <class Number>
void append(std::string* out, const Number& number) {
  out->append(reinterpret_cast<const char*>(&number), sizeof number);
}

bool holds_function(const Module& module, const Symbol& symbol) {
  return std::any_of(
      symbol.relocations.begin(), symbol.relocations.end(),
      [&](const Relocation& relocation) { return module.symbols[relocation.symbol].is_function; });
}

/// True if the operand is a function and not the one that a call names.
bool is_address(const Module& module, const Instruction& at, const Operand& operand) {
  const bool is_callee = at.opcode == Opcode::call && &operand == &at.operands[1];
  if (is_callee) return operand.kind != Operand::Kind::symbol;
  return operand.symbol != kNone && !operand.local_symbol &&
         module.symbols[operand.symbol].is_function;
}

bool uses_addresses(const Module& module, const Function& function, const Instruction& at) {
  for (const Operand& operand : std::span(at.operands).first(at.operand_count)) {
    if (is_address(module, at, operand)) return true;
    for (uint32_t i = 0; i < operand.count; ++i) {
      if (is_address(module, at, function.operand_pool[operand.first + i])) return true;
    }
  }
  return false;
}

}  // namespace

std::optional<ModuleIndex> ModuleIndex::read(std::string_view text) {
  while (text.ends_with('\0')) text.remove_suffix(1);
  ModuleIndex index(text);
  if (!IndexReader(text, &index).run()) return std::nullopt;
  return index;
}

std::vector<std::string_view> ModuleIndex::missing_functions() const {
  std::vector<std::string_view> missing;
  for (const auto& [name, state] : functions_) {
    if (!state.has_body) missing.push_back(name);
  }
  return missing;
}

Excerpt ModuleIndex::excerpt(std::span<const std::string_view> names) const {
  constexpr uint8_t kDirective = 2;
  Excerpt excerpt;
  std::vector<uint8_t> is_taken(items_.size());
  std::vector<uint32_t> open = directives_;
  for (const uint32_t item : open) is_taken[item] = 1;
  const auto take = [&](std::string_view name) {
    const auto [first, last] = items_by_name_.equal_range(name);
    for (auto found = first; found != last; ++found) {
      if (is_taken[found->second] != 0) continue;
      is_taken[found->second] = 1;
      open.push_back(found->second);
    }
  };
  for (const std::string_view name : names) take(name);
  while (!open.empty()) {
    const TextRange& range = items_[open.back()];
    open.pop_back();
    const std::string_view text = text_.substr(range.begin, range.end - range.begin);
    for_each_word(text, take);
    excerpt.calls_pointers = excerpt.calls_pointers ||
                             find_word(text, ".callprototype") != text.npos ||
                             find_word(text, ".calltargets") != text.npos;
  }
  for (const uint32_t item : directives_) is_taken[item] = kDirective;
  std::string parts;  // what the hash is made of: code has no line of a directive
  for (uint32_t item = 0; item < items_.size(); ++item) {
    if (is_taken[item] == 0) continue;
    const TextRange& range = items_[item];
    excerpt.ranges.push_back(range);
    append(&parts, hash128(text_.substr(range.begin, range.end - range.begin)));
    if (is_taken[item] != kDirective) append(&parts, uint64_t{range.line} << 32 | range.column);
  }
  excerpt.hash = hash128(parts);
  return excerpt;
}

Result<std::shared_ptr<const Module>> parse_excerpt(std::string_view text, const Excerpt& excerpt,
                                                    std::string_view name) {
  return parse_ranges(text, excerpt.ranges, name);
}

bool uses_function_addresses(const Module& module) {
  const auto holds = [&](const Symbol& symbol) { return holds_function(module, symbol); };
  const auto uses = [&](const Function& function) {
    return std::any_of(function.symbols.begin(), function.symbols.end(), holds) ||
           std::any_of(function.code.begin(), function.code.end(),
                       [&](const Instruction& at) { return uses_addresses(module, function, at); });
  };
  return std::any_of(module.symbols.begin(), module.symbols.end(), holds) ||
         std::any_of(module.functions.begin(), module.functions.end(), uses);
}

}  // namespace km::ptx
