#include "dropin/toolchain/ptx_edits.h"

#include "base/search.h"
#include "dropin/toolchain/ptx_scanner.h"

namespace km::toolchain {

std::string limit_registers(std::string text, unsigned most) {
  if (most == 0) return text;
  const std::string limit = " .maxnreg " + std::to_string(most);
  std::string limited;
  Scanner scanner(text);
  bool is_head = false;
  size_t head_end = 0;  // after the head's last word, so that no line or column moves
  while (!scanner.at_end()) {
    const std::string_view piece = scanner.next();
    if (piece == ".entry") is_head = true;
    if (is_head && piece == "{") limited.insert(head_end, limit);
    if (piece == "{" || piece == ";" || piece == ".maxnreg") is_head = false;
    limited += piece;
    if (!is_blank(piece)) head_end = limited.size();
  }
  return limited;
}

std::set<std::string, std::less<>> managed_variables(const std::string& text) {
  std::set<std::string, std::less<>> found;
  if (find_word(text, ".managed") == text.npos) return found;
  bool is_managed = false;
  Scanner scanner(text);
  while (!scanner.at_end()) {
    const std::string_view piece = scanner.next();
    if (piece == ".managed") is_managed = true;
    if (!is_managed || !is_name(piece[0])) continue;
    if (is_digit(piece[0])) continue;  // an alignment's value
    found.emplace(piece);
    is_managed = false;
  }
  return found;
}

}  // namespace km::toolchain
