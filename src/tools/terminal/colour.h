// Colour on terminals.
#pragma once

#include <cstdio>
#include <string>

namespace km::tools {

enum class Colour { bold, red, green, yellow, dim };

/// True if TERM names no terminal that can erase a line.
bool is_dumb_terminal();
/// True if `stream` is a terminal that shows colours, unless NO_COLOR is set.
bool has_colours(FILE* stream);
/// The text, made printable, in a colour when `stream` has colours, else without one.
std::string painted(Colour colour, const std::string& text, FILE* stream);

}  // namespace km::tools
