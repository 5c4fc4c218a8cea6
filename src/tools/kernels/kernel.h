// The kernel that `kernelmill run` was asked for: its file loaded, its name found.
#pragma once

#include <string>

#include "tools/kernels/source.h"
#include "tools/library.h"

namespace km::tools {

struct Kernel {
  Module module;
  Function function;
  std::string name;       ///< as it stands in the PTX
  double compile_ms = 0;  ///< CUDA C++ to PTX; 0 for PTX
  double load_ms = 0;
};

/// Loads `source` (CUDA C++, or PTX where the path ends in .ptx) and finds `name`: the name in the
/// PTX, the name in the source, or an instance of a template such as scale<float>. An empty name is
/// the only kernel of the file.
Result<Kernel> load_kernel(km_context context, const Source& source, const CompileOptions& options,
                           const std::string& name);

bool is_ptx(const std::string& path);
bool is_cuda(const std::string& path);
bool is_object(const std::string& path);

}  // namespace km::tools
