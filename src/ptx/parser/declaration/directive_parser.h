// The directives that are allowed both at module level and in functions.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/parser/expression_parser.h"
#include "ptx/parser/module_builder.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// Parses debug information and pragmas, beginning at the directive itself.
class DirectiveParser {
 public:
  /// File names are stored in `module`.
  DirectiveParser(TokenStream& tokens, ExpressionParser& expressions, ModuleBuilder& module)
      : tokens_(tokens), expressions_(expressions), module_(module) {}

  /// Parses `.file 1 "name", time, size`.
  Status parse_file();

  /// Skips `.section .debug_info {...}`, because the engine does not use DWARF.
  Status parse_section();

  /// Parses `.pragma "a", "b";` and appends the strings.
  Status parse_pragma(std::vector<std::string>& pragmas);

  /// Parses `.loc file line column[, function_name label[+offset], inlined_at file line column]`.
  Result<SourceLine> parse_location();

 private:
  TokenStream& tokens_;
  ExpressionParser& expressions_;
  ModuleBuilder& module_;
};

}  // namespace km::ptx
