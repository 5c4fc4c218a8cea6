/* cublasLt: layouts, descriptors, epilogues, scales. */
#include "support.h"

#include <math.h>
#include <string.h>

typedef struct {
  uint64_t algorithm[8];
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
} result;

int cublasLtCreate(void**);
int cublasLtDestroy(void*);
size_t cublasLtGetVersion(void);
int cublasLtMatrixLayoutCreate(void**, int, uint64_t, uint64_t, int64_t);
int cublasLtMatrixLayoutInit_internal(void*, size_t, int, uint64_t, uint64_t, int64_t);
int cublasLtMatrixLayoutDestroy(void*);
int cublasLtMatrixLayoutSetAttribute(void*, int, const void*, size_t);
int cublasLtMatrixLayoutGetAttribute(void*, int, void*, size_t, size_t*);
int cublasLtGroupedMatrixLayoutCreate(void**, int, int, const void*, const void*, const void*);
int cublasLtMatmulDescCreate(void**, int, int);
int cublasLtMatmulDescDestroy(void*);
int cublasLtMatmulDescSetAttribute(void*, int, const void*, size_t);
int cublasLtMatmulPreferenceCreate(void**);
int cublasLtMatmulPreferenceDestroy(void*);
int cublasLtMatmulPreferenceSetAttribute(void*, int, const void*, size_t);
int cublasLtMatmulPreferenceGetAttribute(void*, int, void*, size_t, size_t*);
int cublasLtMatmulDescGetAttribute(void*, int, void*, size_t, size_t*);
int cublasLtMatmulAlgoConfigSetAttribute(uint64_t*, int, const void*, size_t);
int cublasLtMatmulAlgoConfigGetAttribute(const uint64_t*, int, void*, size_t, size_t*);
int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int, result*,
                                   int*);
int cublasLtMatmulAlgoGetHeuristicForStream(void*, void*, void*, void*, void*, void*, void*, int,
                                            result*, int*, cudaStream_t);
int cublasLtMatmulAlgoInit(void*, int, int, int, int, int, int, int, uint64_t*);
int cublasLtMatmulAlgoCheckForStream(void*, void*, void*, void*, void*, void*, const uint64_t*,
                                     result*, cudaStream_t);
int cublasLtMatmulAlgoCapGetAttribute(const uint64_t*, int, void*, size_t, size_t*);
int cublasLtHeuristicsCacheGetCapacity(size_t*);
int cublasLtHeuristicsCacheSetCapacity(size_t);
int cublasLtEmulationDescCreate(void**);
int cublasLtEmulationDescDestroy(void*);
int cublasLtEmulationDescSetAttribute(void*, int, const void*, size_t);
int cublasLtEmulationDescGetAttribute(void*, int, void*, size_t, size_t*);
int cublasLtMatmul(void*, void*, const void*, const void*, void*, const void*, void*, const void*,
                   const void*, void*, void*, void*, const void*, void*, size_t, cudaStream_t);
int cublasLtMatrixTransformDescCreate(void**, int);
int cublasLtMatrixTransformDescDestroy(void*);
int cublasLtMatrixTransformDescSetAttribute(void*, int, const void*, size_t);
int cublasLtMatrixTransform(void*, void*, const void*, const void*, void*, const void*, const void*,
                            void*, void*, void*, cudaStream_t);

enum { M = 6, N = 4, K = 5, LD = 8 };
enum {
  RELU = 2,
  BIAS = 4,
  DRELU = 136,
  GELU = 32,
  DGELU = 192,
  AUX = 128,
  BGRAD = 16,
  BGRADA = 256
};
enum {
  POINTER_MODE = 2,
  TRANS_A = 3,
  EPILOGUE = 7,
  BIAS_POINTER = 8,
  AUX_POINTER = 11,
  AUX_LD = 12,
  A_SCALE = 17,
  D_SCALE = 20,
  AMAX_D = 21
};
enum { ORDER = 1, BATCH_COUNT = 5, BATCH_OFFSET = 6, E4M3 = 28 };

static void* lt;
static void *matmul, *layout_a, *layout_b, *layout_c;
static float *a, *b, *c, *d, *bias, *aux;

static void make(int type, int compute, int scale) {
  OK(cublasLtCreate(&lt));
  assert_true((intptr_t)lt > 0); /* Python programs keep handles in signed integers */
  OK(cublasLtMatmulDescCreate(&matmul, compute, scale));
  OK(cublasLtMatrixLayoutCreate(&layout_a, type, M, K, LD));
  OK(cublasLtMatrixLayoutCreate(&layout_b, type, K, N, LD));
  OK(cublasLtMatrixLayoutCreate(&layout_c, type, M, N, LD));
  a = fill('S', LD * LD), b = fill('S', LD * LD), c = fill('S', LD * LD), d = fill('S', LD * LD);
  bias = fill('S', LD), aux = fill('S', 128 * N);
}

static void drop(void) {
  wait_for_device();
  OK(cublasLtMatmulDescDestroy(matmul));
  OK(cublasLtMatrixLayoutDestroy(layout_a));
  OK(cublasLtMatrixLayoutDestroy(layout_b));
  OK(cublasLtMatrixLayoutDestroy(layout_c));
  OK(cublasLtDestroy(lt));
}

static int multiply(float alpha, float beta) {
  const int given = cublasLtMatmul(lt, matmul, &alpha, a, layout_a, b, layout_b, &beta, c, layout_c,
                                   d, layout_c, NULL, NULL, 0, NULL);
  wait_for_device();
  return given;
}

static double product(int row, int column) {
  double sum = 0;
  for (int k = 0; k < K; ++k) sum += a[row + k * LD] * b[k + column * LD];
  return sum;
}

static double gelu(double x) {
  return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

static void set_epilogue(int epilogue) {
  const int64_t aux_ld = 128;
  OK(cublasLtMatmulDescSetAttribute(matmul, EPILOGUE, &epilogue, 4));
  OK(cublasLtMatmulDescSetAttribute(matmul, BIAS_POINTER, &bias, 8));
  OK(cublasLtMatmulDescSetAttribute(matmul, AUX_POINTER, &aux, 8));
  OK(cublasLtMatmulDescSetAttribute(matmul, AUX_LD, &aux_ld, 8));
}

static void results_are_those_of_the_epilogue(void** state) {
  (void)state;
  make(R_32F, COMPUTE_32F, R_32F);
  const int epilogues[] = {
      1, RELU, BIAS, RELU | BIAS, GELU, GELU | BIAS, RELU | AUX | BIAS, GELU | AUX | BIAS};
  for (size_t which = 0; which < sizeof epilogues / sizeof *epilogues; ++which) {
    const int epilogue = epilogues[which];
    set_epilogue(epilogue);
    OK(multiply(2, -1));
    for (int i = 0; i < M; ++i) {
      for (int j = 0; j < N; ++j) {
        double value = 2 * product(i, j) - c[i + j * LD];
        if (epilogue & BIAS) value += bias[i];
        if ((epilogue & GELU) && (epilogue & AUX)) NEAR('S', value, aux[i + 128 * j]);
        if ((epilogue & RELU) && (epilogue & AUX)) {
          const unsigned char* const bits = (const unsigned char*)aux;
          assert_int_equal(bits[(128 * j + i) / 8] >> (i % 8) & 1, value > 0);
        }
        if (epilogue & RELU) value = value > 0 ? value : 0;
        if (epilogue & GELU) value = gelu(value);
        NEAR('S', value, d[i + j * LD]);
      }
    }
  }
  drop();
}

static void gradients_are_those_of_the_activation(void** state) {
  (void)state;
  make(R_32F, COMPUTE_32F, R_32F);
  set_epilogue(DGELU | BGRAD);
  OK(multiply(1, 0));
  for (int i = 0; i < M; ++i) {
    double sum = 0;
    for (int j = 0; j < N; ++j) {
      const double x = aux[i + 128 * j], step = 1e-4;
      const double slope = (gelu(x + step) - gelu(x - step)) / (2 * step);
      NEAR('S', product(i, j) * slope, d[i + j * LD]);
      sum += d[i + j * LD];
    }
    NEAR('S', sum, bias[i]);
  }
  memset(aux, 0xa5, 128 * N / 8);
  set_epilogue(DRELU);
  OK(multiply(1, 0));
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) NEAR('S', 0xa5 >> i & 1 ? product(i, j) : 0, d[i + j * LD]);
  }
  set_epilogue(BGRADA);
  OK(multiply(1, 0));
  for (int i = 0; i < M; ++i) {
    double sum = 0;
    for (int k = 0; k < K; ++k) sum += a[i + k * LD];
    NEAR('S', sum, bias[i]);
  }
  drop();
}

static void matrices_may_lie_by_rows(void** state) {
  (void)state;
  make(R_32F, COMPUTE_32F, R_32F);
  const int rows = 1;
  OK(cublasLtMatrixLayoutSetAttribute(layout_a, ORDER, &rows, 4));
  OK(cublasLtMatrixLayoutSetAttribute(layout_c, ORDER, &rows, 4));
  set_epilogue(BIAS);
  OK(multiply(1, 2));
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      double sum = bias[i] + 2 * c[j + i * LD];
      for (int k = 0; k < K; ++k) sum += a[k + i * LD] * b[k + j * LD];
      NEAR('S', sum, d[j + i * LD]);
    }
  }
  drop();
}

static void scalars_may_lie_on_the_device(void** state) {
  (void)state;
  make(R_32F, COMPUTE_32F, R_32F);
  float* const alphas = fill('S', M);
  const int mode = 3; /* alpha for each row, no beta */
  const float beta = 9;
  OK(cublasLtMatmulDescSetAttribute(matmul, POINTER_MODE, &mode, 4));
  OK(cublasLtMatmul(lt, matmul, alphas, a, layout_a, b, layout_b, &beta, c, layout_c, d, layout_c,
                    NULL, NULL, 0, NULL));
  wait_for_device();
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) NEAR('S', alphas[i] * product(i, j), d[i + j * LD]);
  }
  drop();
}

/* e4m3 has 1, 2, 3 and 4 exactly; the result is scaled and saturates at 448. */
static void small_numbers_have_scales(void** state) {
  (void)state;
  make(R_32F, COMPUTE_32F, R_32F);
  uint8_t* const small = managed(LD * LD);
  uint8_t* const small_d = managed(LD * LD);
  const uint8_t codes[] = {0x38, 0x40, 0x44, 0x48}; /* 1 to 4 */
  for (int i = 0; i < LD * LD; ++i) small[i] = codes[i % 4];
  void *layout_s, *layout_t, *layout_d, *description;
  OK(cublasLtMatmulDescCreate(&description, COMPUTE_32F, R_32F));
  const int transposed = 1;
  OK(cublasLtMatmulDescSetAttribute(description, TRANS_A, &transposed, 4));
  float* const scales = managed(12);
  scales[0] = 0.5F, scales[1] = 4, scales[2] = 0;
  float *const scale_a = scales, *const scale_d = scales + 1, *const largest = scales + 2;
  OK(cublasLtMatmulDescSetAttribute(description, A_SCALE, &scale_a, 8));
  OK(cublasLtMatmulDescSetAttribute(description, D_SCALE, &scale_d, 8));
  OK(cublasLtMatmulDescSetAttribute(description, AMAX_D, &largest, 8));
  OK(cublasLtMatrixLayoutCreate(&layout_s, E4M3, 8, 4, LD));
  OK(cublasLtMatrixLayoutCreate(&layout_t, R_16BF, 4, 4, LD));
  OK(cublasLtMatrixLayoutCreate(&layout_d, E4M3, 4, 4, LD));
  const float one = 1, zero = 0;
  OK(cublasLtMatmul(lt, description, &one, small, layout_s, small, layout_s, &zero, NULL, layout_t,
                    small_d, layout_d, NULL, NULL, 0, NULL));
  wait_for_device();
  assert_true(*largest == 30);        /* 60 / 2: each column has 2 (1 + 4 + 9 + 16) */
  assert_int_equal(small_d[0], 0x6f); /* 30 * 4 = 120 */
  OK(cublasLtMatmulDescDestroy(description));
  OK(cublasLtMatrixLayoutDestroy(layout_s));
  OK(cublasLtMatrixLayoutDestroy(layout_t));
  OK(cublasLtMatrixLayoutDestroy(layout_d));
  drop();
}

static void heuristics_say_whether_a_product_is_possible(void** state) {
  (void)state;
  make(R_16F, COMPUTE_32F, R_32F);
  void* preference;
  result found[2];
  int count = -1;
  const uint64_t bytes = 1 << 20;
  OK(cublasLtMatmulPreferenceCreate(&preference));
  OK(cublasLtMatmulPreferenceSetAttribute(preference, 1, &bytes, 8));
  OK(cublasLtMatmulAlgoGetHeuristic(lt, matmul, layout_a, layout_b, layout_c, layout_c, preference,
                                    2, found, &count));
  assert_int_equal(count, 1);
  assert_int_equal(found[0].state, 0);
  EXPECT(INVALID_VALUE, cublasLtMatmulAlgoGetHeuristic(lt, matmul, layout_b, layout_b, layout_c,
                                                       layout_c, preference, 2, found, &count));
  assert_int_equal(count, 0);
  const int unknown = 77;
  OK(cublasLtMatmulDescSetAttribute(matmul, EPILOGUE, &unknown, 4));
  EXPECT(NOT_SUPPORTED, cublasLtMatmulAlgoGetHeuristic(lt, matmul, layout_a, layout_b, layout_c,
                                                       layout_c, preference, 2, found, &count));
  OK(cublasLtMatmulPreferenceDestroy(preference));
  drop();
}

static int capability(const uint64_t* algorithm, int id) {
  int value = -1;
  size_t written = 0;
  OK(cublasLtMatmulAlgoCapGetAttribute(algorithm, id, &value, sizeof value, &written));
  assert_int_equal(written, sizeof value);
  return value;
}

static void algorithms_have_capabilities(void** state) {
  (void)state;
  enum { SPLIT_K = 0, STRIDED_BATCH = 3, POINTER_MODES = 11, EPILOGUES = 12, NUMERICS = 15 };
  enum { ALIGNMENT_A = 16, ALIGNMENT_B, ALIGNMENT_C, ALIGNMENT_D };
  make(R_16F, COMPUTE_32F, R_32F);
  void* preference;
  result found;
  int count = -1;
  OK(cublasLtMatmulPreferenceCreate(&preference));
  OK(cublasLtMatmulAlgoGetHeuristicForStream(lt, matmul, layout_a, layout_b, layout_c, layout_c,
                                             preference, 1, &found, &count, NULL));
  assert_int_equal(count, 1);
  OK(cublasLtMatmulAlgoCheckForStream(lt, matmul, layout_a, layout_b, layout_c, layout_c,
                                      found.algorithm, &found, NULL));
  assert_int_equal(capability(found.algorithm, SPLIT_K), 0);
  assert_int_equal(capability(found.algorithm, STRIDED_BATCH), 1);
  assert_int_equal(capability(found.algorithm, POINTER_MODES), 31);
  assert_int_equal(capability(found.algorithm, EPILOGUES) & (RELU | GELU | BIAS | AUX), 174 - 8);
  assert_int_equal(capability(found.algorithm, ALIGNMENT_A), 2);
  OK(cublasLtMatmulAlgoInit(lt, COMPUTE_32F, R_32F, R_8I, R_16F, R_32F, R_64F, 0, found.algorithm));
  assert_int_equal(capability(found.algorithm, ALIGNMENT_A), 1);
  assert_int_equal(capability(found.algorithm, ALIGNMENT_B), 2);
  assert_int_equal(capability(found.algorithm, ALIGNMENT_C), 4);
  assert_int_equal(capability(found.algorithm, ALIGNMENT_D), 8);
  uint64_t flags = 0;
  size_t written = 0;
  OK(cublasLtMatmulAlgoCapGetAttribute(found.algorithm, NUMERICS, NULL, 0, &written));
  assert_int_equal(written, 8);
  EXPECT(INVALID_VALUE,
         cublasLtMatmulAlgoCapGetAttribute(found.algorithm, NUMERICS, &flags, 4, &written));
  OK(cublasLtMatmulAlgoCapGetAttribute(found.algorithm, NUMERICS, &flags, 8, &written));
  assert_int_equal(flags & 1, 1);
  const int unknown[] = {-1, 8, 9, 20, 24};
  for (int i = 0; i < 5; ++i) {
    EXPECT(INVALID_VALUE,
           cublasLtMatmulAlgoCapGetAttribute(found.algorithm, unknown[i], &flags, 8, &written));
  }
  OK(cublasLtMatmulPreferenceDestroy(preference));
  drop();
}

/* The header says which value each attribute has at first. */
static void attributes_begin_as_the_header_says(void** state) {
  (void)state;
  enum { REDUCTION_SCHEMES = 3, REDUCTION_DIM = 13, ROWS_OF_D, COLUMNS_OF_D };
  enum { BATCH_INVARIANCE = 41, DISABLED = 0, ALIGN_2B = 1, UNSET = 0x8000 };
  make(R_32F, COMPUTE_32F, R_32F);
  const uint32_t zero = 0, four = 4;
  uint32_t value = 1;
  size_t written = 0;
  void* preference;
  OK(cublasLtMatmulPreferenceCreate(&preference));
  OK(cublasLtMatmulPreferenceGetAttribute(preference, REDUCTION_SCHEMES, &value, 4, &written));
  assert_int_equal(value, 7);
  for (int id = REDUCTION_DIM; id <= COLUMNS_OF_D; ++id) {
    OK(cublasLtMatmulPreferenceGetAttribute(preference, id, &value, 4, &written));
    assert_int_equal(value, 0);
    OK(cublasLtMatmulPreferenceSetAttribute(preference, id, &zero, 4));
    EXPECT(NOT_SUPPORTED, cublasLtMatmulPreferenceSetAttribute(preference, id, &four, 4));
  }
  OK(cublasLtMatmulPreferenceDestroy(preference));
  OK(cublasLtMatmulDescGetAttribute(matmul, BATCH_INVARIANCE, &value, 4, &written));
  assert_int_equal(value, UNSET);
  const uint32_t flags[] = {DISABLED, ALIGN_2B, UNSET};
  const int expected[] = {0, NOT_SUPPORTED, 0};
  for (int i = 0; i < 3; ++i) {
    OK(cublasLtMatmulDescSetAttribute(matmul, BATCH_INVARIANCE, &flags[i], 4));
    EXPECT(expected[i], multiply(1, 0));
  }
  drop();
}

static void settings_of_algorithms_keep_their_values(void** state) {
  (void)state;
  enum { SPLIT_K = 2, INNER_SHAPE = 7, CLUSTER_SHAPE = 8 };
  make(R_32F, COMPUTE_32F, R_32F);
  uint64_t algorithm[8];
  OK(cublasLtMatmulAlgoInit(lt, COMPUTE_32F, R_32F, R_32F, R_32F, R_32F, R_32F, 0, algorithm));
  for (int id = 0; id <= CLUSTER_SHAPE; ++id) {
    const size_t size_bytes = id >= INNER_SHAPE ? 2 : 4;
    uint32_t value = 0;
    size_t written = 0;
    OK(cublasLtMatmulAlgoConfigGetAttribute(algorithm, id, &value, size_bytes, &written));
    assert_int_equal(value, id == SPLIT_K ? 1 : 0);
    assert_int_equal(written, size_bytes);
    OK(cublasLtMatmulAlgoConfigSetAttribute(algorithm, id, &value, size_bytes));
    value = 2;
    EXPECT(NOT_SUPPORTED, cublasLtMatmulAlgoConfigSetAttribute(algorithm, id, &value, size_bytes));
  }
  drop();
}

/* Nothing is emulated: a product says so where the number of bits is asked for. */
static void descriptors_of_emulation_are_kept(void** state) {
  (void)state;
  enum { EMULATION = 38, SPECIAL_VALUES = 1, MOST_BITS = 3, BITS_POINTER = 5 };
  make(R_32F, COMPUTE_32F, R_32F);
  void* emulation;
  int value = 0;
  size_t written = 0;
  int* const bits = managed(sizeof *bits);
  *bits = 12;
  OK(cublasLtEmulationDescCreate(&emulation));
  OK(cublasLtEmulationDescGetAttribute(emulation, SPECIAL_VALUES, &value, 4, &written));
  assert_int_equal(value, 0xffff);
  value = 40;
  OK(cublasLtEmulationDescSetAttribute(emulation, MOST_BITS, &value, 4));
  OK(cublasLtEmulationDescGetAttribute(emulation, MOST_BITS, &value, 4, &written));
  assert_int_equal(value, 40);
  OK(cublasLtEmulationDescSetAttribute(emulation, BITS_POINTER, &bits, 8));
  OK(cublasLtMatmulDescSetAttribute(matmul, EMULATION, &emulation, 8));
  assert_int_equal(multiply(1, 0), 0);
  assert_int_equal(*bits, -1);
  NEAR('S', product(0, 0), d[0]);
  OK(cublasLtEmulationDescDestroy(emulation));
  EXPECT(INVALID_VALUE, cublasLtEmulationDescDestroy(layout_a));
  drop();
}

static void the_cache_of_heuristics_has_a_capacity(void** state) {
  (void)state;
  size_t first = 0, capacity = 0;
  OK(cublasLtHeuristicsCacheGetCapacity(&first));
  OK(cublasLtHeuristicsCacheSetCapacity(77));
  OK(cublasLtHeuristicsCacheGetCapacity(&capacity));
  assert_int_equal(capacity, 77);
  EXPECT(INVALID_VALUE, cublasLtHeuristicsCacheGetCapacity(NULL));
  OK(cublasLtHeuristicsCacheSetCapacity(first));
}

static void descriptors_are_checked(void** state) {
  (void)state;
  make(R_32F, COMPUTE_32F, R_32F);
  uint64_t place[14];
  uint64_t rows = 0;
  size_t written = 0;
  OK(cublasLtMatrixLayoutInit_internal(place, sizeof place, R_32F, 3, 4, 5));
  OK(cublasLtMatrixLayoutGetAttribute(place, 2, &rows, 8, &written));
  assert_true(rows == 3 && written == 8);
  EXPECT(INVALID_VALUE, cublasLtMatrixLayoutInit_internal(place, 8, R_32F, 3, 4, 5));
  EXPECT(INVALID_VALUE, cublasLtMatrixLayoutSetAttribute(place, 2, &rows, 4));
  EXPECT(NOT_SUPPORTED, cublasLtMatmulDescSetAttribute(matmul, 31, &rows, 4));
  EXPECT(INVALID_VALUE, cublasLtMatmulDescSetAttribute(layout_a, 3, &rows, 4));
  EXPECT(NOT_INITIALIZED, cublasLtDestroy(NULL));
  assert_int_equal(cublasLtGetVersion() / 10000, KM_CUBLAS_MAJOR);
  drop();
}

static void transformations_change_order_and_sum(void** state) {
  (void)state;
  make(R_32F, COMPUTE_32F, R_32F);
  void *transform, *layout_rows;
  const int rows = 1;
  OK(cublasLtMatrixTransformDescCreate(&transform, R_32F));
  OK(cublasLtMatrixLayoutCreate(&layout_rows, R_32F, M, N, LD));
  OK(cublasLtMatrixLayoutSetAttribute(layout_rows, ORDER, &rows, 4));
  const float alpha = 2, beta = 3;
  OK(cublasLtMatrixTransform(lt, transform, &alpha, a, layout_c, &beta, b, layout_c, d, layout_rows,
                             NULL));
  wait_for_device();
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) NEAR('S', 2 * a[i + j * LD] + 3 * b[i + j * LD], d[j + i * LD]);
  }
  OK(cublasLtMatrixTransformDescDestroy(transform));
  OK(cublasLtMatrixLayoutDestroy(layout_rows));
  drop();
}

/* Descriptors and handle hold no memory of the device. */
static void objects_outlive_a_reset(void** state) {
  (void)state;
  make(0, 68, 0);
  OK(multiply(1, 0));
  OK(cudaDeviceReset());
  assert_int_not_equal(multiply(1, 0), 0); /* the operands are gone */
  a = fill('S', LD * LD), b = fill('S', LD * LD), c = fill('S', LD * LD), d = fill('S', LD * LD);
  OK(multiply(2, 0));
  for (int column = 0; column < N; ++column) {
    for (int row = 0; row < M; ++row) NEAR('S', 2 * product(row, column), d[row + column * LD]);
  }
  drop();
}

enum { BATCH_MODE = 8, ALPHA_STRIDE = 39, BETA_STRIDE = 40, BATCH = 3 };

/* D[i] = alpha[i] A[i] B[i] + beta[i] C[i], and a bias with gradients, where the matrices lie at
 * places that nothing but an array of pointers says; captured, with scalars of two times. */
static void batches_lie_where_pointers_say(void** state) {
  (void)state;
  make(R_32F, COMPUTE_32F, R_32F);
  const int32_t count = BATCH, on_device = 1;
  const uint32_t by_pointers = 1, of_groups = 2;
  const int64_t stride = 2;
  float *const alpha = managed(24), *const beta = managed(24);
  const float** pointers[4];
  cudaStream_t stream = NULL;
  cudaGraph_t graph = NULL;
  cudaGraphExec_t exec = NULL;
  for (int i = 0; i < 4; ++i) {
    pointers[i] = managed(BATCH * sizeof(float*));
    for (int k = 0; k < BATCH; ++k) pointers[i][k] = fill('S', LD * LD);
  }
  void* const layouts[] = {layout_a, layout_b, layout_c};
  for (int i = 0; i < 3; ++i) {
    OK(cublasLtMatrixLayoutSetAttribute(layouts[i], BATCH_COUNT, &count, 4));
    OK(cublasLtMatrixLayoutSetAttribute(layouts[i], BATCH_MODE, &by_pointers, 4));
  }
  set_epilogue(BIAS);
  OK(cublasLtMatmulDescSetAttribute(matmul, POINTER_MODE, &on_device, 4));
  OK(cublasLtMatmulDescSetAttribute(matmul, ALPHA_STRIDE, &stride, 8));
  OK(cublasLtMatmulDescSetAttribute(matmul, BETA_STRIDE, &stride, 8));
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cublasLtMatmul(lt, matmul, alpha, pointers[0], layout_a, pointers[1], layout_b, beta,
                    pointers[2], layout_c, pointers[3], layout_c, NULL, NULL, 0, stream));
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < 6; ++i) alpha[i] = (float)(i + turn), beta[i] = (float)(3 - i - turn) / 2;
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    for (int k = 0; k < BATCH; ++k) {
      a = (float*)pointers[0][k], b = (float*)pointers[1][k];
      for (int i = 0; i < M; ++i) {
        for (int j = 0; j < N; ++j) {
          const int at = i + j * LD;
          NEAR('S', alpha[2 * k] * product(i, j) + beta[2 * k] * pointers[2][k][at] + bias[i],
               pointers[3][k][at]);
        }
      }
    }
  }
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  OK(cudaStreamDestroy(stream));
  const int32_t host = 0;
  OK(cublasLtMatmulDescSetAttribute(matmul, POINTER_MODE, &host, 4));
  EXPECT(NOT_SUPPORTED, multiply(1, 0)); /* strides of the host's scalars */
  OK(cublasLtMatmulDescSetAttribute(matmul, POINTER_MODE, &on_device, 4));
  OK(cublasLtMatrixLayoutSetAttribute(layout_b, BATCH_MODE, &of_groups, 4));
  EXPECT(NOT_SUPPORTED, multiply(1, 0));
  const uint32_t by_strides = 0;
  OK(cublasLtMatrixLayoutSetAttribute(layout_b, BATCH_MODE, &by_strides, 4));
  EXPECT(NOT_SUPPORTED, multiply(1, 0)); /* pointers to A, and strides to B */
  drop();
}

/* Sums over the columns of each B. */
static void gradients_follow_pointers(void** state) {
  (void)state;
  make(R_32F, COMPUTE_32F, R_32F);
  const int32_t count = BATCH, epilogue = BGRADA;
  const uint32_t by_pointers = 1;
  const int64_t stride = LD;
  const float one = 1, zero = 0;
  float* const sums = managed(4 * LD * BATCH);
  const float** pointers[3];
  for (int i = 0; i < 3; ++i) {
    pointers[i] = managed(BATCH * sizeof(float*));
    for (int k = 0; k < BATCH; ++k) pointers[i][k] = fill('S', LD * LD);
  }
  void* const layouts[] = {layout_a, layout_b, layout_c};
  for (int i = 0; i < 3; ++i) {
    OK(cublasLtMatrixLayoutSetAttribute(layouts[i], BATCH_COUNT, &count, 4));
    OK(cublasLtMatrixLayoutSetAttribute(layouts[i], BATCH_MODE, &by_pointers, 4));
  }
  OK(cublasLtMatmulDescSetAttribute(matmul, EPILOGUE, &epilogue, 4));
  OK(cublasLtMatmulDescSetAttribute(matmul, BIAS_POINTER, &sums, 8));
  OK(cublasLtMatmulDescSetAttribute(matmul, 10, &stride, 8));
  OK(cublasLtMatmul(lt, matmul, &one, pointers[0], layout_a, pointers[1], layout_b, &zero,
                    pointers[2], layout_c, pointers[2], layout_c, NULL, NULL, 0, NULL));
  wait_for_device();
  for (int k = 0; k < BATCH; ++k) {
    a = (float*)pointers[0][k], b = (float*)pointers[1][k];
    NEAR('S', product(2, 3), pointers[2][k][2 + 3 * LD]);
    for (int i = 0; i < M; ++i) {
      double sum = 0;
      for (int j = 0; j < K; ++j) sum += a[i + j * LD];
      NEAR('S', sum, sums[i + k * LD]);
    }
  }
  drop();
}

/* Attributes of what is not there can have their defaults. */
static void attributes_that_are_not_there_are_zero(void** state) {
  (void)state;
  make(R_32F, COMPUTE_32F, R_32F);
  const int32_t zero = 0, other = 2;
  int32_t value = 7;
  size_t written = 0;
  void *place = NULL, *layout = NULL;
  for (int id = 31; id <= 35; ++id) {
    OK(cublasLtMatmulDescSetAttribute(matmul, id, &zero, 4));
    EXPECT(NOT_SUPPORTED, cublasLtMatmulDescSetAttribute(matmul, id, &other, 4));
    EXPECT(INVALID_VALUE, cublasLtMatmulDescSetAttribute(matmul, id, &zero, 3));
  }
  OK(cublasLtMatmulDescSetAttribute(matmul, 36, &place, 8));
  place = matmul;
  EXPECT(NOT_SUPPORTED, cublasLtMatmulDescSetAttribute(matmul, 36, &place, 8));
  EXPECT(NOT_SUPPORTED, cublasLtMatrixLayoutSetAttribute(layout_a, 9, &place, 8));
  OK(cublasLtMatrixLayoutSetAttribute(layout_a, 12, &zero, 4));
  OK(cublasLtMatrixLayoutGetAttribute(layout_a, 12, &value, 4, &written));
  assert_int_equal(value, 0);
  assert_int_equal(written, 4);
  EXPECT(NOT_SUPPORTED, cublasLtGroupedMatrixLayoutCreate(&layout, R_32F, 2, a, a, a));
  OK(multiply(1, 0));
  NEAR('S', product(1, 1), d[1 + LD]);
  drop();
}

/* Scalars of a pointer mode: vectors have one for each row, and one may be the host's. */
static double alpha_of(int mode, const float* alpha, int row) { return alpha[mode >= 2 ? row : 0]; }
static double beta_of(int mode, const float* beta, float of_host, int row) {
  return mode == 1 ? beta[0] : mode == 2 ? beta[row] : mode == 3 ? 0 : of_host;
}

/* Captured products read what the device has when the graph runs, with and without an epilogue;
 * scalars of the host are those of the capture. D is C in place in every second case. */
static void captured_products_read_the_scalars_of_the_device(void** state) {
  (void)state;
  make(R_32F, COMPUTE_32F, R_32F);
  float *const alpha = managed(4 * M), *const beta = managed(4 * M);
  cudaStream_t stream = NULL;
  OK(cudaStreamCreate(&stream));
  for (int which = 0; which < 16; ++which) {
    const int mode = 1 + which / 4, is_in_place = which % 2;
    const int epilogue = which / 2 % 2 == 0 ? 1 : BIAS;
    float of_host = 0.5f, old_c[LD * LD];
    float* const target = is_in_place ? c : d;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    set_epilogue(epilogue);
    OK(cublasLtMatmulDescSetAttribute(matmul, POINTER_MODE, &mode, 4));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cublasLtMatmul(lt, matmul, alpha, a, layout_a, b, layout_b,
                      mode == 4 ? (const void*)&of_host : beta, c, layout_c, target, layout_c, NULL,
                      NULL, 0, stream));
    of_host = 7;
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int turn = 0; turn < 2; ++turn) {
      for (int i = 0; i < M; ++i) {
        alpha[i] = (float)(i - 2 * turn + 1), beta[i] = (float)(turn - i) / 4;
      }
      memcpy(old_c, c, sizeof old_c);
      OK(cudaGraphLaunch(exec, stream));
      OK(cudaStreamSynchronize(stream));
      for (int i = 0; i < M; ++i) {
        for (int j = 0; j < N; ++j) {
          double value = alpha_of(mode, alpha, i) * product(i, j) +
                         beta_of(mode, beta, 0.5f, i) * old_c[i + j * LD];
          if (epilogue == BIAS) value += bias[i];
          NEAR('S', value, target[i + j * LD]);
        }
      }
    }
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
  }
  OK(cudaStreamDestroy(stream));
  drop();
}

static void captured_transformations_read_the_scalars_of_the_device(void** state) {
  (void)state;
  make(R_32F, COMPUTE_32F, R_32F);
  float *const alpha = managed(4), *const beta = managed(4);
  void* transform = NULL;
  const int on_device = 1;
  cudaStream_t stream = NULL;
  cudaGraph_t graph = NULL;
  cudaGraphExec_t exec = NULL;
  OK(cudaStreamCreate(&stream));
  OK(cublasLtMatrixTransformDescCreate(&transform, R_32F));
  OK(cublasLtMatrixTransformDescSetAttribute(transform, 1, &on_device, 4));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cublasLtMatrixTransform(lt, transform, alpha, a, layout_c, beta, b, layout_c, d, layout_c,
                             stream));
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int turn = 0; turn < 2; ++turn) {
    *alpha = 2 + (float)turn, *beta = 3 - (float)turn;
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    for (int i = 0; i < M; ++i) {
      for (int j = 0; j < N; ++j) {
        NEAR('S', *alpha * a[i + j * LD] + *beta * b[i + j * LD], d[i + j * LD]);
      }
    }
  }
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  OK(cublasLtMatrixTransformDescDestroy(transform));
  OK(cudaStreamDestroy(stream));
  drop();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(results_are_those_of_the_epilogue),
      TEST(gradients_are_those_of_the_activation),
      TEST(matrices_may_lie_by_rows),
      TEST(scalars_may_lie_on_the_device),
      TEST(small_numbers_have_scales),
      TEST(heuristics_say_whether_a_product_is_possible),
      TEST(algorithms_have_capabilities),
      TEST(attributes_begin_as_the_header_says),
      TEST(settings_of_algorithms_keep_their_values),
      TEST(descriptors_of_emulation_are_kept),
      TEST(the_cache_of_heuristics_has_a_capacity),
      TEST(descriptors_are_checked),
      TEST(objects_outlive_a_reset),
      TEST(transformations_change_order_and_sum),
      TEST(batches_lie_where_pointers_say),
      TEST(gradients_follow_pointers),
      TEST(attributes_that_are_not_there_are_zero),
      TEST(captured_products_read_the_scalars_of_the_device),
      TEST(captured_transformations_read_the_scalars_of_the_device),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
