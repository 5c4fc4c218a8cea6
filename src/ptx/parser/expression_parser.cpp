#include "ptx/parser/expression_parser.h"

#include <string>

namespace km::ptx {
namespace {

constexpr uint32_t kDeepestExpression = 200;

int precedence_of(const Token& token) {
  if (token.kind != Token::Kind::punctuation) return 0;
  std::string_view op = token.text;
  if (op == "*" || op == "/" || op == "%") return 10;
  if (op == "+" || op == "-") return 9;
  if (op == "<<" || op == ">>") return 8;
  if (op == "<" || op == ">" || op == "<=" || op == ">=") return 7;
  if (op == "==" || op == "!=") return 6;
  if (op == "&") return 5;
  if (op == "^") return 4;
  if (op == "|") return 3;
  if (op == "&&") return 2;
  return op == "||" ? 1 : 0;
}

/// Counts the nesting depth of expressions for its lifetime, which bounds the recursion.
class DepthGuard {
 public:
  explicit DepthGuard(uint32_t& depth) : depth_(depth) { ++depth_; }
  ~DepthGuard() { --depth_; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

 private:
  uint32_t& depth_;
};

}  // namespace

Result<Constant> ExpressionParser::parse_constant() {
  DepthGuard guard(depth_);
  if (depth_ > kDeepestExpression) {
    return tokens_.error_here("this constant expression is nested too deeply");
  }
  KM_ASSIGN(Constant condition, parse_binary(1));
  if (!tokens_.accept('?')) return condition;
  KM_ASSIGN(Constant yes, parse_constant());
  KM_TRY(tokens_.expect(':', "in a conditional expression"));
  KM_ASSIGN(Constant no, parse_constant());
  return condition.is_zero() ? no : yes;
}

Result<Constant> ExpressionParser::parse_binary(int least_precedence) {
  KM_ASSIGN(Constant left, parse_unary());
  for (;;) {
    Token op = tokens_.current();
    int precedence = precedence_of(op);
    if (precedence < least_precedence || precedence == 0) return left;
    tokens_.advance();
    KM_ASSIGN(Constant right, parse_binary(precedence + 1));
    auto value = apply(op.text, left, right);
    if (!value) {
      return tokens_.error_at(op, left.is_float() || right.is_float()
                                      ? "operator " + quote(op.text) + " needs integers"
                                      : "division by zero in a constant expression");
    }
    left = *value;
  }
}

Result<Constant> ExpressionParser::parse_unary() {
  bool is_operator = tokens_.at('-') || tokens_.at('+') || tokens_.at('!') || tokens_.at('~');
  if (!is_operator) return parse_primary();
  DepthGuard guard(depth_);
  if (depth_ > kDeepestExpression) {
    return tokens_.error_here("this constant expression is nested too deeply");
  }
  Token op = tokens_.current();
  tokens_.advance();
  KM_ASSIGN(Constant operand, parse_unary());
  auto value = apply_unary(op.symbol, operand);
  if (!value) return tokens_.error_at(op, "operator " + quote(op.text) + " needs an integer");
  return *value;
}

Result<Constant> ExpressionParser::parse_primary() {
  Token at = tokens_.current();
  if (at.kind == Token::Kind::integer || at.kind == Token::Kind::real) {
    bool integer = at.kind == Token::Kind::integer;
    auto value = integer ? read_integer(at.text) : read_real(at.text);
    if (!value) {
      return tokens_.error_at(at, integer ? quote(at.text) + " is not an integer of at most 64 bits"
                                          : quote(at.text) + " is not a floating-point number");
    }
    tokens_.advance();
    return *value;
  }
  if (at.kind == Token::Kind::identifier && at.text == "WARP_SZ") {
    tokens_.advance();
    return integer_constant(32);
  }
  if (!tokens_.accept('(')) return tokens_.unexpected("a constant");
  bool to_signed = tokens_.at_dotted("s64"), to_unsigned = tokens_.at_dotted("u64");
  if (to_signed || to_unsigned) {
    tokens_.advance();
    KM_TRY(tokens_.expect(')', "after the type of a cast"));
    DepthGuard guard(depth_);
    if (depth_ > kDeepestExpression) return tokens_.unexpected("a shallower expression");
    KM_ASSIGN(Constant operand, parse_unary());
    return convert_to_integer(operand, to_signed);
  }
  KM_ASSIGN(Constant inner, parse_constant());
  KM_TRY(tokens_.expect(')', "to close the constant expression"));
  return inner;
}

Result<int64_t> ExpressionParser::parse_offset() {
  if (!tokens_.accept('+')) return 0;
  Token at = tokens_.current();
  KM_ASSIGN(Constant offset, parse_constant());
  if (offset.is_float()) return tokens_.error_at(at, "an address offset must be an integer");
  return static_cast<int64_t>(offset.bits);
}

Result<uint64_t> ExpressionParser::take_number(uint64_t least, uint64_t most,
                                               std::string_view what) {
  Token at = tokens_.current();
  KM_ASSIGN(Constant value, parse_constant());
  bool negative = value.kind == Constant::Kind::s64 && static_cast<int64_t>(value.bits) < 0;
  if (value.is_float() || negative || value.bits < least || value.bits > most) {
    return tokens_.error_at(at, std::string(what) + " must be an integer from " +
                                    std::to_string(least) + " to " + std::to_string(most) +
                                    ", found " + describe(at));
  }
  return value.bits;
}

}  // namespace km::ptx
