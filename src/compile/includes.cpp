#include "compile/includes.h"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <unordered_set>

#include "base/file/file.h"
#include "base/hash.h"

namespace km {
namespace {

constexpr size_t kMostFiles = 4000;
constexpr size_t kMostBytes = size_t{64} << 20;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void skip_blanks(std::string_view* text) {
  while (!text->empty() && is_blank(text->front())) text->remove_prefix(1);
}

bool take(std::string_view* text, std::string_view word) {
  if (!text->starts_with(word)) return false;
  if (text->size() > word.size() && is_word((*text)[word.size()])) return false;
  text->remove_prefix(word.size());
  return true;
}

/// Takes `<name>` or `"name"` from the front of the text.
std::optional<std::string> take_name(std::string_view text, bool* is_quoted) {
  skip_blanks(&text);
  if (text.empty() || (text.front() != '<' && text.front() != '"')) return std::nullopt;
  *is_quoted = text.front() == '"';
  const size_t end = text.find(*is_quoted ? '"' : '>', 1);
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(text.substr(1, end - 1));
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

class Scanner {
 public:
  Scanner(const CompileInput& input, const std::vector<std::string>& folders)
      : input_(input), folders_(folders) {}

  bool scan_all() {
    if (!scan(input_.source, folder_of(input_.name))) return false;
    for (const CompileHeader& header : input_.headers) {
      if (!scan(header.source, folder_of(header.name))) return false;
    }
    // The loop also visits files that are appended meanwhile; their texts do not move.
    for (size_t i = 0; i < open_.size(); ++i) {
      const SourceFile file = std::move(open_[i]);
      if (!scan(file.text, folder_of(file.path))) return false;
    }
    return true;
  }
  std::string found() && { return std::move(found_); }

 private:
  struct SourceFile {
    std::string path, text;
  };

  bool scan(std::string_view text, const std::string& folder) {
    for (const std::string_view time : {"__DATE__", "__TIME__", "__TIMESTAMP__"}) {
      if (text.find(time) != std::string_view::npos) return false;
    }
    if (text.find("%:") != std::string_view::npos || text.find("?\?=") != std::string_view::npos) {
      return false;  // other spellings of '#'
    }
    return scan_directives(text, folder) && scan_questions(text, folder);
  }

  /// Scans every line that begins with '#', even within comments and strings: a file too many is
  /// harmless.
  bool scan_directives(std::string_view text, const std::string& folder) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (!scan_line(line, folder)) return false;
      // A directive may also follow a comment on its line.
      for (size_t at = line.find("*/"); at != std::string_view::npos; at = line.find("*/")) {
        line.remove_prefix(at + 2);
        if (!scan_line(line, folder)) return false;
      }
    }
    return true;
  }

  bool scan_line(std::string_view line, const std::string& folder) {
    skip_blanks(&line);
    if (line.empty() || line.front() != '#') return true;
    line.remove_prefix(1);
    skip_blanks(&line);
    return scan_directive(line, folder);
  }

  bool scan_directive(std::string_view line, const std::string& folder) {
    if (line.empty() || line.front() == '/' || line.front() == '\\') return line.empty();
    if (line.starts_with("include_next") || line.starts_with("embed") ||
        line.starts_with("import")) {
      return false;
    }
    const auto* const end = std::find_if_not(line.begin(), line.end(), is_word);
    if (end != line.end() && *end == '\\') return false;  // the word continues on the next line
    if (!take(&line, "include")) return true;
    bool is_quoted = false;
    const std::optional<std::string> name = take_name(line, &is_quoted);
    return name && add(*name, is_quoted, folder);
  }

  bool scan_questions(std::string_view text, const std::string& folder) {
    constexpr std::string_view kQuestion = "__has_include";
    for (size_t at = text.find(kQuestion); at != std::string_view::npos;
         at = text.find(kQuestion, at + 1)) {
      std::string_view rest = text.substr(at + kQuestion.size());
      if (!rest.empty() && is_word(rest.front())) return false;  // __has_include_next ...
      skip_blanks(&rest);
      if (rest.empty() || rest.front() != '(') continue;  // defined(__has_include)
      rest.remove_prefix(1);
      bool is_quoted = false;
      const std::optional<std::string> name = take_name(rest, &is_quoted);
      if (!name || !add(*name, is_quoted, folder)) return false;
    }
    return true;
  }

  /// Adds the file in every folder in which the compiler may look, so that the order of the search
  /// does not matter.
  bool add(const std::string& name, bool is_quoted, const std::string& folder) {
    if (name.starts_with('/')) return add_file(name);
    if (is_quoted && (!add_file(folder + "/" + name) || !add_file("./" + name))) return false;
    return std::all_of(folders_.begin(), folders_.end(),
                       [&](const std::string& one) { return add_file(one + "/" + name); });
  }

  bool add_file(const std::string& path) {
    if (!seen_.insert(path).second) return true;
    if (seen_.size() > kMostFiles * (folders_.size() + 2)) return false;
    Result<std::string> text = read_file(path, kMostBytes);
    if (!text && text.error().native_code == EFBIG) return false;
    found_ += path;
    if (!text) {
      found_ += " none\n";
      return true;
    }
    bytes_ += text->size();
    if (bytes_ > kMostBytes || open_.size() >= kMostFiles) return false;
    found_ += ' ' + hash128(*text).text() + '\n';
    open_.push_back({path, std::move(*text)});
    return true;
  }

  const CompileInput& input_;
  const std::vector<std::string>& folders_;
  std::unordered_set<std::string> seen_;
  std::vector<SourceFile> open_;
  std::string found_;
  size_t bytes_ = 0;
};

}  // namespace

std::optional<std::string> describe_includes(const CompileInput& input,
                                             const std::vector<std::string>& folders) {
  Scanner scanner(input, folders);
  if (!scanner.scan_all()) return std::nullopt;
  return std::move(scanner).found();
}

}  // namespace km
