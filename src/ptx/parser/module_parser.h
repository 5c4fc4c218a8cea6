// ModuleParser: text to Module.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/parser/declaration/declaration_parser.h"
#include "ptx/parser/declaration/directive_parser.h"
#include "ptx/parser/expression_parser.h"
#include "ptx/parser/function/function_parser.h"
#include "ptx/parser/module_builder.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// ModuleParser reads a whole text and owns the parsers of its parts.
class ModuleParser {
 public:
  /// The text must outlive the parser; `name` stands in errors and is the module's.
  ModuleParser(std::string_view text, std::string_view name);

  /// run() reads the text, once.
  Result<std::shared_ptr<Module>> run();

 private:
  /// parse_item() reads what stands at module level: a directive, a variable or a function.
  Status parse_item();

  /// parse_linked_item() reads a variable or a function with the linkage before it.
  Status parse_linked_item();

  /// parse_linkage() reads `.extern` and its like, or nothing.
  Linkage parse_linkage();

  /// parse_variables() reads the declaration of one or more variables.
  Status parse_variables(Linkage linkage, bool managed);

  /// parse_variable() reads a name of such a declaration, with its size and initial value.
  Status parse_variable(const Symbol& specifiers);

  /// find_declared() finds an earlier `.extern` declaration that `symbol` may follow.
  Result<std::optional<SymbolId>> find_declared(const Symbol& symbol, const Token& name) const;

  /// parse_alias() reads `.alias`.
  Status parse_alias();

  TokenStream tokens_;
  ModuleBuilder module_;
  ExpressionParser expressions_;
  DirectiveParser directives_;
  DeclarationParser declarations_;
  FunctionParser functions_;
};

}  // namespace km::ptx
