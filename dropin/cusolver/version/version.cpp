// Compiled once per CUDA version, which KM_CUDA_MAJOR selects.
#include "dropin/cusolver/version/version.h"

namespace km::cusolver {

#if KM_CUDA_MAJOR == 12
const int kVersion = 11705;
#else
const int kVersion = 12401;
#endif

}  // namespace km::cusolver
