// DeclarationParser: what a declaration of variables, parameters and registers consists of.
#pragma once

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/parser/expression_parser.h"
#include "ptx/parser/module_builder.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// set_size() computes the size of a variable from its type and dimensions; errors stand at `name`.
Status set_size(Symbol& symbol, const Token& name, const TokenStream& tokens);

/// DeclarationParser reads specifiers (`.align 4 .v2 .b32`) and declarators (`name[4][8]`).
class DeclarationParser {
 public:
  /// The version and target of `module` say which types there are.
  DeclarationParser(TokenStream& tokens, ExpressionParser& expressions, const ModuleBuilder& module)
      : tokens_(tokens), expressions_(expressions), module_(module) {}

  /// parse_specifiers() reads all that precedes the names of a declaration, whose variables are
  /// copies of the symbol that it returns. A kernel's parameter may be a pointer.
  Result<Symbol> parse_specifiers(Space space);

  /// parse_declarator() reads a name and its dimensions.
  Result<Symbol> parse_declarator(const Symbol& specifiers);

  /// parse_attribute() reads `.attribute(.managed)` and `.attribute(.unified(1, 2))`, the latter
  /// for other devices' memory.
  Status parse_attribute(Symbol& symbol);

 private:
  /// parse_specifier() reads an attribute, an alignment, a vector size or the type.
  Status parse_specifier(Symbol& symbol);

  /// parse_alignment() reads the number after `.align`.
  Status parse_alignment(Symbol& symbol);

  /// check_variable_type() refuses types that only instructions have.
  Status check_variable_type(const Symbol& symbol, const Token& at) const;

  /// parse_pointer_attributes() reads `.global .align 8` after `.ptr`.
  Status parse_pointer_attributes(Symbol& symbol);

  /// parse_dimensions() reads `[4][8]`.
  Status parse_dimensions(Symbol& symbol);

  TokenStream& tokens_;
  ExpressionParser& expressions_;
  const ModuleBuilder& module_;
};

}  // namespace km::ptx
