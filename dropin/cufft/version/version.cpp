// Compiled once per version, which KM_CUFFT_MAJOR selects.
#include "dropin/cufft/version/version.h"

namespace km::cufft {

#if KM_CUFFT_MAJOR == 11
const int kVersion = 11401;
#else
const int kVersion = 12500;
#endif

}  // namespace km::cufft
