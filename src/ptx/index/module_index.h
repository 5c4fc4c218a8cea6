// Finds the parts of a large PTX text without parsing them, so that a kernel can be parsed with
// what it refers to when it is first used.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/parser/text_range.h"

namespace km::ptx {

/// Some of a module's items, in the order of its text, which make a module of their own.
struct Excerpt {
  std::vector<TextRange> ranges;
  Hash128 hash;  // of their text and their places in the module's text
  /// True if a body in them calls a function by its address.
  bool calls_pointers = false;
};

/// The items of a text by name. All names are views of the text, which must outlive the index.
class ModuleIndex {
 public:
  /// Reads a text in time close to that of a search. Nothing if the text is broken at module level,
  /// or has something that no index knows: the parser then says what it is.
  static std::optional<ModuleIndex> read(std::string_view text);

  /// The kernels that have bodies, in the order of the text.
  const std::vector<std::string_view>& entries() const { return entries_; }
  /// The variables in all spaces, in the order of the text; one may be declared more than once.
  const std::vector<std::string_view>& variables() const { return variables_; }
  /// The functions that are declared and have no body, aliases among them.
  std::vector<std::string_view> missing_functions() const;
  bool has(std::string_view name) const { return items_by_name_.contains(name); }

  /// The named items, all that they refer to in turn, and the module's directives.
  Excerpt excerpt(std::span<const std::string_view> names) const;

 private:
  friend class IndexReader;
  struct FunctionState {
    bool has_body = false;
  };

  explicit ModuleIndex(std::string_view text) : text_(text) {}
  std::vector<std::string_view> names_in(const TextRange& range) const;

  std::string_view text_;
  std::vector<TextRange> items_;
  std::vector<uint32_t> directives_;  // items that every excerpt has: the header, files, pragmas
  std::unordered_multimap<std::string_view, uint32_t> items_by_name_;
  std::unordered_map<std::string_view, FunctionState> functions_;
  std::vector<std::string_view> entries_, variables_;
};

/// Parses and verifies an excerpt of a text like a text of its own. Errors and locations have the
/// lines of the whole text.
Result<std::shared_ptr<const Module>> parse_excerpt(std::string_view text, const Excerpt& excerpt,
                                                    std::string_view name);

/// True if the module uses the address of a function, in code or in initial data. Such an address
/// is a function's number in the module, so an excerpt would have another one.
bool uses_function_addresses(const Module& module);

}  // namespace km::ptx
