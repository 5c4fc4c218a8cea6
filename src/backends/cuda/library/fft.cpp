// Calls of fft.
#include "backends/cuda/library/library.h"

namespace km::cuda {

Status queue_fft(const LibraryTarget&, const kmb_fft_call&) {
  return make_error(KM_ERROR_NOT_SUPPORTED, "the cuda backend has no km_fft calls yet");
}

km_status fft_create(kmb_context*, const km_fft_shape*, kmb_fft**, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    return make_error(KM_ERROR_NOT_SUPPORTED, "the cuda backend has no Fourier transforms yet");
  });
}

void fft_destroy(kmb_fft*) {}

}  // namespace km::cuda
