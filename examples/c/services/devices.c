/* A matrix product on two devices: each has half of the rows of A and C, and all of B. On a machine
 * without GPUs the CPU is split into two devices, so both together should take about half the time
 * that one of them takes. */
#define _POSIX_C_SOURCE 200809L /* setenv, clock_gettime */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "session.h"

enum { kSize = 768, kRounds = 5 };

typedef struct part {
  km_device device;
  km_context context;
  km_stream stream;
  km_blas blas;
  km_slice a, b, c;
  uint64_t rows;
} part;

/* `rows` rows from `first` on. */
static part open_part(const char* uri, const float* a, const float* b, uint64_t first,
                      uint64_t rows) {
  part p;
  p.rows = rows;
  check(km_device_open(uri, &p.device));
  check(km_context_create(p.device, &p.context));
  check(km_stream_create(p.context, KM_STREAM_DEFAULT, 0, &p.stream));
  check(km_blas_create(p.stream, KM_BLAS_LAYOUT_ROWS, &p.blas));
  check(km_slice_create(p.context, rows * kSize, sizeof(float), 0, &p.a));
  check(km_slice_create(p.context, kSize * kSize, sizeof(float), 0, &p.b));
  check(km_slice_create(p.context, rows * kSize, sizeof(float), 0, &p.c));
  check(km_slice_upload(p.stream, p.a, 0, a + first * kSize, rows * kSize * sizeof(float)));
  check(km_slice_upload(p.stream, p.b, 0, b, sizeof(float) * kSize * kSize));
  return p;
}

static void queue(const part* p) {
  const float one = 1, zero = 0;
  const km_blas_matrix a = {(uint64_t)p->a, 0, 0, kSize, 0};
  const km_blas_matrix b = {(uint64_t)p->b, 0, 0, kSize, 0};
  const km_blas_matrix c = {(uint64_t)p->c, 0, 0, kSize, 0};
  check(km_blas_gemm(p->blas, KM_DATA_TYPE_F32, KM_BLAS_OPERATION_NONE, KM_BLAS_OPERATION_NONE,
                     p->rows, kSize, kSize, &one, &a, &b, &zero, &c));
}

static void close_part(part* p) {
  check(km_slice_destroy(p->a));
  check(km_slice_destroy(p->b));
  check(km_slice_destroy(p->c));
  check(km_blas_destroy(p->blas));
  check(km_stream_destroy(p->stream));
  check(km_context_destroy(p->context));
  check(km_device_destroy(p->device));
}

/* The best of some rounds, in milliseconds. */
static double time_of(const part* parts, int count) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    struct timespec start, end;
    double spent;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < count; ++i) queue(&parts[i]); /* both work from here on */
    for (int i = 0; i < count; ++i) check(km_stream_synchronize(parts[i].stream));
    clock_gettime(CLOCK_MONOTONIC, &end);
    spent = (double)(end.tv_sec - start.tv_sec) * 1e3 + (double)(end.tv_nsec - start.tv_nsec) / 1e6;
    if (spent < best) best = spent;
  }
  return best;
}

int main(void) {
  const uint64_t half = kSize / 2, bytes = half * kSize * sizeof(float);
  float* a = malloc(2 * bytes);
  float* b = malloc(2 * bytes);
  float* whole = malloc(2 * bytes);
  float* halves = malloc(2 * bytes);
  part one, two[2];
  double alone, together;
  require(a != NULL && b != NULL && whole != NULL && halves != NULL, "there is memory");
  setenv("KM_CPU_DEVICES", "2", 0); /* before the first call: two devices on one processor */
  for (int i = 0; i < kSize * kSize; ++i) {
    a[i] = (float)(i % 7 - 3); /* small integers: every order of adding gives the same sum */
    b[i] = (float)(i % 5 - 2);
  }
  one = open_part("cpu:0", a, b, 0, kSize);
  two[0] = open_part("cpu:0", a, b, 0, half);
  two[1] = open_part("cpu:1", a, b, half, half);
  alone = time_of(&one, 1);
  together = time_of(two, 2);
  check(km_slice_download(one.stream, one.c, 0, whole, 2 * bytes));
  check(km_slice_download(two[0].stream, two[0].c, 0, halves, bytes));
  check(km_slice_download(two[1].stream, two[1].c, 0, halves + half * kSize, bytes));
  printf("one device %.2f ms, two devices %.2f ms: %.2f times as fast\n", alone, together,
         alone / together);
  require(memcmp(whole, halves, 2 * bytes) == 0, "both ways give the same product");
  close_part(&one);
  close_part(&two[0]);
  close_part(&two[1]);
  free(a);
  free(b);
  free(whole);
  free(halves);
  return 0;
}
