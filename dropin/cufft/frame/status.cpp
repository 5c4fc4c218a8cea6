#include "dropin/cufft/frame/cufft.h"

namespace km::cufft {

const char* FftLibrary::name_of(cufftResult status) noexcept {
  switch (status) {
#define KM_STATUS(name) \
  case name:            \
    return #name
    KM_STATUS(CUFFT_SUCCESS);
    KM_STATUS(CUFFT_INVALID_PLAN);
    KM_STATUS(CUFFT_ALLOC_FAILED);
    KM_STATUS(CUFFT_INVALID_TYPE);
    KM_STATUS(CUFFT_INVALID_VALUE);
    KM_STATUS(CUFFT_INTERNAL_ERROR);
    KM_STATUS(CUFFT_EXEC_FAILED);
    KM_STATUS(CUFFT_SETUP_FAILED);
    KM_STATUS(CUFFT_INVALID_SIZE);
    KM_STATUS(CUFFT_INVALID_DEVICE);
    KM_STATUS(CUFFT_NO_WORKSPACE);
    KM_STATUS(CUFFT_NOT_SUPPORTED);
    default:
      return nullptr;
#undef KM_STATUS
  }
}

}  // namespace km::cufft
