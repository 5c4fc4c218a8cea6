// Describes kernels for the wrappers, from their signatures and the compiler's debug information.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "tools/kernels/source.h"
#include "tools/wrap/model.h"

namespace km::tools {

/// Options for embedded object code.
struct ObjectOptions {
  bool is_asked_for = false;
  std::vector<uint32_t> blocks;  // three numbers per block size
};

/// Compiles a CUDA C++ source twice: for embedding, and with debug information. For PTX, types come
/// from names and comments only, without structures.
Result<Wrapper> inspect_kernels(const Source& source, const CompileOptions& options,
                                const std::vector<std::string>& instances,
                                const ObjectOptions& object);

/// A name of letters, digits and underscores derived from another: "ns::W<float>" gives
/// "ns_W_float".
std::string plain_name(const std::string& name);

}  // namespace km::tools
