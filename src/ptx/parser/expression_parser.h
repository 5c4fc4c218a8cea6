// Constant expressions with the operators and precedences of C, on 64-bit integers and doubles.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "ptx/parser/literal.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// A recursive-descent parser of constant expressions with a bounded nesting depth.
class ExpressionParser {
 public:
  /// The expressions are read from `tokens`, which must outlive the parser.
  explicit ExpressionParser(TokenStream& tokens) : tokens_(tokens) {}

  /// A whole expression. The token after it becomes the current one, here and below.
  Result<Constant> parse_constant();

  /// The offset of an address after its base: `+4`, `+-8`, `+4*2` or nothing (0).
  Result<int64_t> parse_offset();

  /// An integer expression within [least, most]; errors call it `what`.
  Result<uint64_t> take_number(uint64_t least, uint64_t most, std::string_view what);

 private:
  /// Binary operators of at least precedence `least_precedence` (precedence climbing).
  Result<Constant> parse_binary(int least_precedence);

  /// An operand with its prefix operators.
  Result<Constant> parse_unary();

  /// A number, a cast or an expression in parentheses.
  Result<Constant> parse_primary();

  TokenStream& tokens_;
  uint32_t depth_ = 0;
};

}  // namespace km::ptx
