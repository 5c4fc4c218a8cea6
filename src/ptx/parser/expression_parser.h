// Constant expressions: the operators and precedences of C on 64-bit integers and doubles.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "ptx/parser/literal.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// ExpressionParser reads constant expressions and bounds how deep they nest.
class ExpressionParser {
 public:
  /// The expressions are those of `tokens`, which must outlive the parser.
  explicit ExpressionParser(TokenStream& tokens) : tokens_(tokens) {}

  /// parse_constant() reads an expression.
  Result<Constant> parse_constant();

  /// parse_offset() reads `+4`, `+-8`, `+4*2` or nothing: the rest of an address after its base.
  Result<int64_t> parse_offset();

  /// take_number() reads an expression that is an integer in a range; errors call it `what`.
  Result<uint64_t> take_number(uint64_t least, uint64_t most, std::string_view what);

 private:
  /// parse_binary() reads operators that bind at least as tightly as `least_precedence`.
  Result<Constant> parse_binary(int least_precedence);

  /// parse_unary() reads an operand with the operators before it.
  Result<Constant> parse_unary();

  /// parse_primary() reads a number, a cast or an expression in brackets.
  Result<Constant> parse_primary();

  TokenStream& tokens_;
  uint32_t depth_ = 0;
};

}  // namespace km::ptx
