// Reads the items at module level of a PTX text into an index.
#pragma once

#include <string_view>

#include "ptx/index/module_index.h"
#include "ptx/parser/lexer.h"

namespace km::ptx {

/// Reads one text; run() may be called once. The reads fail where the parser would, or where a text
/// has a form that the reader does not know.
class IndexReader {
 public:
  IndexReader(std::string_view text, ModuleIndex* index);
  bool run();

 private:
  bool read_header();
  bool read_item();
  bool read_section();
  bool read_linked_item();
  bool read_function(bool is_entry, const TextRange& range);
  bool read_variables(const TextRange& range);
  /// Reads the initial value after a '='.
  bool skip_value();
  bool add_function(std::string_view name, bool is_entry, bool has_body, TextRange range);
  uint32_t add(TextRange range);

  void advance();
  /// Goes to the end of a list in parentheses or brackets that the current token opens.
  bool skip_list();
  bool skip_to(char symbol);
  void skip_to_directive();
  size_t begin_of(const Token& token) const;
  TextRange range_here() const;

  std::string_view text_;
  ModuleIndex& index_;
  Lexer lexer_;
  Token token_;
  size_t last_end_ = 0;  // of the token before the current one
};

}  // namespace km::ptx
