// The options that NVRTC gets: the user's, and those that follow from the machine.
#pragma once

#include <string>
#include <vector>

#include "compile/compile.h"

namespace km {

/// The newest architecture in `supported` (ascending or not) that is not above `wanted`, or the
/// oldest where all are above; `wanted` itself when the list is empty.
int choose_architecture(int wanted, const std::vector<int>& supported);

/// "9.0" or "90" -> 90; nothing else is accepted.
Result<int> parse_compute_capability(const std::string& text);

/// The user's options first, so that their include folders are searched first. The language is
/// C++17 for every NVRTC; 11 would take C++03.
std::vector<std::string> nvrtc_options(const CompileInput& input, const std::string& architecture,
                                       const NvrtcInfo& info);

/// The folders of NVRTC's include options, which stand in one word or in two.
std::vector<std::string> include_folders(const std::vector<std::string>& options);

/// Adds the option by which PTX names the lines of the source (.loc), unless an option of the user
/// brings line information already.
void add_line_info(std::vector<std::string>* options);

}  // namespace km
