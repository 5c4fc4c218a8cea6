// The parser of whole modules.
#pragma once

#include <memory>
#include <optional>
#include <span>
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

/// Parses and verifies ranges of a text as one module.
Result<std::shared_ptr<const Module>> parse_ranges(std::string_view text,
                                                   std::span<const TextRange> ranges,
                                                   std::string_view name);

/// Parses a text; it owns the parsers of its parts.
class ModuleParser {
 public:
  /// Reads these ranges of the text, which must outlive the parser, and so must their array. `name`
  /// appears in errors and becomes the module's name.
  ModuleParser(std::string_view text, std::span<const TextRange> ranges, std::string_view name);

  /// Parses the text. It may be called once.
  Result<std::shared_ptr<Module>> run();

 private:
  /// Parses a directive, a variable or a function at module level.
  Status parse_item();

  /// Parses a variable or a function with its linkage directive.
  Status parse_linked_item();

  /// Parses an optional linkage directive (`.extern`, `.visible` ...).
  Linkage parse_linkage();

  Status parse_variables(Linkage linkage, bool managed);

  /// Parses one declarator of such a declaration, with its size and initial value.
  Status parse_variable(const Symbol& specifiers);

  /// Finds the earlier `.extern` declaration that `symbol` completes; an incompatible one is an
  /// error.
  Result<std::optional<SymbolId>> find_declared(const Symbol& symbol, const Token& name) const;

  Status parse_alias();

  TokenStream tokens_;
  ModuleBuilder module_;
  ExpressionParser expressions_;
  DirectiveParser directives_;
  DeclarationParser declarations_;
  FunctionParser functions_;
};

}  // namespace km::ptx
