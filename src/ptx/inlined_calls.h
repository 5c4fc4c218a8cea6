// The calls that a compiler has replaced by the code of functions, as `.loc` directives tell.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/ir.h"

namespace km::ptx {

/// The source lines of the calls in whose place the code on a line of the module's text stands, the
/// innermost first: "scale.cu:20". Reads the text again, because only reports of defects ask.
std::vector<std::string> callers_of_line(const Module& module, std::string_view text,
                                         uint32_t line);

}  // namespace km::ptx
