#include "backends/null/entries.h"

namespace km::null {

km_status blas_create(kmb_context*, kmb_blas**, kmb_error* error) {
  return unsupported("BLAS", error);
}

void blas_destroy(kmb_blas*) {}

km_status blas_submit(kmb_blas*, kmb_stream*, const kmb_blas_call*, uint64_t*, kmb_error* error) {
  return unsupported("BLAS", error);
}

km_status task_submit(kmb_stream*, const kmb_task*, uint64_t*, kmb_error* error) {
  return unsupported("tasks", error);
}

km_status fft_create(kmb_context*, const km_fft_shape*, kmb_fft**, kmb_error* error) {
  return unsupported("Fourier transforms", error);
}

void fft_destroy(kmb_fft*) {}

km_status library_submit(kmb_stream*, const kmb_library_call*, uint64_t*, kmb_error* error) {
  return unsupported("libraries", error);
}

}  // namespace km::null
