// Constant expressions: the operators and precedences of C on 64-bit integers and doubles.
#include "ptx/parser/parser.h"

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

/// Counts how deep expressions nest for as long as it lives.
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

Result<Constant> Parser::parse_constant() {
  DepthGuard guard(expression_depth_);
  if (expression_depth_ > kDeepestExpression) {
    return error_at(token_, "this constant expression is nested too deeply");
  }
  KM_ASSIGN(Constant condition, parse_binary(1));
  if (!accept('?')) return condition;
  KM_ASSIGN(Constant yes, parse_constant());
  KM_TRY(expect(':', "in a conditional expression"));
  KM_ASSIGN(Constant no, parse_constant());
  return condition.is_zero() ? no : yes;
}

Result<Constant> Parser::parse_binary(int least_precedence) {
  KM_ASSIGN(Constant left, parse_unary());
  for (;;) {
    Token op = token_;
    int precedence = precedence_of(op);
    if (precedence < least_precedence || precedence == 0) return left;
    advance();
    KM_ASSIGN(Constant right, parse_binary(precedence + 1));
    auto value = apply(op.text, left, right);
    if (!value) {
      return error_at(op, left.is_float() || right.is_float()
                              ? "operator " + quote(op.text) + " needs integers"
                              : "division by zero in a constant expression");
    }
    left = *value;
  }
}

Result<Constant> Parser::parse_unary() {
  bool is_operator = token_.is('-') || token_.is('+') || token_.is('!') || token_.is('~');
  if (!is_operator) return parse_primary();
  DepthGuard guard(expression_depth_);
  if (expression_depth_ > kDeepestExpression) {
    return error_at(token_, "this constant expression is nested too deeply");
  }
  Token op = token_;
  advance();
  KM_ASSIGN(Constant operand, parse_unary());
  auto value = apply_unary(op.symbol, operand);
  if (!value) return error_at(op, "operator " + quote(op.text) + " needs an integer");
  return *value;
}

Result<Constant> Parser::parse_primary() {
  Token at = token_;
  if (at.kind == Token::Kind::integer || at.kind == Token::Kind::real) {
    bool integer = at.kind == Token::Kind::integer;
    auto value = integer ? read_integer(at.text) : read_real(at.text);
    if (!value) {
      return error_at(at, integer ? quote(at.text) + " is no integer of at most 64 bits"
                                  : quote(at.text) + " is no floating-point number");
    }
    advance();
    return *value;
  }
  if (at.kind == Token::Kind::identifier && at.text == "WARP_SZ") {
    advance();
    return integer_constant(32);
  }
  if (!accept('(')) return unexpected("a constant");
  bool to_signed = token_.is_dotted("s64"), to_unsigned = token_.is_dotted("u64");
  if (to_signed || to_unsigned) {
    advance();
    KM_TRY(expect(')', "after the type of a cast"));
    DepthGuard guard(expression_depth_);
    if (expression_depth_ > kDeepestExpression) return unexpected("a shallower expression");
    KM_ASSIGN(Constant operand, parse_unary());
    return convert_to_integer(operand, to_signed);
  }
  KM_ASSIGN(Constant inner, parse_constant());
  KM_TRY(expect(')', "to close the constant expression"));
  return inner;
}

/// `+4`, `+-8`, `+4*2`, nothing: what may follow a base in an address.
Result<int64_t> Parser::parse_offset() {
  if (!accept('+')) return 0;
  Token at = token_;
  KM_ASSIGN(Constant offset, parse_constant());
  if (offset.is_float()) return error_at(at, "an address offset must be an integer");
  return static_cast<int64_t>(offset.bits);
}

}  // namespace km::ptx
