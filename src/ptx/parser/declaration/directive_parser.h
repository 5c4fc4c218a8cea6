// DirectiveParser: the directives that stand at module level and in functions alike.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/parser/expression_parser.h"
#include "ptx/parser/module_builder.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// DirectiveParser reads debug information and pragmas; the directive is the current token.
class DirectiveParser {
 public:
  /// The names of files go to `module`.
  DirectiveParser(TokenStream& tokens, ExpressionParser& expressions, ModuleBuilder& module)
      : tokens_(tokens), expressions_(expressions), module_(module) {}

  /// parse_file() reads `.file 1 "name", time, size`.
  Status parse_file();

  /// parse_section() skips `.section .debug_info {...}`: nothing here reads DWARF.
  Status parse_section();

  /// parse_pragma() appends the strings of `.pragma "a", "b";`.
  Status parse_pragma(std::vector<std::string>& pragmas);

  /// parse_location() reads `.loc file line column[, function_name label[+offset], inlined_at file
  /// line column]`.
  Result<SourceLine> parse_location();

 private:
  TokenStream& tokens_;
  ExpressionParser& expressions_;
  ModuleBuilder& module_;
};

}  // namespace km::ptx
