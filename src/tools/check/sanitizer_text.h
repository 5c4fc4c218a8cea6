// Findings in the words of NVIDIA's compute-sanitizer, which scripts look for.
#pragma once

#include <string>
#include <vector>

#include "tools/check/findings_file.h"

namespace km::tools {

/// The output of compute-sanitizer for these findings, of which at most `most` are shown. `tool` is
/// its name of the tool: memcheck, racecheck, initcheck or synccheck.
std::string sanitizer_text(const std::vector<ToldFinding>& findings, const std::string& tool,
                           uint64_t most);

}  // namespace km::tools
