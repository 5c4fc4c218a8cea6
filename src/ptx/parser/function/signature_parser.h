// SignatureParser: the name, parameters and results of a function.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/parser/declaration/declaration_parser.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// WrittenParameter tells how a parameter was written, for each symbol of a signature. A parameter
/// that is a vector of registers has a symbol for each component.
struct WrittenParameter {
  Token name;
  uint8_t components = 1;  // of the vector that begins here; 0: a later component of one
};

/// SignatureParser reads signatures of functions, and of prototypes of calls.
class SignatureParser {
 public:
  /// `declarations` reads each parameter.
  SignatureParser(TokenStream& tokens, DeclarationParser& declarations)
      : tokens_(tokens), declarations_(declarations) {}

  /// parse() reads `(results) name (parameters)` and returns the name. The parameters as written
  /// go to `written`, one for each of the function's symbols.
  Result<Token> parse(Function& function, std::vector<WrittenParameter>& written);

  /// parse_unnamed() reads `(parameters)` of a prototype.
  Result<std::vector<Symbol>> parse_unnamed();

 private:
  /// parse_parameters() reads a list whose '(' is the current token; `list` gets its symbols' ids.
  Status parse_parameters(Function& function, std::vector<SymbolId>& list,
                          std::vector<WrittenParameter>& written);

  /// parse_parameter() reads one parameter.
  Status parse_parameter(Function& function, std::vector<SymbolId>& list,
                         std::vector<WrittenParameter>& written);

  /// check_parameter() refuses what can be declared, but not as a parameter of `function`.
  Status check_parameter(const Function& function, const Symbol& symbol, const Token& name) const;

  TokenStream& tokens_;
  DeclarationParser& declarations_;
};

}  // namespace km::ptx
