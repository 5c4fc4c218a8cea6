// Kernels described for wrappers: from their signatures and the compiler's debug information.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "tools/kernels/source.h"
#include "tools/wrap/model.h"

namespace km::tools {

/// Object code that is embedded.
struct ObjectOptions {
  bool is_asked_for = false;
  std::vector<uint32_t> blocks;  // three numbers each
};

/// Compiles a CUDA C++ source, twice: as it is embedded, and with debug information. PTX has the
/// types that its names and comments tell, and no structures.
Result<Wrapper> inspect_kernels(const Source& source, const CompileOptions& options,
                                const std::vector<std::string>& instances,
                                const ObjectOptions& object);

/// A name of letters, digits and underscores made of another: "ns::W<float>" gives "ns_W_float".
std::string plain_name(const std::string& name);

}  // namespace km::tools
