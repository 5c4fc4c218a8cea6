// Cuts PTX text into pieces, for edits that need no parsed module.
#pragma once

#include <algorithm>
#include <cctype>
#include <string_view>

namespace km::toolchain {

/// True for a character of names and directives.
inline bool is_name(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '$' ||
         letter == '%';
}
inline bool is_digit(char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; }

inline bool is_comment(std::string_view piece) {
  return piece.starts_with("//") || piece.starts_with("/*");
}
inline bool is_blank(std::string_view piece) {
  return is_comment(piece) || (piece.size() == 1 && std::isspace(piece[0]) != 0);
}

/// Splits a text into comments, strings, names and single characters.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}
  bool at_end() const { return at_ >= text_.size(); }
  /// The offset of the next piece.
  size_t position() const { return at_; }

  std::string_view next() {
    const size_t begin = at_;
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (rest.starts_with("/*")) {
      const size_t end = text_.find("*/", at_ + 2);
      at_ = end == text_.npos ? text_.size() : end + 2;
    } else if (rest[0] == '"') {
      const size_t end = text_.find('"', at_ + 1);
      at_ = end == text_.npos ? text_.size() : end + 1;
    } else if (is_name(rest[0]) || (rest[0] == '.' && rest.size() > 1 && is_name(rest[1]))) {
      ++at_;
      while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    } else {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }
  std::string_view rest_of_line() {
    const size_t begin = at_;
    at_ = std::min(text_.find('\n', at_), text_.size());
    return text_.substr(begin, at_ - begin);
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace km::toolchain
