// The results of `kernelmill corpus` for a file, and their summary.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/kernels/source.h"

namespace km::tools {

using Json = nlohmann::ordered_json;

/// {"file", "compiled", "loaded", "ms", "reason"?, "forms": [..], "kernels": [{"name", "made",
/// "mode"?, "ms", "cpu_ms", "reason"?}]}, with wall-clock and processor times. No kernel is run.
Json examine_file(const std::string& path, const CompileOptions& options, const std::string& device,
                  uint32_t block_size);

/// Totals, reasons of failures by the number of affected kernels, times, and forms of opcodes.
Json sum_up(const std::vector<Json>& files);

/// Prints the summary. Each reason of failures names the first affected file and kernel, or all of
/// them.
void print_summary(const Json& summary, const std::vector<Json>& files, bool names_all);

}  // namespace km::tools
