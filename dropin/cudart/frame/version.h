// Which of the libraries this is: files that both are made of ask here.
#pragma once

namespace km::cudart {

/// CUDART_VERSION: 12090 for CUDA 12.9.
extern const int kRuntimeVersion;
inline bool is_cuda_12() { return kRuntimeVersion < 13000; }

}  // namespace km::cudart
