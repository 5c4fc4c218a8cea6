// HeaderParser: the directives that begin a module.
#pragma once

#include "base/result.h"
#include "ptx/parser/expression_parser.h"
#include "ptx/parser/module_builder.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// HeaderParser reads `.version`, `.target` and `.address_size`.
class HeaderParser {
 public:
  /// The header goes to `module`.
  HeaderParser(TokenStream& tokens, ExpressionParser& expressions, ModuleBuilder& module)
      : tokens_(tokens), expressions_(expressions), module_(module) {}

  /// parse() reads the whole header.
  Status parse();

 private:
  /// parse_version() reads the number after `.version`.
  Status parse_version();

  /// parse_target() reads the architecture after `.target` and its options.
  Status parse_target();

  /// parse_target_option() reads one option of `.target`.
  Status parse_target_option();

  /// parse_address_size() reads the number after `.address_size`.
  Status parse_address_size();

  TokenStream& tokens_;
  ExpressionParser& expressions_;
  ModuleBuilder& module_;
};

}  // namespace km::ptx
