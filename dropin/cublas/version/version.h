// Which of the libraries this is: files that both are made of ask here.
#pragma once

namespace km::cublas {

/// cublasGetVersion: 120901 for 12.9.1.
extern const int kVersion;
/// CUDART_VERSION of the toolkit that it belongs to.
extern const int kCudartVersion;

}  // namespace km::cublas
