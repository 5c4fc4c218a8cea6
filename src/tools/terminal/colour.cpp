#include "tools/terminal/colour.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/printable.h"

namespace km::tools {
namespace {

bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

bool is_dumb_terminal() {
  const char* const name = std::getenv("TERM");
  return name == nullptr || std::string_view(name) == "dumb";
}

bool has_colours(FILE* stream) {
  return isatty(fileno(stream)) != 0 && !is_set("NO_COLOR") && !is_dumb_terminal();
}

std::string painted(Colour colour, const std::string& text, FILE* stream) {
  constexpr const char* kCodes[] = {"1", "1;31", "32", "33", "2"};
  const std::string shown = printable(text);
  if (!has_colours(stream)) return shown;
  return std::string("\x1b[") + kCodes[static_cast<size_t>(colour)] + "m" + shown + "\x1b[0m";
}

}  // namespace km::tools
