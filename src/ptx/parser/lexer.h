// Splits PTX text into tokens on demand. Tokens are views of the text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ptx/parser/text_range.h"

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
  explicit Lexer(std::string_view text) : whole_(text), text_(text) {}

  /// Reads these ranges of the text, one after the other, as if nothing lay between them. The array
  /// must outlive the lexer.
  Lexer(std::string_view text, std::span<const TextRange> ranges);

  Token next();

  /// True if the next token is a ':' that is not part of '::', so that the token before it is a
  /// label.
  bool at_label_colon() const;

  /// Extends `token`, the first word of an instruction, which was just read, over its modifiers.
  Token extend_mnemonic(const Token& token);

  /// Skips past the '}' that closes a '{' just read; false if the text ends first.
  bool skip_block();

  /// Skips past the '}' that closes a '{' just read without looking at the words between them, at
  /// the speed of a search; false if the text ends first.
  bool skip_body();

  /// The number of bytes before the next token, or before the blanks that precede it.
  size_t position() const { return position_; }

  /// The reason why the last `bad` token is bad.
  std::string_view problem() const { return problem_; }

 private:
  bool begin_range();
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

  bool skip_string();
  bool skip_to_brace();
  void move_to(size_t end);

  std::string_view whole_;
  std::span<const TextRange> ranges_;  // those that are still to be read
  std::string_view text_;              // up to the end of the current range
  std::string_view problem_;
  size_t position_ = 0;
  size_t line_start_ = 0;
  uint32_t line_ = 1;
  bool unterminated_comment_ = false;
};

}  // namespace km::ptx
