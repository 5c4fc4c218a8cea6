// Fourier transforms.
#include "core/library/fft.h"
#include "api/guard.h"
#include "api/output.h"

using namespace km;

km_status km_fft_create(km_stream stream, const km_fft_shape* shape, km_fft* out_fft) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    KM_REQUIRE(shape);
    KM_REQUIRE(out_fft);
    return make_error(KM_ERROR_NOT_SUPPORTED, "not yet");
  });
}

km_status km_fft_destroy(km_fft fft) noexcept {
  return guard(__func__, [&](Call&) { return destroy_handle(fft, "fft"); });
}

km_status km_fft_execute(km_fft fft, km_fft_direction, const km_array*, const km_array*) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, fft);
    return make_error(KM_ERROR_NOT_SUPPORTED, "not yet");
  });
}
