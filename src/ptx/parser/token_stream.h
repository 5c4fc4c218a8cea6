// The tokens of a text in sequence, and the errors that refer to their positions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ptx/parser/lexer.h"

namespace km::ptx {

/// Holds the current token of a text, and builds all errors of the parser.
class TokenStream {
 public:
  /// Makes the first token of these ranges of the text current; the array must outlive the stream.
  /// Errors begin with `name`.
  TokenStream(std::string_view text, std::span<const TextRange> ranges, std::string_view name);

  /// The token that was read last and is not consumed yet.
  const Token& current() const { return token_; }

  /// True if the current token has this kind, or is this character.
  bool at(Token::Kind kind) const { return token_.kind == kind; }
  bool at(char symbol) const { return token_.is(symbol); }

  /// True if the current token is `.word`.
  bool at_dotted(std::string_view word) const { return token_.is_dotted(word); }

  /// True if a ':' follows the current token, which is then a label.
  bool at_label() const { return lexer_.at_label_colon(); }

  /// True if the current token is an identifier that is not a numeric constant.
  bool at_name() const { return is_name(token_); }

  /// True if a token is an identifier that is not a numeric constant.
  static bool is_name(const Token& token) {
    return token.kind == Token::Kind::identifier && token.text != "WARP_SZ";
  }

  /// The token after the current one, without consuming any.
  Token peek() const;

  /// Consumes the current token.
  void advance() { token_ = lexer_.next(); }

  /// Consumes the current token if it is `symbol`, or `.word`; returns whether it did.
  bool accept(char symbol);
  bool accept_dotted(std::string_view word);

  /// Consumes `symbol`; otherwise the error says `where` it is missing.
  Status expect(char symbol, std::string_view where);

  /// Consumes an identifier, which errors call `what`.
  Result<Token> take_identifier(std::string_view what);

  /// Consumes an integer literal within [least, most], where PTX allows no expression.
  Result<uint64_t> take_integer(uint64_t least, uint64_t most, std::string_view what);

  /// Consumes the current token with the modifiers that follow it without a blank.
  Token take_mnemonic();

  /// Skips a block whose '{' is the current token; `problem` is the error if the block never ends.
  Status skip_block(const std::string& problem);

  /// Errors at the current token, at another token, or at a line and column.
  Error error_here(const std::string& message) const { return error_at(token_, message); }
  Error error_at(const Token& token, const std::string& message) const;
  Error error_at(uint32_t line, uint32_t column, const std::string& message) const;

  /// The error for a current token that is not what was `expected`.
  Error unexpected(std::string_view expected) const;

  /// The length of what is read, to which memory use is kept proportional.
  uint64_t text_bytes() const { return text_bytes_; }

 private:
  std::string name_;
  uint64_t text_bytes_;
  Lexer lexer_;
  Token token_;
};

}  // namespace km::ptx
