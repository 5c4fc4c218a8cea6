// Compiled PTX kept on disk: what was compiled before needs no compiler.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compile/compile.h"

namespace km {

/// Everything that changes a compilation: source, headers, options, name expressions, the files
/// that are included, and the compiler itself. Nothing where that is not known; then nothing is
/// kept.
std::optional<std::string> ptx_key(const CompileInput& input,
                                   const std::vector<std::string>& options, const NvrtcInfo& info);

/// The output that was kept under a key; nothing when it is not there or there is no cache.
std::optional<CompileOutput> find_ptx(const std::string& key);
void keep_ptx(const std::string& key, const CompileOutput& output);

}  // namespace km
