// The library's public C API, as much as benchmarks need of it.
#pragma once

#include <string>

#include <kernelmill/c_api.h>

namespace km::bench {

/// Fails with the library's message unless the call succeeded.
void require(km_status status, const char* call);

/// The PTX of a file with CUDA C++.
std::string compile_to_ptx(const std::string& path);

}  // namespace km::bench
