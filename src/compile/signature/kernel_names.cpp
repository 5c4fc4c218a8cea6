#include "compile/signature/kernel_names.h"

#include <algorithm>
#include <cctype>

namespace km {
namespace {

bool starts_word(char letter) {
  return std::isalpha(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}
bool is_in_word(char letter) {
  return starts_word(letter) || std::isdigit(static_cast<unsigned char>(letter)) != 0;
}

/// Tokens of CUDA C++: words, texts in quotes, single characters. Comments, blanks and directives
/// are left out.
class Tokens {
 public:
  explicit Tokens(std::string_view source) : left_(source) {}
  /// The next token; empty at the end.
  std::string_view next();

 private:
  bool skip_blank();
  bool skip_comment();
  bool skip_directive();
  /// To the end of the line, which goes on after a backslash.
  void skip_line();
  std::string_view take(size_t size) {
    is_line_start_ = false;
    size = std::min(size, left_.size());
    const std::string_view token = left_.substr(0, size);
    left_.remove_prefix(size);
    return token;
  }
  size_t quoted_size() const;
  size_t raw_size(size_t prefix) const;

  std::string_view left_;
  bool is_line_start_ = true;
};

bool Tokens::skip_blank() {
  if (left_.empty() || std::isspace(static_cast<unsigned char>(left_[0])) == 0) return false;
  is_line_start_ |= left_[0] == '\n';
  left_.remove_prefix(1);
  return true;
}

void Tokens::skip_line() {
  size_t end = left_.find('\n');
  while (end != std::string_view::npos && end > 0 && left_[end - 1] == '\\') {
    end = left_.find('\n', end + 1);
  }
  left_.remove_prefix(std::min(end, left_.size()));
}

bool Tokens::skip_comment() {
  if (left_.starts_with("//")) {
    skip_line();
    return true;
  }
  if (!left_.starts_with("/*")) return false;
  const size_t end = left_.find("*/", 2);
  left_.remove_prefix(end == std::string_view::npos ? left_.size() : end + 2);
  return true;
}

bool Tokens::skip_directive() {
  if (!is_line_start_ || left_.empty() || left_[0] != '#') return false;
  skip_line();
  return true;
}

/// The size of the text or character in quotes that the rest begins with.
size_t Tokens::quoted_size() const {
  const char quote = left_[0];
  size_t end = 1;
  while (end < left_.size() && left_[end] != quote && left_[end] != '\n') {
    end += left_[end] == '\\' ? 2 : 1;
  }
  return end + 1;
}

/// The size of R"delimiter(...)delimiter", after a word of `prefix` letters.
size_t Tokens::raw_size(size_t prefix) const {
  const size_t open = left_.find('(', prefix);
  if (open == std::string_view::npos) return left_.size();
  const std::string close = ')' + std::string(left_.substr(prefix + 1, open - prefix - 1)) + '"';
  const size_t end = left_.find(close, open);
  return end == std::string_view::npos ? left_.size() : end + close.size();
}

std::string_view Tokens::next() {
  while (skip_blank() || skip_comment() || skip_directive()) {
  }
  if (left_.empty()) return {};
  if (left_[0] == '"' || left_[0] == '\'') return take(quoted_size());
  if (!is_in_word(left_[0])) return take(1);
  const bool is_number = !starts_word(left_[0]);
  size_t size = 1;  // 1'000 is one number
  while (size < left_.size() && (is_in_word(left_[size]) || (is_number && left_[size] == '\''))) {
    ++size;
  }
  const bool is_raw = left_[size - 1] == 'R' && size < left_.size() && left_[size] == '"';
  return take(is_raw ? raw_size(size) : size);
}

/// The brackets that a place lies in, and the declaration that it is part of.
class Scanner {
 public:
  explicit Scanner(std::string_view source) : tokens_(source) {}
  std::vector<KernelName> scan();

 private:
  struct Scope {
    std::string name;  // of a namespace
    bool is_code;      // a function or type: no kernel is declared in it
    bool is_c;
  };

  void open();
  void close();
  void start_declaration();
  void read_word(std::string_view word);
  void skip_parentheses();
  void note_kernel();
  bool is_in_code() const { return !scopes_.empty() && scopes_.back().is_code; }
  bool is_c() const { return is_c_declaration_ || (!scopes_.empty() && scopes_.back().is_c); }

  Tokens tokens_;
  std::vector<Scope> scopes_;
  std::vector<KernelName> found_;
  std::string last_word_;
  std::string namespace_;
  bool is_kernel_ = false, is_namespace_ = false, is_template_ = false, is_extern_ = false;
  bool is_c_declaration_ = false;
};

void Scanner::start_declaration() {
  last_word_.clear();
  namespace_.clear();
  is_kernel_ = is_namespace_ = is_template_ = is_extern_ = is_c_declaration_ = false;
}

void Scanner::open() {
  const bool is_linkage = is_c_declaration_ && last_word_.empty();
  scopes_.push_back({is_namespace_ ? namespace_ : std::string(),
                     is_in_code() || (!is_namespace_ && !is_linkage), is_c()});
  start_declaration();
}

void Scanner::close() {
  if (!scopes_.empty()) scopes_.pop_back();
  start_declaration();
}

void Scanner::note_kernel() {
  // __launch_bounds__ and attributes have parentheses, too.
  const bool is_attribute = last_word_.empty() || last_word_.starts_with("__launch_bounds__") ||
                            last_word_ == "__attribute__" || last_word_ == "__cluster_dims__" ||
                            last_word_ == "__block_size__" || last_word_ == "__maxnreg__";
  if (is_attribute || !is_kernel_ || is_template_ || !is_c() || is_in_code()) return;
  KernelName name{.qualified = "", .plain = last_word_};
  for (const Scope& scope : scopes_) {
    if (!scope.name.empty()) name.qualified += scope.name + "::";
  }
  name.qualified += name.plain;
  if (std::find(found_.begin(), found_.end(), name) == found_.end()) found_.push_back(name);
  is_kernel_ = false;
}

void Scanner::skip_parentheses() {
  size_t depth = 1;
  while (depth > 0) {
    const std::string_view token = tokens_.next();
    if (token.empty()) return;
    if (token == "(") ++depth;
    if (token == ")") --depth;
  }
}

void Scanner::read_word(std::string_view word) {
  if (is_namespace_ && word != "inline") {
    namespace_ += (namespace_.empty() ? "" : "::") + std::string(word);
  }
  is_kernel_ |= word == "__global__";
  is_namespace_ |= word == "namespace";
  is_template_ |= word == "template";
  is_extern_ |= word == "extern";
  if (!is_extern_ || word != "extern") last_word_ = word;
}

std::vector<KernelName> Scanner::scan() {
  for (std::string_view token = tokens_.next(); !token.empty(); token = tokens_.next()) {
    if (token == "{") {
      open();
    } else if (token == "}") {
      close();
    } else if (token == ";") {
      start_declaration();
    } else if (token == "(") {
      note_kernel();
      skip_parentheses();
    } else if (token == "\"C\"" && is_extern_) {
      is_c_declaration_ = true;
    } else if (is_in_word(token[0])) {
      read_word(token);
    }
  }
  return std::move(found_);
}

}  // namespace

std::vector<KernelName> find_c_kernels(std::string_view source) {
  // Most sources have none: they need no look at each token.
  if (source.find("extern") == std::string_view::npos) return {};
  return Scanner(source).scan();
}

}  // namespace km
