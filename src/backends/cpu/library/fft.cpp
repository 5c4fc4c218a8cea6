// Tasks of km_fft calls.
#include "backends/cpu/device/entries.h"
#include "backends/cpu/library/library.h"

namespace km::cpu {

Result<std::shared_ptr<const Task>> make_fft_task(const kmb_fft_call&, uint32_t) {
  return make_error(KM_ERROR_NOT_SUPPORTED, "the cpu backend has no km_fft calls yet");
}

km_status fft_create(kmb_context*, const km_fft_shape*, kmb_fft**, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    return make_error(KM_ERROR_NOT_SUPPORTED, "the cpu backend has no Fourier transforms yet");
  });
}

void fft_destroy(kmb_fft*) {}

}  // namespace km::cpu
