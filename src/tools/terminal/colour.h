// Colours on terminals.
#pragma once

#include <cstdio>
#include <string>

namespace km::tools {

enum class Colour { bold, red, green, yellow, dim };

/// True if TERM names a terminal that cannot erase a line.
bool is_dumb_terminal();
/// True if `stream` is a terminal with colours and NO_COLOR is unset.
bool has_colours(FILE* stream);
/// The text, made printable, and coloured if `stream` has colours.
std::string painted(Colour colour, const std::string& text, FILE* stream);

}  // namespace km::tools
