/* Products of general matrices against sums by the test. */
#include "support.h"

#include <math.h>
#include <string.h>

enum { M = 7, N = 5, K = 9, LDA = 12, LDB = 13, LDC = 11, BATCH = 3 };
enum { SIZE_A = LDA * 12, SIZE_B = LDB * 12, SIZE_C = LDC * N };

static const number alpha = 1.5 - 0.5 * I, beta = -0.75 + 0.25 * I;

static number of_type(char type, number value) {
  return type == 'S' || type == 'D' ? creal(value) : value;
}

static void check_product(char type, int op_a, int op_b, const void* a, const void* b,
                          const void* before, const void* after, number factor, number kept) {
  for (long j = 0; j < N; ++j) {
    for (long i = 0; i < M; ++i) {
      number sum = 0;
      for (long k = 0; k < K; ++k) {
        sum += element(type, a, LDA, op_a, i, k) * element(type, b, LDB, op_b, k, j);
      }
      const number old = kept == 0 ? 0 : kept * get(type, before, i + j * LDC);
      NEAR(type, factor * sum + old, get(type, after, i + j * LDC));
    }
  }
  for (long i = M; i < LDC; ++i) NEAR(type, get(type, before, i), get(type, after, i));
}

static void* copy_of(char type, const void* data, long count) {
  void* const copy = managed((size_t)count * size_of(type));
  memcpy(copy, data, (size_t)count * size_of(type));
  return copy;
}

/* The result of one form of the call, with scalars on the host or on the device. */
#define DEFINE(L, T)                                                                               \
  static void gemm_##L(int op_a, int op_b, int on_device) {                                        \
    const char type = *#L;                                                                         \
    T* const a = fill(type, SIZE_A);                                                               \
    T* const b = fill(type, SIZE_B);                                                               \
    T* const before = fill(type, SIZE_C);                                                          \
    T* const after = copy_of(type, before, SIZE_C);                                                \
    T* const scalars = managed(2 * sizeof(T));                                                     \
    const number factor = of_type(type, alpha), kept = of_type(type, beta);                        \
    put(type, scalars, 0, factor);                                                                 \
    put(type, scalars, 1, kept);                                                                   \
    T host[2];                                                                                     \
    memcpy(host, scalars, sizeof host);                                                            \
    OK(cublasSetPointerMode_v2(handle, on_device));                                                \
    const T* const place = on_device ? scalars : host;                                             \
    OK(cublas##L##gemm_v2(handle, op_a, op_b, M, N, K, place, a, LDA, b, LDB, place + 1, after,    \
                          LDC));                                                                   \
    wait_for_device();                                                                             \
    check_product(type, op_a, op_b, a, b, before, after, factor, kept);                            \
    OK(cublas##L##gemm_v2_64(handle, op_a, op_b, M, N, K, place, a, LDA, b, LDB, place + 1,        \
                             before, LDC));                                                        \
    wait_for_device();                                                                             \
    for (long i = 0; i < SIZE_C; ++i) NEAR(type, get(type, after, i), get(type, before, i));       \
  }                                                                                                \
  static void batch_##L(int op_a, int op_b) {                                                      \
    const char type = *#L;                                                                         \
    T* const a = fill(type, SIZE_A * BATCH);                                                       \
    T* const b = fill(type, SIZE_B * BATCH);                                                       \
    T* const before = fill(type, SIZE_C * BATCH);                                                  \
    T* const strided = copy_of(type, before, SIZE_C * BATCH);                                      \
    T* const pointed = copy_of(type, before, SIZE_C * BATCH);                                      \
    T scalars[2];                                                                                  \
    put(type, scalars, 0, of_type(type, alpha));                                                   \
    put(type, scalars, 1, of_type(type, beta));                                                    \
    const T** const as = managed(BATCH * sizeof(T*));                                              \
    const T** const bs = managed(BATCH * sizeof(T*));                                              \
    T** const cs = managed(BATCH * sizeof(T*));                                                    \
    for (int i = 0; i < BATCH; ++i) {                                                              \
      as[i] = a + i * SIZE_A;                                                                      \
      bs[i] = b + i * SIZE_B;                                                                      \
      cs[i] = pointed + i * SIZE_C;                                                                \
    }                                                                                              \
    OK(cublas##L##gemmStridedBatched(handle, op_a, op_b, M, N, K, scalars, a, LDA, SIZE_A, b, LDB, \
                                     SIZE_B, scalars + 1, strided, LDC, SIZE_C, BATCH));           \
    OK(cublas##L##gemmBatched(handle, op_a, op_b, M, N, K, scalars, as, LDA, bs, LDB, scalars + 1, \
                              cs, LDC, BATCH));                                                    \
    wait_for_device();                                                                             \
    for (int i = 0; i < BATCH; ++i) {                                                              \
      check_product(type, op_a, op_b, as[i], bs[i], before + i * SIZE_C, strided + i * SIZE_C,     \
                    of_type(type, alpha), of_type(type, beta));                                    \
      check_product(type, op_a, op_b, as[i], bs[i], before + i * SIZE_C, cs[i],                    \
                    of_type(type, alpha), of_type(type, beta));                                    \
    }                                                                                              \
  }                                                                                                \
  static void gemv_batch_##L(int op, int incx, int incy) {                                         \
    const char type = *#L;                                                                         \
    const int rows = op == OP_N ? M : K, columns = op == OP_N ? K : M;                             \
    T* const a = fill(type, SIZE_A * BATCH);                                                       \
    T* const x = fill(type, 40 * BATCH);                                                           \
    T* const before = fill(type, 40 * BATCH);                                                      \
    T* const after = copy_of(type, before, 40 * BATCH);                                            \
    T scalars[2];                                                                                  \
    put(type, scalars, 0, 2);                                                                      \
    put(type, scalars, 1, 3);                                                                      \
    OK(cublas##L##gemvStridedBatched(handle, op, M, K, scalars, a, LDA, SIZE_A, x, incx, 40,       \
                                     scalars + 1, after, incy, 40, BATCH));                        \
    wait_for_device();                                                                             \
    for (int which = 0; which < BATCH; ++which) {                                                  \
      for (int i = 0; i < rows; ++i) {                                                             \
        number sum = 0;                                                                            \
        for (int k = 0; k < columns; ++k) {                                                        \
          const int at = incx > 0 ? k * incx : (k - columns + 1) * incx;                           \
          sum += element(type, a + which * SIZE_A, LDA, op, i, k) * get(type, x + which * 40, at); \
        }                                                                                          \
        const int at = incy > 0 ? i * incy : (i - rows + 1) * incy;                                \
        NEAR(type, 2 * sum + 3 * get(type, before, which * 40 + at),                               \
             get(type, after, which * 40 + at));                                                   \
      }                                                                                            \
    }                                                                                              \
  }
FOR_TYPES(DEFINE)

static void products_of_all_types_and_operations(void** state) {
  (void)state;
  assert_true((intptr_t)handle > 0); /* Python programs keep handles in signed integers */
  for (int op_a = OP_N; op_a <= OP_C; ++op_a) {
    for (int op_b = OP_N; op_b <= OP_C; ++op_b) {
#define RUN(L, T)          \
  gemm_##L(op_a, op_b, 0); \
  gemm_##L(op_a, op_b, 1);
      FOR_TYPES(RUN)
#undef RUN
    }
    tear_down(NULL);
    set_up(NULL);
  }
}

static void batches_by_strides_and_pointers(void** state) {
  (void)state;
#define RUN(L, T) batch_##L(OP_N, OP_N), batch_##L(OP_T, OP_C), batch_##L(OP_C, OP_T);
  FOR_TYPES(RUN)
#undef RUN
}

static void batches_of_vectors_with_increments(void** state) {
  (void)state;
#define RUN(L, T) \
  gemv_batch_##L(OP_N, 1, 1), gemv_batch_##L(OP_T, 2, -3), gemv_batch_##L(OP_C, -2, 4);
  FOR_TYPES(RUN)
#undef RUN
}

static void a_beta_of_zero_does_not_read(void** state) {
  (void)state;
  float* const a = fill('S', SIZE_A);
  float* const b = fill('S', SIZE_B);
  float* const c = fill('S', SIZE_C);
  float* const zero = managed(8);
  zero[0] = 1;
  zero[1] = 0;
  for (int mode = 0; mode < 2; ++mode) {
    for (int i = 0; i < SIZE_C; ++i) c[i] = i % LDC < M ? NAN : 0;
    OK(cublasSetPointerMode_v2(handle, mode));
    OK(cublasSgemm_v2(handle, OP_N, OP_N, M, N, K, zero, a, LDA, b, LDB, zero + 1, c, LDC));
    wait_for_device();
    check_product('S', OP_N, OP_N, a, b, c, c, 1, 0);
  }
}

/* Halves: sums of f32, rounded once. Small integers make the result exact. */
static void products_of_halves_are_exact_for_small_integers(void** state) {
  (void)state;
  uint16_t* const a = managed(2 * M * K);
  uint16_t* const b = managed(2 * K * N);
  uint16_t* const c = managed(2 * M * N);
  float* const wide = managed(4 * M * N);
  for (int type = R_16F; type <= R_16BF; type += R_16BF - R_16F) {
    uint16_t (*const narrow)(float) = type == R_16F ? half_of : bfloat_of;
    for (int i = 0; i < M * K; ++i) a[i] = narrow((float)(i % 5 - 2));
    for (int i = 0; i < K * N; ++i) b[i] = narrow((float)(i % 7 - 3));
    const float one = 1, zero = 0;
    OK(cublasGemmEx(handle, OP_N, OP_N, M, N, K, &one, a, type, M, b, type, K, &zero, c, type, M,
                    COMPUTE_32F, -1));
    OK(cublasGemmEx(handle, OP_N, OP_N, M, N, K, &one, a, type, M, b, type, K, &zero, wide, R_32F,
                    M, COMPUTE_32F, -1));
    wait_for_device();
    for (int i = 0; i < M; ++i) {
      for (int j = 0; j < N; ++j) {
        int sum = 0;
        for (int k = 0; k < K; ++k) sum += ((i + k * M) % 5 - 2) * ((k + j * K) % 7 - 3);
        assert_int_equal(c[i + j * M], narrow((float)sum));
        assert_int_equal((int)wide[i + j * M], sum);
      }
    }
  }
  const uint16_t two = half_of(2), none = 0;
  for (int i = 0; i < M * K; ++i) a[i] = half_of(1);
  for (int i = 0; i < K * N; ++i) b[i] = half_of(3);
  OK(cublasHgemm(handle, OP_N, OP_N, M, N, K, &two, a, M, b, K, &none, c, M));
  wait_for_device();
  for (int i = 0; i < M * N; ++i) assert_int_equal(c[i], half_of(2 * 3 * K));
}

static void products_of_bytes_are_exact(void** state) {
  (void)state;
  enum { LONG_K = 2000 };
  int8_t* const a = managed(4 * LONG_K);
  int8_t* const b = managed(4 * LONG_K);
  int32_t* const c = managed(16 * 4);
  for (int i = 0; i < 4 * LONG_K; ++i) {
    a[i] = (int8_t)(i % 2 ? 127 : -128);
    b[i] = (int8_t)(i % 3 ? -128 : 125);
  }
  for (int i = 0; i < 16; ++i) c[i] = i;
  const int32_t factor = 3, kept = -2;
  OK(cublasGemmEx(handle, OP_T, OP_N, 4, 4, LONG_K, &factor, a, R_8I, LONG_K, b, R_8I, LONG_K,
                  &kept, c, R_32I, 4, COMPUTE_32I, -1));
  wait_for_device();
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      int32_t sum = 0;
      for (int k = 0; k < LONG_K; ++k) sum += a[k + i * LONG_K] * b[k + j * LONG_K];
      assert_int_equal(c[i + 4 * j], 3 * sum - 2 * (i + 4 * j));
    }
  }
}

static void groups_of_batches(void** state) {
  (void)state;
  const int ops[2] = {OP_N, OP_T}, plain[2] = {OP_N, OP_N}, m[2] = {2, 3}, n[2] = {4, 2},
            k[2] = {3, 2}, size[2] = {1, 2}, ld[2] = {4, 4};
  const float factor[2] = {2, -1}, kept[2] = {0, 1};
  const float** const a = managed(3 * sizeof *a);
  const float** const b = managed(3 * sizeof *b);
  float** const c = managed(3 * sizeof *c);
  float before[3][16];
  for (int i = 0; i < 3; ++i) {
    a[i] = fill('S', 16);
    b[i] = fill('S', 16);
    c[i] = fill('S', 16);
    memcpy(before[i], c[i], sizeof before[i]);
  }
  OK(cublasSgemmGroupedBatched(handle, ops, plain, m, n, k, factor, a, ld, b, ld, kept, c, ld, 2,
                               size));
  wait_for_device();
  for (int i = 0; i < 3; ++i) {
    const int g = i == 0 ? 0 : 1;
    for (int row = 0; row < m[g]; ++row) {
      for (int column = 0; column < n[g]; ++column) {
        number sum = 0;
        for (int l = 0; l < k[g]; ++l) {
          sum += element('S', a[i], 4, ops[g], row, l) * element('S', b[i], 4, OP_N, l, column);
        }
        NEAR('S', factor[g] * sum + kept[g] * before[i][row + 4 * column], c[i][row + 4 * column]);
      }
    }
  }
}

static void captured_products_run_with_the_graph(void** state) {
  (void)state;
  float* const a = fill('S', 4);
  float* const b = fill('S', 4);
  float* const c = managed(16);
  memset(c, 0, 16);
  const float one = 1;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  OK(cudaStreamCreate(&stream));
  OK(cublasSetStream_v2(handle, stream));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  OK(cublasSgemm_v2(handle, OP_N, OP_N, 2, 2, 2, &one, a, 2, b, 2, &one, c, 2));
  OK(cudaStreamEndCapture(stream, &graph));
  for (int i = 0; i < 4; ++i) assert_true(c[i] == 0);
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaGraphLaunch(executable, stream));
  OK(cudaGraphLaunch(executable, stream));
  OK(cudaStreamSynchronize(stream));
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      NEAR('S', 2 * (a[i] * b[2 * j] + a[i + 2] * b[2 * j + 1]), c[i + 2 * j]);
    }
  }
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));
  OK(cudaStreamDestroy(stream));
  OK(cublasSetStream_v2(handle, NULL));
}

/* A call that is not there says so in its status, and in the log what to do instead. */
static void products_of_bytes_with_biases_are_refused(void** state) {
  (void)state;
  unsigned char* const a = managed(16);
  EXPECT(NOT_SUPPORTED,
         cublasUint8gemmBias(handle, OP_N, OP_N, OP_N, 4, 4, 4, a, 1, 4, a, 1, 4, a, 1, 4, 1, 1));
  EXPECT(NOT_INITIALIZED,
         cublasUint8gemmBias(NULL, OP_N, OP_N, OP_N, 4, 4, 4, a, 1, 4, a, 1, 4, a, 1, 4, 1, 1));
}

static void wrong_arguments_are_refused(void** state) {
  (void)state;
  float* const a = fill('S', 64);
  float* const c = fill('S', 64);
  const float one = 1;
  EXPECT(INVALID_VALUE, cublasSgemm_v2(handle, 7, OP_N, 2, 2, 2, &one, a, 2, a, 2, &one, c, 2));
  EXPECT(INVALID_VALUE, cublasSgemm_v2(handle, OP_N, OP_N, -1, 2, 2, &one, a, 2, a, 2, &one, c, 2));
  EXPECT(INVALID_VALUE, cublasSgemm_v2(handle, OP_N, OP_N, 2, 2, 2, &one, a, 1, a, 2, &one, c, 2));
  EXPECT(INVALID_VALUE, cublasSgemm_v2(handle, OP_N, OP_N, 2, 2, 2, NULL, a, 2, a, 2, &one, c, 2));
  EXPECT(INVALID_VALUE,
         cublasSgemm_v2(handle, OP_N, OP_N, 2, 2, 2, &one, NULL, 2, a, 2, &one, c, 2));
  EXPECT(INVALID_VALUE,
         cublasSgemm_v2(handle, OP_N, OP_N, 2, 2, 2, &one, (void*)64, 2, a, 2, &one, c, 2));
  EXPECT(INVALID_VALUE, cublasSgemm_v2(handle, OP_N, OP_N, 1 << 15, 1 << 15, 2, &one, a, 1 << 15, a,
                                       2, &one, c, 1 << 15));
  EXPECT(INVALID_VALUE, cublasSgemm_v2(handle, OP_N, OP_N, 2, 2, 2, &one, a, 2, a, 2, &one, a, 2));
  EXPECT(INVALID_VALUE, cublasGemmEx(handle, 0, 0, 2, 2, 2, &one, a, R_32F, 2, a, R_32F, 2, &one, c,
                                     R_32F, 2, 1234, -1));
  EXPECT(NOT_SUPPORTED, cublasGemmEx(handle, 0, 0, 2, 2, 2, &one, a, 99, 2, a, R_32F, 2, &one, c,
                                     R_32F, 2, COMPUTE_32F, -1));
  EXPECT(NOT_INITIALIZED, cublasSgemm_v2((cublasHandle_t)(uintptr_t)77, 0, 0, 2, 2, 2, &one, a, 2,
                                         a, 2, &one, c, 2));
  OK(cublasSgemm_v2(handle, OP_N, OP_N, 0, 2, 2, &one, NULL, 1, a, 2, &one, NULL, 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(products_of_all_types_and_operations),
      TEST(batches_by_strides_and_pointers),
      TEST(batches_of_vectors_with_increments),
      TEST(a_beta_of_zero_does_not_read),
      TEST(products_of_halves_are_exact_for_small_integers),
      TEST(products_of_bytes_are_exact),
      TEST(groups_of_batches),
      TEST(captured_products_run_with_the_graph),
      TEST(products_of_bytes_with_biases_are_refused),
      TEST(wrong_arguments_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
