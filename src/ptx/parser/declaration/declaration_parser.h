// The common parts of the declarations of variables, parameters and registers.
#pragma once

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/parser/expression_parser.h"
#include "ptx/parser/module_builder.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// Computes the size of a variable from its type and dimensions; errors refer to `name`.
Status set_size(Symbol& symbol, const Token& name, const TokenStream& tokens);

/// Parses specifiers (`.align 4 .v2 .b32`) and declarators (`name[4][8]`).
class DeclarationParser {
 public:
  /// The version and target of `module` determine the available types.
  DeclarationParser(TokenStream& tokens, ExpressionParser& expressions, const ModuleBuilder& module)
      : tokens_(tokens), expressions_(expressions), module_(module) {}

  /// Parses the specifiers of a declaration into a symbol, of which each declared variable is a
  /// copy. Only parameters of kernels may have `.ptr`.
  Result<Symbol> parse_specifiers(Space space);

  /// Parses a name and its dimensions.
  Result<Symbol> parse_declarator(const Symbol& specifiers);

  /// Parses `.attribute(.managed)`, or `.attribute(.unified(1, 2))`, which refers to other devices'
  /// memory.
  Status parse_attribute(Symbol& symbol);

 private:
  Status parse_specifier(Symbol& symbol);

  Status parse_alignment(Symbol& symbol);

  /// Refuses types that exist in instructions only.
  Status check_variable_type(const Symbol& symbol, const Token& at) const;

  /// Parses `.global .align 8` after `.ptr`.
  Status parse_pointer_attributes(Symbol& symbol);

  Status parse_dimensions(Symbol& symbol);

  TokenStream& tokens_;
  ExpressionParser& expressions_;
  const ModuleBuilder& module_;
};

}  // namespace km::ptx
