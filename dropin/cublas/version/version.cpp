// Compiled once per CUDA version, which KM_CUBLAS_MAJOR selects.
#include "dropin/cublas/version/version.h"

namespace km::cublas {

#if KM_CUBLAS_MAJOR == 12
const int kVersion = 120901, kCudartVersion = 12090;
#else
const int kVersion = 130401, kCudartVersion = 13020;
#endif

}  // namespace km::cublas
