// The kernel that `kernelmill run` launches: loads its file and looks up its name.
#pragma once

#include <string>

#include "tools/kernels/source.h"
#include "tools/library.h"

namespace km::tools {

struct Kernel {
  Module module;
  Function function;
  std::string name;       ///< name in the PTX
  double compile_ms = 0;  ///< time from CUDA C++ to PTX; 0 for PTX
  double load_ms = 0;
};

/// Loads all kernels of PTX or CUDA C++, and of `instances` of its templates.
Result<Module> load_module(km_context context, const Source& source, const CompileOptions& options,
                           const std::vector<std::string>& instances);

/// Loads `source` (CUDA C++, or PTX if the path ends in .ptx) and looks up `name`: a name in the
/// PTX, a name in the source, or a template instance such as scale<float>. An empty name selects
/// the only kernel of the file.
Result<Kernel> load_kernel(km_context context, const Source& source, const CompileOptions& options,
                           const std::string& name);

bool is_ptx(const std::string& path);
bool is_cuda(const std::string& path);
bool is_object(const std::string& path);

}  // namespace km::tools
