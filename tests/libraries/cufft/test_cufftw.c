/* Transforms of libcufftw, of host memory by FFTW's names, against the definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cufft_reference.h"

typedef struct {
  int n, is, os;
} dimension;
typedef struct {
  ptrdiff_t n, is, os;
} dimension64;

#define KM_PROTOTYPES(prefix, real)                                                             \
  void* prefix##plan_dft_1d(int, void*, void*, int, unsigned);                                  \
  void* prefix##plan_dft_2d(int, int, void*, void*, int, unsigned);                             \
  void* prefix##plan_dft_3d(int, int, int, void*, void*, int, unsigned);                        \
  void* prefix##plan_dft(int, const int*, void*, void*, int, unsigned);                         \
  void* prefix##plan_dft_r2c_1d(int, void*, void*, unsigned);                                   \
  void* prefix##plan_dft_r2c_2d(int, int, void*, void*, unsigned);                              \
  void* prefix##plan_dft_r2c_3d(int, int, int, void*, void*, unsigned);                         \
  void* prefix##plan_dft_r2c(int, const int*, void*, void*, unsigned);                          \
  void* prefix##plan_dft_c2r_1d(int, void*, void*, unsigned);                                   \
  void* prefix##plan_dft_c2r_2d(int, int, void*, void*, unsigned);                              \
  void* prefix##plan_dft_c2r_3d(int, int, int, void*, void*, unsigned);                         \
  void* prefix##plan_dft_c2r(int, const int*, void*, void*, unsigned);                          \
  void* prefix##plan_many_dft(int, const int*, int, void*, const int*, int, int, void*,         \
                              const int*, int, int, int, unsigned);                             \
  void* prefix##plan_many_dft_r2c(int, const int*, int, void*, const int*, int, int, void*,     \
                                  const int*, int, int, unsigned);                              \
  void* prefix##plan_many_dft_c2r(int, const int*, int, void*, const int*, int, int, void*,     \
                                  const int*, int, int, unsigned);                              \
  void* prefix##plan_guru_dft(int, const dimension*, int, const dimension*, void*, void*, int,  \
                              unsigned);                                                        \
  void* prefix##plan_guru64_dft(int, const dimension64*, int, const dimension64*, void*, void*, \
                                int, unsigned);                                                 \
  void* prefix##plan_guru_dft_r2c(int, const dimension*, int, const dimension*, void*, void*,   \
                                  unsigned);                                                    \
  void* prefix##plan_guru64_dft_r2c(int, const dimension64*, int, const dimension64*, void*,    \
                                    void*, unsigned);                                           \
  void* prefix##plan_guru_dft_c2r(int, const dimension*, int, const dimension*, void*, void*,   \
                                  unsigned);                                                    \
  void* prefix##plan_guru64_dft_c2r(int, const dimension64*, int, const dimension64*, void*,    \
                                    void*, unsigned);                                           \
  void prefix##execute(const void*);                                                            \
  void prefix##execute_dft(const void*, void*, void*);                                          \
  void prefix##execute_dft_r2c(const void*, void*, void*);                                      \
  void prefix##execute_dft_c2r(const void*, void*, void*);                                      \
  void* prefix##malloc(size_t);                                                                 \
  void prefix##free(void*);                                                                     \
  void prefix##destroy_plan(void*);                                                             \
  void prefix##cleanup(void);                                                                   \
  void prefix##set_timelimit(double);                                                           \
  void prefix##print_plan(const void*);                                                         \
  double prefix##cost(const void*);                                                             \
  void prefix##flops(const void*, double*, double*, double*);                                   \
  void prefix##export_wisdom_to_file(FILE*);                                                    \
  int prefix##import_wisdom_from_file(FILE*);
KM_PROTOTYPES(fftw_, double)
KM_PROTOTYPES(fftwf_, float)

enum { MOST = 4096 };
static double in_[2 * MOST], out_[2 * MOST], back_[2 * MOST];
static long double _Complex wanted_[MOST];

static void fill(int count) {
  for (int i = 0; i < count; ++i) in_[i] = (double)((i * 7919 + 13) % 1009) / 1009 - 0.5;
}

/* The complex numbers of out_ are `sizes` numbers of wanted_, of which each row has `row`. */
static void compare(int count, int row, int last) {
  long double error = 0, total = 0;
  for (int i = 0; i < count; ++i) {
    const long double _Complex want = wanted_[i / row * last + i % row];
    error += powl(out_[2 * i] - creall(want), 2) + powl(out_[2 * i + 1] - cimagl(want), 2);
    total += creall(want) * creall(want) + cimagl(want) * cimagl(want);
  }
  assert_true(total > 0 && sqrtl(error / total) < 1e-15L);
}

static void check_complex(void* plan, int rank, const int* n, int batch, int sign) {
  int count = batch;
  for (int i = 0; i < rank; ++i) count *= n[i];
  assert_non_null(plan);
  fill(2 * count);
  for (int i = 0; i < count; ++i) wanted_[i] = in_[2 * i] + in_[2 * i + 1] * _Complex_I;
  transform_all(wanted_, rank, n, batch, sign);
  memset(out_, 0, sizeof out_);
  fftw_execute(plan);
  compare(count, 1, 1);
  memset(out_, 0, sizeof out_);
  fftw_execute_dft(plan, in_, out_);
  compare(count, 1, 1);
  fftw_destroy_plan(plan);
}

static void complex_transforms(void** state) {
  (void)state;
  const int n[4] = {4, 6, 5, 3};
  const int stride = 1, distance = 24;
  const dimension rows[2] = {{4, 6, 6}, {6, 1, 1}}, batch[2] = {{2, 72, 72}, {3, 24, 24}};
  const dimension64 wide[2] = {{4, 6, 6}, {6, 1, 1}}, wide_batch[1] = {{3, 24, 24}};
  const int one = 77;
  check_complex(fftw_plan_dft_1d(77, in_, out_, -1, 0), 1, &one, 1, -1);
  check_complex(fftw_plan_dft_2d(4, 6, in_, out_, 1, 0x40), 2, n, 1, 1);
  check_complex(fftw_plan_dft_3d(4, 6, 5, in_, out_, -1, 0), 3, n, 1, -1);
  check_complex(fftw_plan_dft(4, n, in_, out_, 1, 0), 4, n, 1, 1);
  check_complex(
      fftw_plan_many_dft(2, n, 3, in_, NULL, stride, distance, out_, NULL, stride, distance, -1, 0),
      2, n, 3, -1);
  check_complex(
      fftw_plan_many_dft(2, n, 3, in_, n, stride, distance, out_, n, stride, distance, -1, 0), 2, n,
      3, -1);
  check_complex(fftw_plan_guru_dft(2, rows, 2, batch, in_, out_, 1, 0), 2, n, 6, 1);
  check_complex(fftw_plan_guru64_dft(2, wide, 1, wide_batch, in_, out_, -1, 0), 2, n, 3, -1);
}

static void check_real(void* forward, void* inverse, int rank, const int* n, int batch) {
  int count = batch;
  for (int i = 0; i < rank; ++i) count *= n[i];
  const int last = n[rank - 1], row = last / 2 + 1;
  assert_non_null(forward), assert_non_null(inverse);
  fill(count);
  for (int i = 0; i < count; ++i) wanted_[i] = in_[i];
  transform_all(wanted_, rank, n, batch, -1);
  memset(out_, 0, sizeof out_), memset(back_, 0, sizeof back_);
  fftw_execute(forward);
  compare(count / last * row, row, last);
  fftw_execute(inverse);
  const double size = (double)count / batch;
  for (int i = 0; i < count; ++i) assert_true(fabs(back_[i] / size - in_[i]) < 1e-15);
  memset(out_, 0, sizeof out_), memset(back_, 0, sizeof back_);
  fftw_execute_dft_r2c(forward, in_, out_);
  fftw_execute_dft_c2r(inverse, out_, back_);
  for (int i = 0; i < count; ++i) assert_true(fabs(back_[i] / size - in_[i]) < 1e-15);
  fftw_destroy_plan(forward), fftw_destroy_plan(inverse);
}

static void real_transforms(void** state) {
  (void)state;
  const int n[4] = {4, 5, 6, 7}, one = 35;
  const dimension to[2] = {{4, 5, 3}, {5, 1, 1}}, to_batch = {3, 20, 12};
  const dimension from[2] = {{4, 3, 5}, {5, 1, 1}}, from_batch = {3, 12, 20};
  const dimension64 to64[2] = {{4, 5, 3}, {5, 1, 1}}, from64[2] = {{4, 3, 5}, {5, 1, 1}};
  check_real(fftw_plan_dft_r2c_1d(35, in_, out_, 0), fftw_plan_dft_c2r_1d(35, out_, back_, 0), 1,
             &one, 1);
  check_real(fftw_plan_dft_r2c_2d(4, 5, in_, out_, 0), fftw_plan_dft_c2r_2d(4, 5, out_, back_, 0),
             2, n, 1);
  check_real(fftw_plan_dft_r2c_3d(4, 5, 6, in_, out_, 0),
             fftw_plan_dft_c2r_3d(4, 5, 6, out_, back_, 0), 3, n, 1);
  check_real(fftw_plan_dft_r2c(4, n, in_, out_, 0), fftw_plan_dft_c2r(4, n, out_, back_, 0), 4, n,
             1);
  check_real(fftw_plan_many_dft_r2c(2, n, 3, in_, NULL, 1, 20, out_, NULL, 1, 12, 0),
             fftw_plan_many_dft_c2r(2, n, 3, out_, NULL, 1, 12, back_, NULL, 1, 20, 0), 2, n, 3);
  check_real(fftw_plan_guru_dft_r2c(2, to, 1, &to_batch, in_, out_, 0),
             fftw_plan_guru_dft_c2r(2, from, 1, &from_batch, out_, back_, 0), 2, n, 3);
  check_real(fftw_plan_guru64_dft_r2c(2, to64, 0, NULL, in_, out_, 0),
             fftw_plan_guru64_dft_c2r(2, from64, 0, NULL, out_, back_, 0), 2, n, 1);
}

static void rows_are_padded_in_place(void** state) {
  (void)state;
  double data[4 * 6] = {0};
  const int n[2] = {4, 5};
  for (int i = 0; i < 20; ++i) {
    data[i / 5 * 6 + i % 5] = (i * 3) % 7;
    wanted_[i] = (i * 3) % 7;
  }
  transform_all(wanted_, 2, n, 1, -1);
  void* const plan = fftw_plan_dft_r2c_2d(4, 5, data, data, 0);
  fftw_execute(plan);
  memcpy(out_, data, sizeof data);
  compare(12, 3, 5);
  fftw_destroy_plan(plan);
}

/* Long transforms are shared by the device's threads. */
static void single_precision(void** state) {
  (void)state;
  const int n = 1 << 16;
  float* const in = fftwf_malloc((size_t)n * 8);
  float* const out = fftwf_malloc((size_t)n * 8);
  for (int i = 0; i < n; ++i) in[2 * i] = cosf(2 * (float)M_PI * 5 * (float)i / (float)n);
  for (int i = 0; i < n; ++i) in[2 * i + 1] = 0;
  void* const plan = fftwf_plan_dft_1d(n, in, out, -1, 0);
  assert_non_null(plan);
  fftwf_execute(plan);
  for (int i = 0; i < n; ++i) {
    const float want = i == 5 || i == n - 5 ? (float)n / 2 : 0;
    assert_true(fabsf(out[2 * i] - want) < 0.1F && fabsf(out[2 * i + 1]) < 0.1F);
  }
  assert_true(fftwf_cost(plan) > 1e6);
  fftwf_destroy_plan(plan);
  fftwf_free(in), fftwf_free(out);
}

static void the_rest(void** state) {
  (void)state;
  double sums = -1, products = -1, both = -1;
  const int n[9] = {4, 4, 4, 4, 4, 4, 4, 4, 4};
  void* const plan = fftw_plan_dft_1d(8, in_, out_, -1, 0);
  fftw_flops(plan, &sums, &products, &both);
  assert_true(sums + products + both == fftw_cost(plan));
  assert_int_equal(fftw_import_wisdom_from_file(NULL), 0);
  fftw_export_wisdom_to_file(NULL), fftw_set_timelimit(1), fftw_cleanup();
  fftw_print_plan(plan);
  assert_null(fftw_plan_dft_1d(0, in_, out_, -1, 0));
  assert_null(fftw_plan_dft_1d(8, in_, out_, 2, 0));
  assert_null(fftw_plan_dft(9, n, in_, out_, -1, 0));
  assert_null(fftw_plan_dft(0, n, in_, out_, -1, 0));
  assert_null(fftw_plan_dft(1, NULL, in_, out_, -1, 0));
  assert_null(fftw_plan_guru_dft(1, (const dimension*)16, 0, NULL, in_, out_, -1, 0));
  fftw_execute(in_); /* no plan */
  fftw_destroy_plan(plan), fftw_destroy_plan(plan), fftw_destroy_plan(NULL);
  fftw_execute(plan);
  assert_true(fftw_cost(plan) == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(complex_transforms),
      cmocka_unit_test(real_transforms),
      cmocka_unit_test(rows_are_padded_in_place),
      cmocka_unit_test(single_precision),
      cmocka_unit_test(the_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
