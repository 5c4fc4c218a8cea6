// Python packages that ship their own CUDA code, with advice for people who installed them by pip
// and cannot rebuild them.
#pragma once

#include <string>
#include <string_view>

namespace km {

/// The advice for a file of a Python package, by its path; empty if it is in no Python environment.
std::string advice_for_python_file(std::string_view path);

/// The advice for GPU machine code that a Python package of this process generated or shipped;
/// empty if no known one is loaded.
std::string advice_for_python_machine_code();

/// True if JAX's library of XLA is loaded.
bool xla_is_loaded();

}  // namespace km
