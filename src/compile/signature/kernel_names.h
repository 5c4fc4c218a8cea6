// The kernels of a CUDA C++ source: those whose names in the PTX do not tell their types, and the
// names of all their parameters.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace km {

/// One `extern "C"` kernel: its name with its namespaces before it ("ns::saxpy"), and without.
struct KernelName {
  std::string qualified;
  std::string plain;
  bool operator==(const KernelName&) const = default;
};

/// The `extern "C"` kernels that a source seems to have, each once, by its tokens alone: no macro
/// is expanded and no condition evaluated, so the compiler has to confirm them.
std::vector<KernelName> find_c_kernels(std::string_view source);

/// A kernel of a source with the names of its parameters; empty: it has none.
struct KernelParameters {
  std::string qualified;
  std::vector<std::string> names;
};

/// All kernels that a source seems to have, templates too, by its tokens alone. One whose
/// parameters cannot be told apart is left out.
std::vector<KernelParameters> find_kernel_parameters(std::string_view source);

}  // namespace km
