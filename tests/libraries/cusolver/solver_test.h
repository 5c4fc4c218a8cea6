/* What the tests of cuSOLVER share: functions of the four types in one table, random matrices of
 * one of the types, and products in long double. */
#ifndef KM_SOLVER_TEST_H
#define KM_SOLVER_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <complex.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Declares the functions of a name for f32, f64, c32 and c64, and a table of them: all pointers are
 * passed alike. */
#define SOLVER(name, real, complex_name, ...)  \
  int cusolverDnS##real(__VA_ARGS__);          \
  int cusolverDnD##real(__VA_ARGS__);          \
  int cusolverDnC##complex_name(__VA_ARGS__);  \
  int cusolverDnZ##complex_name(__VA_ARGS__);  \
  static int (*const name[4])(__VA_ARGS__) = { \
      cusolverDnS##real, cusolverDnD##real, cusolverDnC##complex_name, cusolverDnZ##complex_name};

enum { F32, F64, C32, C64, TYPES };
enum { OK = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 3, EXECUTION_FAILED = 6, NOT_SUPPORTED = 9 };
enum { LOWER, UPPER };
enum { OP_N, OP_T, OP_C };
enum { LEFT, RIGHT };
enum { WORK = 16 }; /* what the bufferSize functions answer */

int cusolverDnCreate(void**);
int cusolverDnDestroy(void*);
int cusolverDnSetStream(void*, cudaStream_t);

typedef long double complex number;

static const int data_types[TYPES] = {0, 1, 4, 5}; /* cudaDataType of each type */
static const size_t sizes[TYPES] = {4, 8, 8, 16};
static inline int is_complex(int type) { return type >= C32; }
static inline int real_type(int type) { return type & 1; }

/* The next of a series of random numbers. */
static uint64_t random_state = 88172645463325252u;
static inline uint64_t random_bits(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state * 0x2545f4914f6cdd1du >> 11;
}
static inline int random_below(int n) { return (int)(random_bits() % (uint64_t)n); }
static inline double random_number(void) { return (double)random_bits() * 0x1p-52 - 1; }

/* Cases of each random test: more of them by KM_TEST_CASES. */
static inline int case_count(int usual) {
  const char* text = getenv("KM_TEST_CASES");
  return text == NULL ? usual : atoi(text);
}

static inline number get(int type, const void* data, size_t i) {
  switch (type) {
    case F32:
      return ((const float*)data)[i];
    case F64:
      return ((const double*)data)[i];
    case C32:
      return ((const float complex*)data)[i];
    default:
      return ((const double complex*)data)[i];
  }
}
static inline void set(int type, void* data, size_t i, number value) {
  switch (type) {
    case F32:
      ((float*)data)[i] = (float)creall(value);
      break;
    case F64:
      ((double*)data)[i] = (double)creall(value);
      break;
    case C32:
      ((float complex*)data)[i] = (float complex)value;
      break;
    default:
      ((double complex*)data)[i] = (double complex)value;
  }
}

/* Memory for the device and the host, filled with a pattern. */
static inline void* managed(size_t bytes) {
  void* memory = NULL;
  assert_int_equal(cudaMallocManaged(&memory, bytes == 0 ? 1 : bytes, cudaMemAttachGlobal), 0);
  memset(memory, 0x5a, bytes);
  return memory;
}
/* A matrix of random numbers; rows that do not belong to it keep the pattern. */
static inline void* random_matrix(int type, int m, int n, int lead) {
  char* const data = managed(sizes[type] * (size_t)lead * (size_t)n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      const number value = random_number() + (is_complex(type) ? random_number() * I : 0);
      set(type, data, (size_t)i + (size_t)j * (size_t)lead, value);
    }
  }
  return data;
}
static inline void check_padding(int type, const void* data, int m, int n, int lead) {
  const unsigned char* const bytes = data;
  for (int j = 0; j < n; ++j) {
    for (size_t at = sizes[type] * (size_t)m; at < sizes[type] * (size_t)lead; ++at) {
      assert_int_equal(bytes[sizes[type] * (size_t)lead * (size_t)j + at], 0x5a);
    }
  }
}

/* Dense matrices in long double. */
typedef struct {
  int m, n;
  number* v;
} dense;
static inline number* at(dense a, int i, int j) { return a.v + i + (size_t)j * (size_t)a.m; }
static inline dense zeros(int m, int n) {
  const size_t count = (size_t)m * (size_t)n;
  return (dense){m, n, calloc(count == 0 ? 1 : count, sizeof(number))};
}
static inline dense load(int type, const void* data, int m, int n, int lead) {
  dense a = zeros(m, n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i)
      *at(a, i, j) = get(type, data, (size_t)i + (size_t)j * (size_t)lead);
  }
  return a;
}
/* op(A) op(B), with 'N', 'T' or 'C'. */
static inline number element(dense a, int op, int i, int j) {
  if (op == OP_N) return *at(a, i, j);
  return op == OP_T ? *at(a, j, i) : conjl(*at(a, j, i));
}
static inline dense multiply(dense a, int op_a, dense b, int op_b) {
  const int m = op_a == OP_N ? a.m : a.n, k = op_a == OP_N ? a.n : a.m;
  const int n = op_b == OP_N ? b.n : b.m;
  dense c = zeros(m, n);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      number sum = 0;
      for (int l = 0; l < k; ++l) sum += element(a, op_a, i, l) * element(b, op_b, l, j);
      *at(c, i, j) = sum;
    }
  }
  return c;
}
static inline long double norm(dense a) {
  long double sum = 0;
  for (size_t i = 0; i < (size_t)a.m * (size_t)a.n; ++i) {
    sum += creall(a.v[i]) * creall(a.v[i]) + cimagl(a.v[i]) * cimagl(a.v[i]);
  }
  return sqrtl(sum);
}
static inline long double distance(dense a, dense b) {
  assert_int_equal(a.m, b.m);
  assert_int_equal(a.n, b.n);
  dense c = zeros(a.m, a.n);
  for (size_t i = 0; i < (size_t)a.m * (size_t)a.n; ++i) c.v[i] = a.v[i] - b.v[i];
  const long double result = norm(c);
  free(c.v);
  return result;
}
static inline dense identity(int n) {
  dense a = zeros(n, n);
  for (int i = 0; i < n; ++i) *at(a, i, i) = 1;
  return a;
}
/* One triangle, with ones on the diagonal if it is a unit one. */
static inline dense triangle(dense a, int uplo, int is_unit) {
  const int n = a.m < a.n ? a.m : a.n;
  dense t = uplo == LOWER ? zeros(a.m, n) : zeros(n, a.n);
  for (int i = 0; i < t.m; ++i) {
    for (int j = 0; j < t.n; ++j) {
      if (uplo == LOWER ? i >= j : i <= j) *at(t, i, j) = *at(a, i, j);
      if (i == j && is_unit) *at(t, i, j) = 1;
    }
  }
  return t;
}
/* The symmetric or Hermitian matrix of a triangle. */
static inline dense reflect(dense a, int uplo, int is_hermitian) {
  dense full = zeros(a.m, a.n);
  for (int i = 0; i < a.m; ++i) {
    for (int j = 0; j < a.n; ++j) {
      const int is_given = uplo == LOWER ? i >= j : i <= j;
      const number other = *at(a, j, i);
      *at(full, i, j) = is_given ? *at(a, i, j) : is_hermitian ? conjl(other) : other;
      if (i == j && is_hermitian) *at(full, i, i) = creall(*at(a, i, i));
    }
  }
  return full;
}
static inline void check_small(const char* what, int type, long double value, int n,
                               long double scale) {
  const long double epsilon = real_type(type) == F64 ? 0x1p-52L : 0x1p-23L;
  if (value <= 60 * (n + 4) * epsilon * (scale + 1)) return;
  fail_msg("%s: %Lg is too large for type %d, size %d, scale %Lg", what, value, type, n, scale);
}
static inline void check_near(const char* what, int type, dense a, dense b, int n,
                              long double scale) {
  check_small(what, type, distance(a, b), n, scale);
}

/* Makes a matrix Hermitian, with a positive diagonal that makes it positive definite. */
static inline void make_positive(int type, void* data, int n, int lead) {
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < j; ++i) {
      const size_t here = (size_t)i + (size_t)j * (size_t)lead;
      set(type, data, (size_t)j + (size_t)i * (size_t)lead, conjl(get(type, data, here)));
    }
    set(type, data, (size_t)j * (size_t)(lead + 1), 2 * n + 1 + j);
  }
}

static inline void finish(void) { assert_int_equal(cudaDeviceSynchronize(), 0); }

#ifndef KM_SOLVER_TEST_WITHOUT_HANDLES
/* Runs captured calls as a graph: begin, the calls, end. */
static inline cudaStream_t begin_capture(void* handle) {
  cudaStream_t stream = NULL;
  assert_int_equal(cudaStreamCreate(&stream), 0);
  assert_int_equal(cusolverDnSetStream(handle, stream), 0);
  assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), 0);
  return stream;
}
static inline void run_capture(void* handle, cudaStream_t stream) {
  cudaGraph_t graph = NULL;
  cudaGraphExec_t exec = NULL;
  assert_int_equal(cudaStreamEndCapture(stream, &graph), 0);
  assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), 0);
  assert_int_equal(cudaGraphLaunch(exec, stream), 0);
  assert_int_equal(cudaStreamSynchronize(stream), 0);
  assert_int_equal(cudaGraphExecDestroy(exec), 0);
  assert_int_equal(cudaGraphDestroy(graph), 0);
  assert_int_equal(cusolverDnSetStream(handle, NULL), 0);
  assert_int_equal(cudaStreamDestroy(stream), 0);
}

static inline void* new_handle(void) {
  void* handle = NULL;
  assert_int_equal(cusolverDnCreate(&handle), 0);
  return handle;
}
#endif

#endif
