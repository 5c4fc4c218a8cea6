// Splits PTX text into tokens on demand. Tokens are views of the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace km::ptx {

struct Token {
  enum class Kind : uint8_t {
    end,
    identifier,  // %r1, foo, $L__BB0_1, _
    dotted,      // .reg, .x, .shared::cta; text without the dot
    integer,
    real,
    string,  // text without the quotes
    punctuation,
    bad,  // `text` cannot be read; problem() has the reason
  };
  Kind kind = Kind::end;
  char symbol = 0;  // punctuation: its first character; `text` has two-character operators
  std::string_view text;
  uint32_t line = 1, column = 1;

  bool is(char c) const { return kind == Kind::punctuation && symbol == c && text.size() == 1; }
  bool is(std::string_view operator_text) const {
    return kind == Kind::punctuation && text == operator_text;
  }
  bool is_dotted(std::string_view word) const { return kind == Kind::dotted && text == word; }
};

/// "'foo'" or "end of file", for messages.
std::string describe(const Token& token);

/// Quotes any text, shortened and with unprintable characters escaped.
std::string quote(std::string_view text);

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next();

  /// True if the next token is a ':' that is not part of '::', so that the token before it is a
  /// label.
  bool at_label_colon() const;

  /// Extends `token`, the first word of an instruction, which was just read, over its modifiers.
  Token extend_mnemonic(const Token& token);

  /// Skips past the '}' that closes a '{' just read; false if the text ends first.
  bool skip_block();

  /// The reason why the last `bad` token is bad.
  std::string_view problem() const { return problem_; }

 private:
  void skip_blanks();
  void skip_line();
  bool skip_comment();
  Token make(Token::Kind kind, size_t begin, size_t end);
  Token fail(size_t begin, size_t end, std::string_view problem);
  Token lex_identifier();
  Token lex_dotted();
  Token lex_number();
  Token lex_string();
  Token lex_punctuation();
  char at(size_t position) const { return position < text_.size() ? text_[position] : '\0'; }

  std::string_view text_;
  std::string_view problem_;
  size_t position_ = 0;
  size_t line_start_ = 0;
  uint32_t line_ = 1;
  bool unterminated_comment_ = false;
};

}  // namespace km::ptx
