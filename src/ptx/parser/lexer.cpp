#include "ptx/parser/lexer.h"

#include <algorithm>
#include <array>

namespace km::ptx {
namespace {

enum : uint8_t { kDigit = 1, kWordStart = 2, kWord = 4, kHex = 8, kSpace = 16, kNesting = 32 };

constexpr std::array<uint8_t, 256> make_classes() {
  std::array<uint8_t, 256> table{};
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = kDigit | kWord | kHex;
  for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = kWordStart | kWord;
  for (unsigned c = 'A'; c <= 'Z'; ++c) table[c] = kWordStart | kWord;
  for (unsigned c = 'a'; c <= 'f'; ++c) table[c] |= kHex;
  for (unsigned c = 'A'; c <= 'F'; ++c) table[c] |= kHex;
  table['_'] = table['$'] = kWordStart | kWord;
  table['%'] = kWordStart;
  for (unsigned char c : {' ', '\t', '\r', '\n', '\f', '\v'}) table[c] = kSpace;
  // Braces, and the beginnings of all that may hide one.
  for (unsigned char c : {'{', '}', '"', '/', '#'}) table[c] |= kNesting;
  return table;
}

constexpr auto kClasses = make_classes();

bool is_class(char c, uint8_t mask) { return kClasses[static_cast<unsigned char>(c)] & mask; }

}  // namespace

std::string quote(std::string_view text) {
  constexpr size_t kLongest = 48;
  std::string out = "'";
  for (char c : text.substr(0, kLongest)) {
    auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      constexpr std::string_view kDigits = "0123456789abcdef";
      out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out + (text.size() > kLongest ? "...'" : "'");
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case Token::Kind::end:
      return "the end of the text";
    case Token::Kind::dotted:
      return quote("." + std::string(token.text.substr(0, 64)));
    case Token::Kind::string:
      return "a string";
    default:
      return quote(token.text);
  }
}

Lexer::Lexer(std::string_view text, std::span<const TextRange> ranges)
    : whole_(text), ranges_(ranges) {
  begin_range();
}

/// Goes to the next range; false if there is none.
bool Lexer::begin_range() {
  if (ranges_.empty()) return false;
  const TextRange& range = ranges_.front();
  ranges_ = ranges_.subspan(1);
  text_ = whole_.substr(0, range.end);
  position_ = range.begin;
  line_ = range.line;
  line_start_ = range.begin - (range.column - 1);
  return true;
}

Token Lexer::make(Token::Kind kind, size_t begin, size_t end) {
  Token token;
  token.kind = kind;
  token.text = text_.substr(begin, end - begin);
  token.line = line_;
  token.column = static_cast<uint32_t>(begin - line_start_ + 1);
  token.symbol = begin < text_.size() ? text_[begin] : '\0';
  position_ = end;
  return token;
}

Token Lexer::fail(size_t begin, size_t end, std::string_view problem) {
  problem_ = problem;
  return make(Token::Kind::bad, begin, std::min(end, text_.size()));
}

void Lexer::skip_line() {
  size_t end = text_.find('\n', position_);
  position_ = std::min(end, text_.size());
}

bool Lexer::skip_comment() {
  size_t end = text_.find("*/", position_ + 2);
  if (end == std::string_view::npos) return false;
  for (size_t i = text_.find('\n', position_); i < end; i = text_.find('\n', i + 1)) {
    ++line_;
    line_start_ = i + 1;
  }
  position_ = end + 2;
  return true;
}

void Lexer::skip_blanks() {
  while (position_ < text_.size()) {
    char c = text_[position_];
    if (c == '\n') {
      ++line_;
      line_start_ = ++position_;
    } else if (is_class(c, kSpace)) {
      ++position_;
    } else if (c == '/' && at(position_ + 1) == '/') {
      skip_line();
    } else if (c == '/' && at(position_ + 1) == '*') {
      unterminated_comment_ = !skip_comment();
      if (unterminated_comment_) return;
    } else if (c == '#' && position_ == line_start_) {
      skip_line();  // a line marker left by a preprocessor
    } else {
      return;
    }
  }
}

Token Lexer::next() {
  skip_blanks();
  if (unterminated_comment_) return fail(position_, position_ + 2, "this comment has no end");
  if (position_ >= text_.size()) {
    if (begin_range()) return next();
    return make(Token::Kind::end, text_.size(), text_.size());
  }
  char c = text_[position_];
  if (c == '%' && !is_class(at(position_ + 1), kWord)) return lex_punctuation();
  if (is_class(c, kWordStart)) return lex_identifier();
  if (is_class(c, kDigit)) return lex_number();
  if (c == '.') return is_class(at(position_ + 1), kDigit) ? lex_number() : lex_dotted();
  if (c == '"') return lex_string();
  return lex_punctuation();
}

Token Lexer::lex_identifier() {
  size_t end = position_ + 1;
  while (is_class(at(end), kWord)) ++end;
  return make(Token::Kind::identifier, position_, end);
}

Token Lexer::lex_dotted() {
  size_t begin = position_, end = begin + 1;
  while (is_class(at(end), kWord) ||
         (at(end) == ':' && at(end + 1) == ':' && is_class(at(end + 2), kWord))) {
    end += at(end) == ':' ? 2 : 1;
  }
  if (end == begin + 1) return fail(begin, end, "a word is missing after the dot");
  Token token = make(Token::Kind::dotted, begin, end);
  token.text.remove_prefix(1);
  return token;
}

Token Lexer::lex_number() {
  size_t begin = position_, end = begin;
  char second = at(begin + 1);
  bool bits =
      at(begin) == '0' && (second == 'f' || second == 'F' || second == 'd' || second == 'D');
  if (bits) {
    end = begin + 2;
    while (is_class(at(end), kHex)) ++end;
    size_t digits = second == 'f' || second == 'F' ? 8 : 16;
    if (end - begin - 2 != digits || is_class(at(end), kWord)) {
      while (is_class(at(end), kWord)) ++end;
      return fail(begin, end,
                  digits == 8 ? "0f needs 8 hexadecimal digits" : "0d needs 16 hexadecimal digits");
    }
    return make(Token::Kind::real, begin, end);
  }
  bool hex = at(begin) == '0' && (second == 'x' || second == 'X');
  while (is_class(at(end), kWord)) ++end;
  bool real = false;
  if (!hex) {
    size_t exponent = text_.substr(begin, end - begin).find_first_of("eE");
    real = exponent != std::string_view::npos;
    if (at(end) == '.') {
      real = true;
      for (++end; is_class(at(end), kWord);) ++end;
    }
    bool signed_exponent =
        real && (at(end - 1) == 'e' || at(end - 1) == 'E') && (at(end) == '+' || at(end) == '-');
    if (signed_exponent) {
      for (++end; is_class(at(end), kDigit);) ++end;
    }
  }
  return make(real ? Token::Kind::real : Token::Kind::integer, begin, end);
}

Token Lexer::lex_string() {
  size_t end = position_ + 1;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') {
    end += text_[end] == '\\' && end + 1 < text_.size() && text_[end + 1] != '\n' ? 2 : 1;
  }
  if (at(end) != '"') return fail(position_, end, "this string has no end on its line");
  Token token = make(Token::Kind::string, position_, end + 1);
  token.text = token.text.substr(1, token.text.size() - 2);
  return token;
}

Token Lexer::lex_punctuation() {
  constexpr std::string_view kSingle = "(){}[]<>,;:=+-*/%!~&|^?@";
  constexpr std::array<std::string_view, 8> kDouble = {
      "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
  std::string_view pair = text_.substr(position_, 2);
  if (std::find(kDouble.begin(), kDouble.end(), pair) != kDouble.end()) {
    return make(Token::Kind::punctuation, position_, position_ + 2);
  }
  if (kSingle.find(text_[position_]) == std::string_view::npos) {
    return fail(position_, position_ + 1, "this character has no meaning in PTX");
  }
  return make(Token::Kind::punctuation, position_, position_ + 1);
}

bool Lexer::at_label_colon() const {
  if (at(position_) == ':') return at(position_ + 1) != ':';
  if (!is_class(at(position_), kSpace) && at(position_) != '/') return false;
  Lexer ahead = *this;
  ahead.skip_blanks();
  return ahead.at(ahead.position_) == ':' && ahead.at(ahead.position_ + 1) != ':';
}

Token Lexer::extend_mnemonic(const Token& token) {
  auto begin = static_cast<size_t>(token.text.data() - text_.data());
  size_t end = position_;
  while (at(end) == '.' || is_class(at(end), kWord) || (at(end) == ':' && at(end + 1) == ':')) {
    end += at(end) == ':' ? 2 : 1;
  }
  Token extended = token;
  extended.text = text_.substr(begin, end - begin);
  position_ = end;
  return extended;
}

bool Lexer::skip_block() {
  for (size_t depth = 1; depth > 0;) {
    Token token = next();
    if (token.kind == Token::Kind::end || token.kind == Token::Kind::bad) return false;
    if (token.is('{')) ++depth;
    if (token.is('}')) --depth;
  }
  return true;
}

void Lexer::move_to(size_t end) {
  const std::string_view passed = text_.substr(position_, end - position_);
  line_ += static_cast<uint32_t>(std::count(passed.begin(), passed.end(), '\n'));
  const size_t last = passed.rfind('\n');
  if (last != std::string_view::npos) line_start_ = position_ + last + 1;
  position_ = end;
}

/// Skips past the end of the string that begins here; false if it has none.
bool Lexer::skip_string() {
  const Token token = lex_string();
  return token.kind != Token::Kind::bad;
}

/// Moves to the next brace that is not part of a string, a comment or a line marker; false if the
/// text ends first.
bool Lexer::skip_to_brace() {
  for (;;) {
    size_t end = position_;
    while (end < text_.size() && !is_class(text_[end], kNesting)) ++end;
    move_to(end);
    if (end == text_.size()) return false;
    const char c = text_[end];
    if (c == '{' || c == '}') return true;
    if (c == '"') {
      if (!skip_string()) return false;
    } else if (c == '/' && at(end + 1) == '*') {
      if (!skip_comment()) return false;
    } else if ((c == '/' && at(end + 1) == '/') || (c == '#' && end == line_start_)) {
      skip_line();
    } else {
      ++position_;
    }
  }
}

bool Lexer::skip_body() {
  for (size_t depth = 1; depth > 0; ++position_) {
    if (!skip_to_brace()) return false;
    depth = text_[position_] == '{' ? depth + 1 : depth - 1;
  }
  return true;
}

}  // namespace km::ptx
