// The directives between the signature of a function and its body.
#pragma once

#include <array>
#include <cstdint>

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/parser/declaration/directive_parser.h"
#include "ptx/parser/module_builder.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// True if the token can begin an item at module level, so that a declaration ends before it.
bool begins_module_item(const Token& token);

/// Parses directives such as `.maxntid 256, 1, 1` and `.noreturn`.
class FunctionDirectiveParser {
 public:
  /// The version and target of `module` determine the available directives.
  FunctionDirectiveParser(TokenStream& tokens, DirectiveParser& directives,
                          const ModuleBuilder& module)
      : tokens_(tokens), directives_(directives), module_(module) {}

  /// Parses all directives of a function.
  Status parse(Function& function);

 private:
  /// Parses one directive; false if the current token is none.
  Result<bool> parse_directive(Function& function);

  /// Parses one directive of kernels; false if the current token is none.
  Result<bool> parse_entry_directive(Function& function);

  /// Parses up to three numbers; omitted ones are 1.
  Status parse_dimensions(std::array<uint32_t, 3>& sizes);

  /// Refuses directives that the version or target does not have, and contradictory ones.
  Status check(const Function& function, const Token& at) const;

  TokenStream& tokens_;
  DirectiveParser& directives_;
  const ModuleBuilder& module_;
};

}  // namespace km::ptx
