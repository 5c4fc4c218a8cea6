// The names, parameters and results of functions.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "ptx/ir.h"
#include "ptx/parser/declaration/declaration_parser.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// The written form of a parameter, for each symbol of a signature. A parameter that is a vector of
/// registers has one symbol per component.
struct WrittenParameter {
  Token name;
  // Number of components of the vector that begins here; 0: a later component.
  uint8_t components = 1;
};

/// Parses the signatures of functions and of call prototypes.
class SignatureParser {
 public:
  /// `declarations` parses each parameter.
  SignatureParser(TokenStream& tokens, DeclarationParser& declarations)
      : tokens_(tokens), declarations_(declarations) {}

  /// Parses `(results) name (parameters)` and returns the name. `written` gets one entry per symbol
  /// of the function.
  Result<Token> parse(Function& function, std::vector<WrittenParameter>& written);

  /// Parses `(parameters)` of a prototype.
  Result<std::vector<Symbol>> parse_unnamed();

 private:
  /// Parses a list whose '(' is the current token; the symbols' ids go to `list`.
  Status parse_parameters(Function& function, std::vector<SymbolId>& list,
                          std::vector<WrittenParameter>& written);

  Status parse_parameter(Function& function, std::vector<SymbolId>& list,
                         std::vector<WrittenParameter>& written);

  /// Refuses declarations that are not allowed as a parameter of `function`.
  Status check_parameter(const Function& function, const Symbol& symbol, const Token& name) const;

  TokenStream& tokens_;
  DeclarationParser& declarations_;
};

}  // namespace km::ptx
