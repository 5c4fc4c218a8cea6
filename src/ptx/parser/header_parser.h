// The directives at the start of a module.
#pragma once

#include "base/result.h"
#include "ptx/parser/expression_parser.h"
#include "ptx/parser/module_builder.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// Parses `.version`, `.target` and `.address_size`.
class HeaderParser {
 public:
  /// The results are stored in `module`.
  HeaderParser(TokenStream& tokens, ExpressionParser& expressions, ModuleBuilder& module)
      : tokens_(tokens), expressions_(expressions), module_(module) {}

  /// Parses the header; the first token after it becomes the current one.
  Status parse();

 private:
  Status parse_version();

  /// Parses the architecture and its options.
  Status parse_target();

  Status parse_target_option();

  Status parse_address_size();

  TokenStream& tokens_;
  ExpressionParser& expressions_;
  ModuleBuilder& module_;
};

}  // namespace km::ptx
