// The CUDA version of this library, for source files that are compiled into both versions.
#pragma once

namespace km::cublas {

/// The version that cublasGetVersion returns: 120901 for 12.9.1.
extern const int kVersion;
/// CUDART_VERSION of the toolkit that contains this version.
extern const int kCudartVersion;

}  // namespace km::cublas
