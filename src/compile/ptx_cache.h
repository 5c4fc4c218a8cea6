// Compiled PTX kept on disk, so that a source is compiled only once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compile/compile.h"

namespace km {

/// A key with everything that affects a compilation: source, headers, options, name expressions,
/// included files, and the compiler itself. Nothing if that cannot be determined; the result is
/// then not cached.
std::optional<std::string> ptx_key(const CompileInput& input,
                                   const std::vector<std::string>& options, const NvrtcInfo& info);

/// The output stored under a key; nothing if it is missing or there is no cache.
std::optional<CompileOutput> find_ptx(const std::string& key);
void keep_ptx(const std::string& key, const CompileOutput& output);

}  // namespace km
