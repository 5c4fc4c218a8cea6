// The findings of `kernelmill corpus` about a file, and their summary.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/kernels/source.h"

namespace km::tools {

using Json = nlohmann::ordered_json;

/// {"file", "compiled", "loaded", "ms", "reason"?, "forms": [..], "kernels": [{"name", "made",
/// "mode"?, "ms", "cpu_ms", "reason"?}]}: times passed and processor times. Nothing of the file is
/// run.
Json examine_file(const std::string& path, const CompileOptions& options, const std::string& device,
                  uint32_t block_size);

/// Counts, reasons of failures by how many kernels they concern, times, forms of opcodes.
Json sum_up(const std::vector<Json>& files);

/// Prints the summary. Each reason of failures names the first file and kernel that it concerns, or
/// all of them.
void print_summary(const Json& summary, const std::vector<Json>& files, bool names_all);

}  // namespace km::tools
