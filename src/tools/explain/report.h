// The two forms in which `kernelmill explain` says what it found.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/explain/notes.h"

namespace km::tools {

/// Prints the source lines between the kernel's first and last, each with its share and what
/// becomes of it, lines of other files, and the advice. `source` has the lines of `file`.
void print_kernel(const NotedKernel& kernel, const std::string& file,
                  const std::vector<std::string>& source);

/// {"kernel", "symbol", "mode", "reason"?, "lanes", "samples", "engine_samples"?, "lines":
/// [{"file", "line", "share", "notes":
/// [{"kind", "text", "count"}]}], "advice": [{"place", "share", "text"}]}.
nlohmann::ordered_json json_of(const NotedKernel& kernel);

}  // namespace km::tools
