/* Without OpenBLAS or, on GPUs, cuBLAS: what needs it says so, and the rest runs. */
#include <stdlib.h>

#include "support/testing.h"

#include <kernelmill/helpers.h>

static void a_missing_library_is_named(void** state) {
  fixture* f = *state;
  const float one = 1, zero = 0;
  uint16_t value = 0x4000; /* 2 */
  const km_fft_shape lines = km_fft_lines(KM_FFT_KIND_COMPLEX, KM_DATA_TYPE_F32, 8, 1);
  km_blas blas;
  km_slice slice;
  km_fft fft = NULL;
  if (is_fake(f)) skip();
  OK(km_blas_create(f->stream, KM_BLAS_LAYOUT_ROWS, &blas));
  OK(km_slice_create(f->context, 16, 4, KM_SLICE_ZEROED, &slice));
  const uint64_t id = (uint64_t)(uintptr_t)slice;
  const km_blas_vector x = {id, 0, 0, 1}, y = {id, 0, 8, 1};
  const km_array info = {id, 0, 12, 0};
  const km_blas_matrix a = {id, 0, 0, 1, 0}, b = {id, 0, 1, 1, 0}, c = {id, 0, 2, 1, 0};
  EXPECT(KM_ERROR_BLAS_UNAVAILABLE, km_blas_axpy(blas, KM_DATA_TYPE_F32, 4, &one, &x, &y));
  if (is_cuda(f)) {
    expect_message("KM_CUBLAS=/nowhere/libcublas.so.12");
    expect_message("Install that of the CUDA toolkit");
    EXPECT(KM_ERROR_BLAS_UNAVAILABLE,
           km_blas_gemm(blas, KM_DATA_TYPE_F16, 1, 1, 1, 1, 1, &one, &a, &b, &zero, &c));
    EXPECT(KM_ERROR_BLAS_UNAVAILABLE,
           km_solve_potrf(blas, KM_DATA_TYPE_F32, KM_BLAS_TRIANGLE_LOWER, 1, 1, &a, &info));
    expect_message("KM_CUSOLVER=/nowhere/libcusolver.so.11");
    expect_message("Install that of the CUDA toolkit");
    EXPECT(KM_ERROR_BLAS_UNAVAILABLE, km_fft_create(f->stream, &lines, &fft));
    expect_message("KM_CUFFT=/nowhere/libcufft.so.11");
    expect_message("Install that of the CUDA toolkit");
    OK(km_slice_destroy(slice));
    OK(km_blas_destroy(blas));
    return;
  }
  expect_message("KM_OPENBLAS=/nowhere/libopenblas.so");
  EXPECT(KM_ERROR_BLAS_UNAVAILABLE,
         km_solve_potrf(blas, KM_DATA_TYPE_F32, KM_BLAS_TRIANGLE_LOWER, 1, 1, &a, &info));
  expect_message("KM_OPENBLAS=/nowhere/libopenblas.so");
  expect_message("apt install libopenblas0-pthread");
  OK(km_fft_create(f->stream, &lines, &fft)); /* by code of the library itself */
  OK(km_fft_destroy(fft));
  OK(km_slice_fill_u16(f->stream, slice, 0, value, 2));
  OK(km_blas_gemm(blas, KM_DATA_TYPE_F16, 1, 1, 1, 1, 1, &one, &a, &b, &zero, &c));
  OK(km_slice_download(f->stream, slice, 4, &value, 2));
  assert_int_equal(value, 0x4400);
  OK(km_slice_destroy(slice));
  OK(km_blas_destroy(blas));
}

static void a_missing_sparse_library_is_named(void** state) {
  fixture* f = *state;
  const float one = 1, zero = 0;
  const km_blas_vector nothing = {0, 0, 0, 1};
  km_sparse_matrix a = {.format = KM_SPARSE_FORMAT_CSR, .index_size_bytes = 4, .rows = 1};
  km_blas_vector y = {0, 0, 0, 1};
  km_blas blas;
  km_slice slice;
  if (is_fake(f)) skip();
  OK(km_blas_create(f->stream, KM_BLAS_LAYOUT_ROWS, &blas));
  OK(km_slice_create(f->context, 2, 4, KM_SLICE_ZEROED, &slice));
  a.offsets.slice = y.slice = (uint64_t)(uintptr_t)slice;
  y.offset = 2;
  EXPECT(KM_ERROR_OUT_OF_BOUNDS,
         km_sparse_mv(blas, KM_DATA_TYPE_F32, 1, &one, &a, &nothing, &zero, &y));
  OK(km_slice_destroy(slice));
  OK(km_slice_create(f->context, 3, 4, KM_SLICE_ZEROED, &slice));
  a.offsets.slice = y.slice = (uint64_t)(uintptr_t)slice;
  const km_status status = km_sparse_mv(blas, KM_DATA_TYPE_F32, 1, &one, &a, &nothing, &zero, &y);
  EXPECT(is_cuda(f) ? KM_ERROR_BLAS_UNAVAILABLE : KM_SUCCESS, status);
  if (is_cuda(f)) {
    expect_message("KM_CUSPARSE=/nowhere/libcusparse.so.12");
    expect_message("Install that of the CUDA toolkit");
  }
  OK(km_slice_destroy(slice));
  OK(km_blas_destroy(blas));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_missing_library_is_named),
                                     cmocka_unit_test(a_missing_sparse_library_is_named)};
  setenv("KM_CUBLAS", "/nowhere/libcublas.so.12", 1);
  setenv("KM_CUFFT", "/nowhere/libcufft.so.11", 1);
  setenv("KM_CUSPARSE", "/nowhere/libcusparse.so.12", 1);
  setenv("KM_CUSOLVER", "/nowhere/libcusolver.so.11", 1);
  setenv("KM_OPENBLAS", "/nowhere/libopenblas.so", 1); /* before the library looks */
  return RUN_ON_DEVICES("blas_missing", tests);
}
