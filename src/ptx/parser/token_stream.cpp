#include "ptx/parser/token_stream.h"

#include "ptx/parser/literal.h"
#include "ptx/place.h"

namespace km::ptx {

TokenStream::TokenStream(std::string_view text, std::span<const TextRange> ranges,
                         std::string_view name)
    : name_(name), text_bytes_(0), lexer_(text, ranges) {
  for (const TextRange& range : ranges) text_bytes_ += range.end - range.begin;
  advance();
}

Token TokenStream::peek() const {
  Lexer ahead = lexer_;
  return ahead.next();
}

bool TokenStream::accept(char symbol) {
  if (!token_.is(symbol)) return false;
  advance();
  return true;
}

bool TokenStream::accept_dotted(std::string_view word) {
  if (!token_.is_dotted(word)) return false;
  advance();
  return true;
}

Status TokenStream::expect(char symbol, std::string_view where) {
  if (accept(symbol)) return {};
  return unexpected(std::string("'") + symbol + "' " + std::string(where));
}

Result<Token> TokenStream::take_identifier(std::string_view what) {
  if (token_.kind != Token::Kind::identifier) return unexpected(what);
  Token taken = token_;
  advance();
  return taken;
}

Result<uint64_t> TokenStream::take_integer(uint64_t least, uint64_t most, std::string_view what) {
  const auto value = token_.kind == Token::Kind::integer ? read_integer(token_.text) : std::nullopt;
  if (!value || value->bits < least || value->bits > most) {
    return error_at(token_, std::string(what) + " must be an integer from " +
                                std::to_string(least) + " to " + std::to_string(most) + ", found " +
                                describe(token_));
  }
  advance();
  return value->bits;
}

Token TokenStream::take_mnemonic() {
  Token taken = lexer_.extend_mnemonic(token_);
  advance();
  return taken;
}

Status TokenStream::skip_block(const std::string& problem) {
  const Token open = token_;
  if (!lexer_.skip_block()) return error_at(open, problem);
  advance();
  return {};
}

Error TokenStream::error_at(uint32_t line, uint32_t column, const std::string& message) const {
  return {KM_ERROR_INVALID_PTX, text_place(name_, {line, column}) + ": " + message};
}

Error TokenStream::error_at(const Token& token, const std::string& message) const {
  return error_at(token.line, token.column, message);
}

Error TokenStream::unexpected(std::string_view expected) const {
  if (token_.kind == Token::Kind::bad) {
    return error_at(token_, describe(token_) + ": " + std::string(lexer_.problem()));
  }
  return error_at(token_, "found " + describe(token_) + ", expected " + std::string(expected));
}

}  // namespace km::ptx
