// The lines of kernels as a part of the HTML report of a trace.
#pragma once

#include <string>
#include <vector>

#include "tools/explain/notes.h"

namespace km::tools {

/// Adds to a report, an HTML page, what becomes of the lines of each kernel, the most sampled
/// kernel first: the source where its file can be read, with shares, notes and advice. False if the
/// page has no head or no end, and then nothing is added.
bool add_lines(std::vector<NotedKernel> kernels, std::string* page);

}  // namespace km::tools
