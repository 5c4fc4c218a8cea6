// Declarations and definitions of functions: `.entry` and `.func`.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/parser/declaration/declaration_parser.h"
#include "ptx/parser/declaration/directive_parser.h"
#include "ptx/parser/expression_parser.h"
#include "ptx/parser/function/function_directive_parser.h"
#include "ptx/parser/function/signature_parser.h"
#include "ptx/parser/instruction/mnemonic_table.h"
#include "ptx/parser/module_builder.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// Parses functions and adds them to the module.
class FunctionParser {
 public:
  /// The functions are added to `module`.
  FunctionParser(TokenStream& tokens, ExpressionParser& expressions,
                 DeclarationParser& declarations, DirectiveParser& directives,
                 ModuleBuilder& module);

  /// Parses a function, beginning at its signature.
  Status parse(Linkage linkage, bool is_entry);

 private:
  /// Adds a function to the module, or completes its earlier declaration, and returns its index.
  Result<uint32_t> add(Function&& fresh, const Token& name);

  /// Refuses a second body, and declarations that differ.
  Status check_redeclaration(const Function& old, const Function& fresh, const Token& name) const;

  Status parse_body(uint32_t index, const std::vector<WrittenParameter>& parameters);

  TokenStream& tokens_;
  ExpressionParser& expressions_;
  DeclarationParser& declarations_;
  DirectiveParser& directives_;
  ModuleBuilder& module_;
  SignatureParser signatures_;
  FunctionDirectiveParser function_directives_;
  MnemonicTable mnemonics_;
};

}  // namespace km::ptx
