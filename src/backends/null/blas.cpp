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

km_status comm_id_create(kmb_device*, km_comm_id*, kmb_error* error) {
  return unsupported("communicators", error);
}

km_status comm_create(kmb_context*, const km_comm_id*, uint32_t, uint32_t, kmb_comm**,
                      kmb_error* error) {
  return unsupported("communicators", error);
}

km_status comm_split(kmb_comm*, int32_t, int32_t, kmb_comm**, kmb_error* error) {
  return unsupported("communicators", error);
}

void comm_destroy(kmb_comm*) {}

void comm_abort(kmb_comm*) {}

km_status comm_status(kmb_comm*, kmb_error* error) { return unsupported("communicators", error); }

void comm_info(kmb_comm*, km_comm_info*) {}

km_status comm_group_begin(kmb_error* error) { return unsupported("communicators", error); }

km_status comm_group_end(int32_t, kmb_error* error) { return unsupported("communicators", error); }

}  // namespace km::null
