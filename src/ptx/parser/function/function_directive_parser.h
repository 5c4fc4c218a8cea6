// FunctionDirectiveParser: the directives between the signature of a function and its body.
#pragma once

#include <array>
#include <cstdint>

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/parser/declaration/directive_parser.h"
#include "ptx/parser/module_builder.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// begins_module_item() tells if the token begins an item at module level.
bool begins_module_item(const Token& token);

/// FunctionDirectiveParser reads directives such as `.maxntid 256, 1, 1` and `.noreturn`.
class FunctionDirectiveParser {
 public:
  /// The version and target of `module` say which directives there are.
  FunctionDirectiveParser(TokenStream& tokens, DirectiveParser& directives,
                          const ModuleBuilder& module)
      : tokens_(tokens), directives_(directives), module_(module) {}

  /// parse() reads all directives of a function.
  Status parse(Function& function);

 private:
  /// parse_directive() reads one directive; false if there is none.
  Result<bool> parse_directive(Function& function);

  /// parse_entry_directive() reads one that kernels have; false if it is none.
  Result<bool> parse_entry_directive(Function& function);

  /// parse_dimensions() reads up to three numbers; those left out are 1.
  Status parse_dimensions(std::array<uint32_t, 3>& sizes);

  /// check() refuses directives that the version or the target does not know, or that contradict
  /// each other.
  Status check(const Function& function, const Token& at) const;

  TokenStream& tokens_;
  DirectiveParser& directives_;
  const ModuleBuilder& module_;
};

}  // namespace km::ptx
