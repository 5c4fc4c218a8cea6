// Objects of BLAS, of transforms and of communicators of the fake backend, which computes nothing.
#include "support/core/fake_objects.h"

namespace km::test {
namespace {

km_status blas_create(kmb_context* context, kmb_blas** out_blas, kmb_error* error) {
  if (const km_status status = begin_call(error)) return status;
  if (const km_status status = check_sticky(context, error)) return status;
  *out_blas = reinterpret_cast<kmb_blas*>(context);
  return KM_SUCCESS;
}

void blas_destroy(kmb_blas*) {}

km_status blas_submit(kmb_blas*, kmb_stream*, const kmb_blas_call*, uint64_t*, kmb_error* error) {
  return fail(KM_ERROR_NOT_SUPPORTED, "the fake backend has no BLAS routines", error);
}

km_status fft_create(kmb_context* context, const km_fft_shape*, kmb_fft** out_fft,
                     kmb_error* error) {
  if (const km_status status = begin_call(error)) return status;
  if (const km_status status = check_sticky(context, error)) return status;
  *out_fft = reinterpret_cast<kmb_fft*>(context);
  return KM_SUCCESS;
}

void fft_destroy(kmb_fft*) {}

km_status library_submit(kmb_stream*, const kmb_library_call*, uint64_t*, kmb_error* error) {
  return fail(KM_ERROR_NOT_SUPPORTED, "the fake backend has no routines of libraries", error);
}

km_status comm_id_create(kmb_device*, km_comm_id* out_id, kmb_error* error) {
  if (const km_status status = begin_call(error)) return status;
  *out_id = {};
  return KM_SUCCESS;
}

km_status comm_create(kmb_context* context, const km_comm_id*, uint32_t, uint32_t,
                      kmb_comm** out_comm, kmb_error* error) {
  if (const km_status status = begin_call(error)) return status;
  if (const km_status status = check_sticky(context, error)) return status;
  *out_comm = reinterpret_cast<kmb_comm*>(context);
  return KM_SUCCESS;
}

km_status comm_split(kmb_comm* comm, int32_t color, int32_t, kmb_comm** out_comm,
                     kmb_error* error) {
  if (const km_status status = begin_call(error)) return status;
  *out_comm = color < 0 ? nullptr : comm;
  return KM_SUCCESS;
}

void comm_destroy(kmb_comm*) {}

void comm_abort(kmb_comm*) {}

km_status comm_status(kmb_comm*, kmb_error* error) { return begin_call(error); }

void comm_info(kmb_comm*, km_comm_info* out_info) { out_info->rank_count = 1; }

km_status comm_group_begin(kmb_error* error) { return begin_call(error); }

km_status comm_group_end(int32_t, kmb_error* error) { return begin_call(error); }

}  // namespace

void add_blas_entries(kmb_backend* table) {
  table->blas_create = blas_create;
  table->blas_destroy = blas_destroy;
  table->blas_submit = blas_submit;
  table->fft_create = fft_create;
  table->fft_destroy = fft_destroy;
  table->library_submit = library_submit;
  table->comm_id_create = comm_id_create;
  table->comm_create = comm_create;
  table->comm_split = comm_split;
  table->comm_destroy = comm_destroy;
  table->comm_abort = comm_abort;
  table->comm_status = comm_status;
  table->comm_info = comm_info;
  table->comm_group_begin = comm_group_begin;
  table->comm_group_end = comm_group_end;
}

}  // namespace km::test
