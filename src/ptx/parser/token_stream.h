// TokenStream: the tokens of a text one after another, and errors that name a place in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ptx/parser/lexer.h"

namespace km::ptx {

/// TokenStream holds the current token of a text and makes all errors of the parser.
class TokenStream {
 public:
  /// The first token is the current one; `name` stands in front of each error's place.
  TokenStream(std::string_view text, std::string_view name);

  /// current() is the token that has been read last and not yet taken.
  const Token& current() const { return token_; }

  /// at() tells the kind of the current token, or its one character.
  bool at(Token::Kind kind) const { return token_.kind == kind; }
  bool at(char symbol) const { return token_.is(symbol); }

  /// at_dotted() tells if the current token is `.word`.
  bool at_dotted(std::string_view word) const { return token_.is_dotted(word); }

  /// at_label() tells if a ':' follows the current token.
  bool at_label() const { return lexer_.at_label_colon(); }

  /// at_name() tells if the current token is an identifier that is no constant.
  bool at_name() const { return is_name(token_); }

  /// is_name() tells if a token is an identifier that is no constant.
  static bool is_name(const Token& token) {
    return token.kind == Token::Kind::identifier && token.text != "WARP_SZ";
  }

  /// peek() reads the token after the current one and leaves both where they are.
  Token peek() const;

  /// advance() makes the next token the current one.
  void advance() { token_ = lexer_.next(); }

  /// accept() takes the current token if it is `symbol`, accept_dotted() if it is `.word`.
  bool accept(char symbol);
  bool accept_dotted(std::string_view word);

  /// expect() takes `symbol`, whose lack is an error that says `where` it belongs.
  Status expect(char symbol, std::string_view where);

  /// take_identifier() takes an identifier, which errors call `what`.
  Result<Token> take_identifier(std::string_view what);

  /// take_integer() takes a number as it is written, where PTX has no expression.
  Result<uint64_t> take_integer(uint64_t least, uint64_t most, std::string_view what);

  /// take_mnemonic() takes the current token with the modifiers that follow without a blank.
  Token take_mnemonic();

  /// skip_block() skips a block whose '{' is the current token; a block without an end is the
  /// error `problem`.
  Status skip_block(const std::string& problem);

  /// error_here() is an error at the current token, error_at() at another one, or at a line and a
  /// column.
  Error error_here(const std::string& message) const { return error_at(token_, message); }
  Error error_at(const Token& token, const std::string& message) const;
  Error error_at(uint32_t line, uint32_t column, const std::string& message) const;

  /// unexpected() is the error that the current token is not what was `expected`.
  Error unexpected(std::string_view expected) const;

  /// text_bytes() is the length of the whole text.
  uint64_t text_bytes() const { return text_bytes_; }

 private:
  std::string name_;
  uint64_t text_bytes_;
  Lexer lexer_;
  Token token_;
};

}  // namespace km::ptx
