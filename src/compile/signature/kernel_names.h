// Finds the kernels of a CUDA C++ source: those whose names in the PTX do not encode their types,
// and the parameter names of all.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace km {

/// One `extern "C"` kernel: its name with its namespaces ("ns::saxpy") and without.
struct KernelName {
  std::string qualified;
  std::string plain;
  bool operator==(const KernelName&) const = default;
};

/// The `extern "C"` kernels that the tokens of a source suggest, each once. No macro is expanded
/// and no condition evaluated, so the compiler has to confirm them.
std::vector<KernelName> find_c_kernels(std::string_view source);

/// A kernel of a source with the names of its parameters; an empty name means none.
struct KernelParameters {
  std::string qualified;
  std::vector<std::string> names;
};

/// All kernels, including templates, that the tokens of a source suggest. A kernel whose parameters
/// cannot be separated is left out.
std::vector<KernelParameters> find_kernel_parameters(std::string_view source);

}  // namespace km
