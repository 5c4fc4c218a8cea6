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

/// Splits CUDA C++ into words, quoted texts and single characters; skips comments, blanks and
/// directives.
class Tokens {
 public:
  explicit Tokens(std::string_view source) : left_(source) {}
  /// The next token; empty at the end.
  std::string_view next();

 private:
  bool skip_blank();
  bool skip_comment();
  bool skip_directive();
  /// Skips to the end of the line, including lines continued by a backslash.
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

/// The size of the quoted text or character at the front.
size_t Tokens::quoted_size() const {
  const char quote = left_[0];
  size_t end = 1;
  while (end < left_.size() && left_[end] != quote && left_[end] != '\n') {
    end += left_[end] == '\\' ? 2 : 1;
  }
  return end + 1;
}

/// The size of R"delimiter(...)delimiter" at the front, after a word of `prefix` letters.
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

/// Tracks the enclosing brackets and the declaration at the current token.
class Scanner {
 public:
  explicit Scanner(std::string_view source) : tokens_(source) {}
  std::vector<KernelName> scan();
  /// The kernels found; to be called once, after the scan.
  std::vector<KernelParameters> take_parameters() { return std::move(parameters_); }

 private:
  struct Scope {
    std::string name;  // name of a namespace
    bool is_code;      // a function or type, in which no kernel is declared
    bool is_c;
  };

  void open();
  void close();
  void start_declaration();
  void read_word(std::string_view word);
  void skip_parentheses();
  bool is_kernel_declaration() const;
  std::string qualified_name() const;
  void note_kernel();
  void read_parameters();
  bool is_in_code() const { return !scopes_.empty() && scopes_.back().is_code; }
  bool is_c() const { return is_c_declaration_ || (!scopes_.empty() && scopes_.back().is_c); }

  Tokens tokens_;
  std::vector<Scope> scopes_;
  std::vector<KernelName> found_;
  std::vector<KernelParameters> parameters_;
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

bool Scanner::is_kernel_declaration() const {
  // __launch_bounds__ and attributes also have parentheses, which are not parameters.
  const bool is_attribute = last_word_.empty() || last_word_.starts_with("__launch_bounds__") ||
                            last_word_ == "__attribute__" || last_word_ == "__cluster_dims__" ||
                            last_word_ == "__block_size__" || last_word_ == "__maxnreg__";
  return is_kernel_ && !is_attribute && !is_in_code();
}

std::string Scanner::qualified_name() const {
  std::string name;
  for (const Scope& scope : scopes_) {
    if (!scope.name.empty()) name += scope.name + "::";
  }
  return name + last_word_;
}

void Scanner::note_kernel() {
  if (is_template_ || !is_c()) return;
  const KernelName name{.qualified = qualified_name(), .plain = last_word_};
  if (std::find(found_.begin(), found_.end(), name) == found_.end()) found_.push_back(name);
}

/// Collects the tokens of one parameter.
class Parameter {
 public:
  void add(std::string_view token) {
    if (has_value_) return;
    if (token == "=") {
      has_value_ = true;
    } else if (token == "[") {
      ++brackets_;
    } else if (token == "]") {
      --brackets_;
    } else if (token == "*" || token == "&") {
      name_.clear();
      has_pointer_ = true;
    } else if (brackets_ == 0 && starts_word(token[0])) {
      add_word(token);
    }
    was_colon_ = token == ":";
  }
  /// The parameter's name; empty if it has none.
  std::string name() const { return has_pointer_ || type_words_ > 1 ? name_ : std::string(); }
  bool is_empty() const { return type_words_ == 0 && !has_pointer_; }

 private:
  void add_word(std::string_view word) {
    constexpr std::string_view kQualifiers[] = {
        "const",  "volatile", "__restrict__",     "__restrict",
        "struct", "typename", "__grid_constant__"};
    constexpr std::string_view kTypes[] = {"unsigned", "signed", "int",    "char", "short",
                                           "long",     "float",  "double", "bool", "void"};
    const auto is_in = [&](const auto& list) {
      return std::find(std::begin(list), std::end(list), word) != std::end(list);
    };
    if (is_in(kQualifiers)) return;
    name_.clear();
    if (!was_colon_) ++type_words_;
    if (!is_in(kTypes) && !was_colon_) name_ = word;
  }

  std::string name_;
  size_t type_words_ = 0;  // including the name
  int brackets_ = 0;
  bool has_pointer_ = false, was_colon_ = false, has_value_ = false;
};

/// Reads the parameters up to the closing parenthesis. Function pointers and packs are not
/// supported.
void Scanner::read_parameters() {
  KernelParameters kernel{qualified_name(), {}};
  Parameter parameter;
  size_t depth = 1, angles = 0;
  bool is_clear = true;
  while (depth > 0) {
    const std::string_view token = tokens_.next();
    if (token.empty()) return;
    depth += token == "(" ? 1 : 0;
    depth -= token == ")" ? 1 : 0;
    angles += token == "<" ? 1 : 0;
    angles -= token == ">" && angles > 0 ? 1 : 0;
    is_clear = is_clear && token != "(" && token != ".";
    const bool is_end = depth == 0 || (token == "," && depth == 1 && angles == 0);
    if (!is_end) {
      if (angles == 0) parameter.add(token);
      continue;
    }
    if (!parameter.is_empty()) kernel.names.push_back(parameter.name());
    parameter = {};
  }
  if (is_clear) parameters_.push_back(std::move(kernel));
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
      if (is_kernel_declaration()) {
        note_kernel();
        read_parameters();
        is_kernel_ = false;
      } else {
        skip_parentheses();
      }
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
  // Most sources have no extern "C" and need no scan of their tokens.
  if (source.find("extern") == std::string_view::npos) return {};
  return Scanner(source).scan();
}

std::vector<KernelParameters> find_kernel_parameters(std::string_view source) {
  Scanner scanner(source);
  scanner.scan();
  return scanner.take_parameters();
}

}  // namespace km
