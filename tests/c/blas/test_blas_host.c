/* A host program with an OpenBLAS of its own, in the global scope, with threads of its own choice:
 * ours changes nothing of it. */
#include <dlfcn.h>
#include <stdlib.h>

#include "support/testing.h"

typedef int (*get_count)(void);
typedef void (*set_count)(int count);
typedef float (*dot_product)(int n, const float* x, int step_x, const float* y, int step_y);

static void the_hosts_openblas_stays_as_it_is(void** state) {
  fixture* f = *state;
  static float values[40000];
  const float one = 1;
  km_blas blas;
  km_slice slice;
  void* host = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_GLOBAL);
  if (host == NULL) skip();
#if defined(KM_TEST_SANITIZED)
  skip(); /* sanitizers take the means for it away: RTLD_DEEPBIND */
#endif
  get_count count = (get_count)dlsym(host, "openblas_get_num_threads");
  set_count choose = (set_count)dlsym(host, "openblas_set_num_threads");
  dot_product dot = (dot_product)dlsym(host, "cblas_sdot");
  assert_non_null(count);
  assert_non_null(choose);
  assert_non_null(dot);
  choose(3);
  assert_int_equal(count(), 3);
  if (is_fake(f)) skip();
  OK(km_blas_create(f->stream, KM_BLAS_LAYOUT_ROWS, &blas));
  OK(km_slice_create(f->context, 40000, 4, KM_SLICE_ZEROED, &slice));
  const uint64_t id = (uint64_t)(uintptr_t)slice;
  const km_blas_vector x = {id, 0, 0, 1}, y = {id, 0, 20000, 1};
  OK(km_slice_fill_u32(f->stream, slice, 0, 0x3f800000, 40000));
  OK(km_blas_axpy(blas, KM_DATA_TYPE_F32, 20000, &one, &x, &y));
  OK(km_slice_download(f->stream, slice, 0, values, sizeof values));
  assert_true(values[39999] == 2);
  assert_int_equal(count(), 3);
  assert_true(dot(20000, values, 1, values + 20000, 1) == 40000);
  choose(2);
  OK(km_blas_axpy(blas, KM_DATA_TYPE_F32, 20000, &one, &x, &y));
  OK(km_stream_synchronize(f->stream));
  assert_int_equal(count(), 2);
  OK(km_slice_destroy(slice));
  OK(km_blas_destroy(blas));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_hosts_openblas_stays_as_it_is)};
  return RUN_ON_DEVICES("blas_host", tests);
}
