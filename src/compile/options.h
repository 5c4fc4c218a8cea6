// The options passed to NVRTC: the user's, and those that depend on the machine.
#pragma once

#include <string>
#include <vector>

#include "compile/compile.h"

namespace km {

/// The newest architecture in `supported` (in any order) that is not newer than `wanted`, or the
/// oldest if all are newer; `wanted` itself if the list is empty.
int choose_architecture(int wanted, const std::vector<int>& supported);

/// "9.0" or "90" gives 90; other texts are an error.
Result<int> parse_compute_capability(const std::string& text);

/// The options for NVRTC. The user's come first, so that their include folders are searched first.
/// The language is C++17 with every NVRTC; NVRTC 11 would default to C++03.
std::vector<std::string> nvrtc_options(const CompileInput& input, const std::string& architecture,
                                       const NvrtcInfo& info);

/// The folders of NVRTC's include options, which may be one word or two.
std::vector<std::string> include_folders(const std::vector<std::string>& options);

/// Adds the option for source lines in the PTX (.loc), unless the user's options already request
/// line information.
void add_line_info(std::vector<std::string>* options);

}  // namespace km
