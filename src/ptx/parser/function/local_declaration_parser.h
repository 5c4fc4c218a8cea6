// The variables, registers and parameters that a body declares.
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

/// Declares all names of one function except its labels.
class LocalDeclarationParser {
 public:
  /// The names are added to `context`; initial values may refer to symbols of `module`.
  LocalDeclarationParser(TokenStream& tokens, ExpressionParser& expressions,
                         DeclarationParser& declarations, const ModuleBuilder& module,
                         FunctionContext& context)
      : tokens_(tokens),
        expressions_(expressions),
        declarations_(declarations),
        module_(module),
        context_(context) {}

  /// Declares the parameters in the outermost scope of the body; parameters in .reg become
  /// registers.
  Status declare_parameters(const std::vector<WrittenParameter>& written);

  /// Parses a declaration in `.param`, `.shared`, `.local`, `.global` or `.const`.
  Status parse_variables(Space space);

  /// Parses a `.reg` declaration.
  Status parse_registers();

 private:
  /// Makes a register of parameter `id` if it is in .reg.
  Status declare_parameter(SymbolId id, const WrittenParameter& written);

  Status parse_variable(const Symbol& specifiers);

  /// Parses one register, or a range such as `%r<10>`.
  Status parse_register(const Symbol& specifiers);

  TokenStream& tokens_;
  ExpressionParser& expressions_;
  DeclarationParser& declarations_;
  const ModuleBuilder& module_;
  FunctionContext& context_;
};

}  // namespace km::ptx
