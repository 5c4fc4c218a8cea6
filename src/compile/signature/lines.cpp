// Signatures as comment lines in PTX: "// kernelmill.signature KERNEL NAME", where NAME is the
// mangled name of an instance (signature_of_instance).
#include "base/search.h"
#include "compile/signature/signature.h"

namespace km {
namespace {

constexpr std::string_view kMark = "// kernelmill.signature ";

/// The writer never makes longer lines, so a longer one is not the writer's.
constexpr size_t kMaxLineBytes = 64 << 10;

bool is_word(std::string_view text) {
  if (text.empty()) return false;
  for (const char letter : text) {
    if (letter <= ' ' || letter > '~') return false;
  }
  return true;
}

}  // namespace

std::string write_signature_lines(const SignatureLines& lines) {
  std::string text;
  for (const auto& [kernel, type] : lines) {
    if (kMark.size() + kernel.size() + 1 + type.size() > kMaxLineBytes) continue;
    text += std::string(kMark) + kernel + ' ' + type + '\n';
  }
  return text;
}

SignatureLines read_signature_lines(std::string_view ptx) {
  SignatureLines lines;
  for (size_t at = find_word(ptx, kMark); at != std::string_view::npos;
       at = find_word(ptx, kMark, at)) {
    at += kMark.size();
    std::string_view rest = ptx.substr(at, kMaxLineBytes);
    rest = rest.substr(0, rest.find_first_of("\r\n"));
    const size_t space = rest.find(' ');
    if (space == std::string_view::npos) continue;
    const std::string_view kernel = rest.substr(0, space);
    const std::string_view type = rest.substr(space + 1);
    if (is_word(kernel) && is_word(type)) lines.insert_or_assign(std::string(kernel), type);
  }
  return lines;
}

}  // namespace km
