/* BLAS in a stream: C = A B after a kernel that made A ready, without waiting in between. */
#include <stdio.h>

#include "session.h"

enum { kSize = 256 };

int main(void) {
  session s = open_session();
  static float a[kSize * kSize], b[kSize * kSize], c[kSize * kSize];
  const float one = 1, zero = 0;
  km_slice slices[3];
  km_blas blas;
  for (int row = 0; row < kSize; ++row) {
    for (int column = 0; column < kSize; ++column) {
      a[row * kSize + column] = row == column ? 1 : 0;
      b[row * kSize + column] = (float)(row - column);
    }
  }
  for (int i = 0; i < 3; ++i) {
    check(km_slice_create(s.context, kSize * kSize, sizeof(float), KM_SLICE_DEFAULT, &slices[i]));
  }
  check(km_slice_upload(s.stream, slices[0], 0, a, sizeof a));
  check(km_slice_upload(s.stream, slices[1], 0, b, sizeof b));

  const km_blas_matrix first = {(uint64_t)slices[0], 0, 0, kSize, 0};
  const km_blas_matrix second = {(uint64_t)slices[1], 0, 0, kSize, 0};
  const km_blas_matrix product = {(uint64_t)slices[2], 0, 0, kSize, 0};
  check(km_blas_create(s.stream, KM_BLAS_LAYOUT_ROWS, &blas));
  queue_scale(&s, slices[0], 3, kSize * kSize); /* A is three times the unit matrix */
  check(km_blas_gemm(blas, KM_DATA_TYPE_F32, KM_BLAS_OPERATION_NONE, KM_BLAS_OPERATION_NONE, kSize,
                     kSize, kSize, &one, &first, &second, &zero, &product));
  check(km_slice_download(s.stream, slices[2], 0, c, sizeof c));
  printf("c[5][2] = %g\n", c[5 * kSize + 2]);
  for (int i = 0; i < kSize * kSize; ++i) require(c[i] == 3 * b[i], "C is three times B");

  check(km_blas_destroy(blas));
  for (int i = 0; i < 3; ++i) check(km_slice_destroy(slices[i]));
  close_session(&s);
  return 0;
}
