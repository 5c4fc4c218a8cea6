// The CUDA version of this library, for source files that are compiled into both versions.
#pragma once

namespace km::cudart {

/// CUDART_VERSION: 12090 for CUDA 12.9.
extern const int kRuntimeVersion;
inline bool is_cuda_12() { return kRuntimeVersion < 13000; }

}  // namespace km::cudart
