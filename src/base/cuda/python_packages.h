// Python packages that bring CUDA code of their own, and what people who installed them by pip can
// do when it does not run here: they build nothing.
#pragma once

#include <string>
#include <string_view>

namespace km {

/// The advice for a file of a Python package, by its path; empty: it lies in no Python environment.
std::string advice_for_python_file(std::string_view path);

/// The advice for machine code of GPUs that a Python package of this process has made or brought;
/// empty: none that is known is loaded.
std::string advice_for_python_machine_code();

}  // namespace km
