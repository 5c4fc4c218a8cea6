// The forms in which `kernelmill explain` says what it found, and what the report of a trace shares
// with them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/explain/notes.h"

namespace km::tools {

/// Lines with smaller shares have no number beside them.
constexpr double kLeastShownShare = 0.005;
/// The sentences of advice that are shown.
constexpr size_t kMostAdvice = 5;

/// "warps run to completion".
std::string mode_text(const NotedKernel& kernel);
/// The numbers of the lines of `file` between the kernel's first and last, each with its notes, or
/// null. The file has `count` lines.
std::vector<std::pair<uint32_t, const NotedLine*>> source_lines(const NotedKernel& kernel,
                                                                const std::string& file,
                                                                size_t count);
/// The kernel's other lines, which have no text: of other files, or beyond the end of `file`.
std::vector<const NotedLine*> other_lines(const NotedKernel& kernel, const std::string& file,
                                          size_t count);

/// Prints the source lines between the kernel's first and last, each with its share and what
/// becomes of it, lines of other files, and the advice. `source` has the lines of `file`.
void print_kernel(const NotedKernel& kernel, const std::string& file,
                  const std::vector<std::string>& source);

/// {"kernel", "symbol", "mode", "reason"?, "lanes", "samples", "engine_samples"?, "lines":
/// [{"file", "line", "share", "notes":
/// [{"kind", "text", "count"}]}], "advice": [{"place", "share", "text"}]}.
nlohmann::ordered_json json_of(const NotedKernel& kernel);

}  // namespace km::tools
