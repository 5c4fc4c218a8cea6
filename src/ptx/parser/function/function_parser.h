// FunctionParser: `.entry` and `.func`, declared or defined.
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

/// FunctionParser reads functions and adds them to the module.
class FunctionParser {
 public:
  /// The functions go to `module`.
  FunctionParser(TokenStream& tokens, ExpressionParser& expressions,
                 DeclarationParser& declarations, DirectiveParser& directives,
                 ModuleBuilder& module);

  /// parse() reads a function from its signature on.
  Status parse(Linkage linkage, bool is_entry);

 private:
  /// add() adds a function to the module, or completes an earlier declaration of it, and returns
  /// its index.
  Result<uint32_t> add(Function&& fresh, const Token& name);

  /// check_redeclaration() refuses a second body, and a declaration that differs from another.
  Status check_redeclaration(const Function& old, const Function& fresh, const Token& name) const;

  /// parse_body() reads the body of the function `index`.
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
