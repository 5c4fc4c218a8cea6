// LocalDeclarationParser: variables, registers and parameters that a body declares.
#pragma once

#include <vector>

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/parser/declaration/declaration_parser.h"
#include "ptx/parser/expression_parser.h"
#include "ptx/parser/function/function_context.h"
#include "ptx/parser/function/signature_parser.h"
#include "ptx/parser/module_builder.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// LocalDeclarationParser declares the names of one function that are not labels.
class LocalDeclarationParser {
 public:
  /// The names go to `context`; initial values may name symbols of `module`.
  LocalDeclarationParser(TokenStream& tokens, ExpressionParser& expressions,
                         DeclarationParser& declarations, const ModuleBuilder& module,
                         FunctionContext& context)
      : tokens_(tokens),
        expressions_(expressions),
        declarations_(declarations),
        module_(module),
        context_(context) {}

  /// declare_parameters() makes the parameters the outermost names of the body; those in .reg
  /// become registers.
  Status declare_parameters(const std::vector<WrittenParameter>& written);

  /// parse_variables() reads `.param`, `.shared`, `.local`, `.global` or `.const` and what follows.
  Status parse_variables(Space space);

  /// parse_registers() reads `.reg` and what follows.
  Status parse_registers();

 private:
  /// declare_parameter() makes a register of the parameter `id` if it is in .reg.
  Status declare_parameter(SymbolId id, const WrittenParameter& written);

  /// parse_variable() reads one variable of a declaration.
  Status parse_variable(const Symbol& specifiers);

  /// parse_register() reads one register of a declaration, or a range such as `%r<10>`.
  Status parse_register(const Symbol& specifiers);

  TokenStream& tokens_;
  ExpressionParser& expressions_;
  DeclarationParser& declarations_;
  const ModuleBuilder& module_;
  FunctionContext& context_;
};

}  // namespace km::ptx
