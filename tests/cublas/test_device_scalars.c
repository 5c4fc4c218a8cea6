/* CUBLAS_POINTER_MODE_DEVICE: scalars are read, and results written, when the stream or a graph
 * comes to the call. Each routine is called with scalars of the host, queued with those of the
 * device, and captured with them and launched twice, with other scalars in between: all give the
 * same bits. */
#include "support.h"

#include <stdio.h>
#include <string.h>

enum { N = 24, SIZE = N * N, COUNT = SIZE, LAST = 5 };

#define DECLARE_COMPLEX(L, T, R)                                                                   \
  int cublas##L##hemv_v2(cublasHandle_t, int, int, const T*, const T*, int, const T*, int,         \
                         const T*, T*, int);                                                       \
  int cublas##L##hbmv_v2(cublasHandle_t, int, int, int, const T*, const T*, int, const T*, int,    \
                         const T*, T*, int);                                                       \
  int cublas##L##hpmv_v2(cublasHandle_t, int, int, const T*, const T*, const T*, int, const T*,    \
                         T*, int);                                                                 \
  int cublas##L##geru_v2(cublasHandle_t, int, int, const T*, const T*, int, const T*, int, T*,     \
                         int);                                                                     \
  int cublas##L##gerc_v2(cublasHandle_t, int, int, const T*, const T*, int, const T*, int, T*,     \
                         int);                                                                     \
  int cublas##L##her_v2(cublasHandle_t, int, int, const R*, const T*, int, T*, int);               \
  int cublas##L##hpr_v2(cublasHandle_t, int, int, const R*, const T*, int, T*);                    \
  int cublas##L##her2_v2(cublasHandle_t, int, int, const T*, const T*, int, const T*, int, T*,     \
                         int);                                                                     \
  int cublas##L##hpr2_v2(cublasHandle_t, int, int, const T*, const T*, int, const T*, int, T*);    \
  int cublas##L##hemm_v2(cublasHandle_t, int, int, int, int, const T*, const T*, int, const T*,    \
                         int, const T*, T*, int);                                                  \
  int cublas##L##herk_v2(cublasHandle_t, int, int, int, int, const R*, const T*, int, const R*,    \
                         T*, int);                                                                 \
  int cublas##L##her2k_v2(cublasHandle_t, int, int, int, int, const T*, const T*, int, const T*,   \
                          int, const R*, T*, int);                                                 \
  int cublas##L##herkx(cublasHandle_t, int, int, int, int, const T*, const T*, int, const T*, int, \
                       const R*, T*, int);                                                         \
  int cublas##L##rot_v2(cublasHandle_t, int, T*, int, T*, int, const R*, const T*);
DECLARE_COMPLEX(C, c32, float)
int cublasZrot_v2(cublasHandle_t, int, c64*, int, c64*, int, const double*, const c64*);
int cublasCsscal_v2(cublasHandle_t, int, const float*, c32*, int);
int cublasZdscal_v2(cublasHandle_t, int, const double*, c64*, int);
int cublasCsrot_v2(cublasHandle_t, int, c32*, int, c32*, int, const float*, const float*);
int cublasSspmv_v2(cublasHandle_t, int, int, const float*, const float*, const float*, int,
                   const float*, float*, int);
int cublasSsbmv_v2(cublasHandle_t, int, int, int, const float*, const float*, int, const float*,
                   int, const float*, float*, int);
int cublasSspr_v2(cublasHandle_t, int, int, const float*, const float*, int, float*);
int cublasSspr2_v2(cublasHandle_t, int, int, const float*, const float*, int, const float*, int,
                   float*);

/* Two scalars, three matrices and two vectors, of one type. */
typedef struct {
  void *alpha, *beta;
  void *a, *b, *c, *x, *y;
} operands;

typedef struct {
  char type;
  const char* name;
  int (*call)(const operands* o);
} routine;

#define CALL(L, name, ...)                       \
  static int call_##L##name(const operands* o) { \
    const void* const p = o->alpha;              \
    const void* const q = o->beta;               \
    (void)p, (void)q;                            \
    return cublas##L##name(handle, __VA_ARGS__); \
  }
/* Those of all types. */
#define CALLS(L)                                                                                   \
  CALL(L, axpy_v2, COUNT, p, o->x, 1, o->y, 1)                                                     \
  CALL(L, scal_v2, COUNT, p, o->x, 1)                                                              \
  CALL(L, gemv_v2, OP_T, N, N, p, o->a, N, o->x, 1, q, o->y, -2)                                   \
  CALL(L, gbmv_v2, OP_N, N, N, 2, 1, p, o->a, N, o->x, 1, q, o->y, 1)                              \
  CALL(L, symv_v2, UPPER, N, p, o->a, N, o->x, 1, q, o->y, 1)                                      \
  CALL(L, syr_v2, LOWER, N, p, o->x, 1, o->c, N)                                                   \
  CALL(L, syr2_v2, UPPER, N, p, o->x, 1, o->y, 1, o->c, N)                                         \
  CALL(L, gemm_v2, OP_N, OP_T, N, N, N, p, o->a, N, o->b, N, q, o->c, N)                           \
  CALL(L, gemmStridedBatched, OP_N, OP_T, 6, 6, 6, p, o->a, 6, 36, o->b, 6, 36, q, o->c, 6, 36, 9) \
  CALL(L, gemvStridedBatched, OP_N, 6, 6, p, o->a, 6, 36, o->x, 1, 6, q, o->y, 1, 6, 9)            \
  CALL(L, symm_v2, LEFT, LOWER, N, N, p, o->a, N, o->b, N, q, o->c, N)                             \
  CALL(L, syrk_v2, UPPER, OP_N, N, N, p, o->a, N, q, o->c, N)                                      \
  CALL(L, syr2k_v2, LOWER, OP_T, N, N, p, o->a, N, o->b, N, q, o->c, N)                            \
  CALL(L, syrkx, LOWER, OP_N, N, N, p, o->a, N, o->b, N, q, o->c, N)                               \
  CALL(L, trmm_v2, LEFT, UPPER, OP_N, NON_UNIT, N, N, p, o->a, N, o->b, N, o->c, N)                \
  CALL(L, trsm_v2, RIGHT, LOWER, OP_N, UNIT, N, N, p, o->a, N, o->c, N)                            \
  CALL(L, geam, OP_N, OP_T, N, N, p, o->a, N, q, o->b, N, o->c, N)
CALLS(S)
CALLS(D)
CALLS(C)
CALLS(Z)
CALL(S, ger_v2, N, N, p, o->x, 1, o->y, 1, o->c, N)
CALL(S, rot_v2, COUNT, o->x, 1, o->y, 1, p, q)
CALL(S, rotm_v2, COUNT, o->x, 1, o->y, 1, p)
CALL(D, rotm_v2, COUNT, o->x, 1, o->y, 1, p)
CALL(S, spmv_v2, UPPER, N, p, o->a, o->x, 1, q, o->y, 1)
CALL(S, sbmv_v2, UPPER, N, 2, p, o->a, N, o->x, 1, q, o->y, 1)
CALL(S, spr_v2, UPPER, N, p, o->x, 1, o->c)
CALL(S, spr2_v2, UPPER, N, p, o->x, 1, o->y, 1, o->c)
CALL(S, rotg_v2, o->x, o->y, o->alpha, o->beta)
CALL(D, rotg_v2, o->x, o->y, o->alpha, o->beta)
CALL(C, rotg_v2, o->x, o->y, o->alpha, o->beta)
CALL(Z, rotg_v2, o->x, o->y, o->alpha, o->beta)
CALL(S, rotmg_v2, o->x, o->y, o->a, p, o->beta)
CALL(D, rotmg_v2, o->x, o->y, o->a, p, o->beta)
CALL(C, sscal_v2, COUNT, p, o->x, 1)
CALL(Z, dscal_v2, COUNT, p, o->x, 1)
CALL(C, srot_v2, COUNT, o->x, 1, o->y, 1, p, q)
CALL(C, rot_v2, COUNT, o->x, 1, o->y, 1, p, q)
CALL(Z, rot_v2, COUNT, o->x, 1, o->y, 1, p, q)
CALL(C, hemv_v2, UPPER, N, p, o->a, N, o->x, 1, q, o->y, 1)
CALL(C, hbmv_v2, UPPER, N, 2, p, o->a, N, o->x, 1, q, o->y, 1)
CALL(C, hpmv_v2, UPPER, N, p, o->a, o->x, 1, q, o->y, 1)
CALL(C, geru_v2, N, N, p, o->x, 1, o->y, 1, o->c, N)
CALL(C, gerc_v2, N, N, p, o->x, 1, o->y, 1, o->c, N)
CALL(C, her_v2, UPPER, N, p, o->x, 1, o->c, N)
CALL(C, hpr_v2, UPPER, N, p, o->x, 1, o->c)
CALL(C, her2_v2, UPPER, N, p, o->x, 1, o->y, 1, o->c, N)
CALL(C, hpr2_v2, UPPER, N, p, o->x, 1, o->y, 1, o->c)
CALL(C, hemm_v2, LEFT, LOWER, N, N, p, o->a, N, o->b, N, q, o->c, N)
CALL(C, herk_v2, UPPER, OP_N, N, N, p, o->a, N, q, o->c, N)
CALL(C, her2k_v2, UPPER, OP_N, N, N, p, o->a, N, o->b, N, q, o->c, N)
CALL(C, herkx, UPPER, OP_N, N, N, p, o->a, N, o->b, N, q, o->c, N)

static int call_half(const operands* o) {
  return cublasGemmEx(handle, OP_N, OP_T, N, N, N, o->alpha, o->a, R_16F, N, o->b, R_16F, N,
                      o->beta, o->c, R_16F, N, COMPUTE_32F, -1);
}
static int call_axpy_ex(const operands* o) {
  return cublasAxpyEx(handle, N, o->alpha, R_32F, o->a, R_16F, 1, o->c, R_16F, 1, R_32F);
}

#define ROUTINE(L, name) {#L[0], #L#name, call_##L##name}
#define ROUTINES(L)                                                                        \
  ROUTINE(L, axpy_v2), ROUTINE(L, scal_v2), ROUTINE(L, gemv_v2), ROUTINE(L, gbmv_v2),      \
      ROUTINE(L, symv_v2), ROUTINE(L, syr_v2), ROUTINE(L, syr2_v2), ROUTINE(L, gemm_v2),   \
      ROUTINE(L, gemmStridedBatched), ROUTINE(L, gemvStridedBatched), ROUTINE(L, symm_v2), \
      ROUTINE(L, syrk_v2), ROUTINE(L, syr2k_v2), ROUTINE(L, syrkx), ROUTINE(L, trmm_v2),   \
      ROUTINE(L, trsm_v2), ROUTINE(L, geam)
static const routine routines[] = {ROUTINES(S),
                                   ROUTINES(D),
                                   ROUTINES(C),
                                   ROUTINES(Z),
                                   ROUTINE(S, ger_v2),
                                   ROUTINE(S, rot_v2),
                                   ROUTINE(S, rotm_v2),
                                   ROUTINE(D, rotm_v2),
                                   ROUTINE(S, spmv_v2),
                                   ROUTINE(S, sbmv_v2),
                                   ROUTINE(S, spr_v2),
                                   ROUTINE(S, spr2_v2),
                                   ROUTINE(S, rotg_v2),
                                   ROUTINE(D, rotg_v2),
                                   ROUTINE(S, rotmg_v2),
                                   ROUTINE(D, rotmg_v2),
                                   ROUTINE(C, sscal_v2),
                                   ROUTINE(Z, dscal_v2),
                                   ROUTINE(C, srot_v2),
                                   ROUTINE(C, rot_v2),
                                   ROUTINE(Z, rot_v2),
                                   ROUTINE(C, hemv_v2),
                                   ROUTINE(C, hbmv_v2),
                                   ROUTINE(C, hpmv_v2),
                                   ROUTINE(C, geru_v2),
                                   ROUTINE(C, gerc_v2),
                                   ROUTINE(C, her_v2),
                                   ROUTINE(C, hpr_v2),
                                   ROUTINE(C, her2_v2),
                                   ROUTINE(C, hpr2_v2),
                                   ROUTINE(C, hemm_v2),
                                   ROUTINE(C, herk_v2),
                                   ROUTINE(C, her2k_v2),
                                   ROUTINE(C, herkx),
                                   {'S', "half", call_half},
                                   {'S', "axpy_ex", call_axpy_ex}};

enum { PARTS = 5, SCALARS = 8 };

/* Operands that a call may change: three matrices and two vectors, with the scalars behind. */
static char* parts_of(const operands* o, int part) {
  void* const all[] = {o->a, o->b, o->c, o->x, o->y};
  return all[part];
}

static size_t bytes_of(char type) { return SIZE * size_of(type); }

static operands make_operands(char type) {
  operands o;
  o.alpha = managed(SCALARS * size_of(type)), o.beta = managed(SCALARS * size_of(type));
  o.a = fill(type, SIZE), o.b = fill(type, SIZE), o.c = fill(type, SIZE);
  o.x = fill(type, SIZE), o.y = fill(type, SIZE);
  return o;
}

/* f16 that is no NaN, and matrices that solutions stay small with. */
static void tame(const operands* o, char type, int is_half) {
  if (!is_half) {
    for (int i = 0; i < N; ++i) put(type, o->a, i * (N + 1), 4);
    return;
  }
  for (int part = 0; part < PARTS; ++part) {
    uint16_t* const halves = (uint16_t*)parts_of(o, part);
    for (int i = 0; i < SIZE; ++i) halves[i] = half_of((float)(i % 13 + 1) / 8 - 1.0f / 16);
  }
}

static void copy_operands(const operands* to, const operands* from, char type) {
  for (int part = 0; part < PARTS; ++part) {
    memcpy(parts_of(to, part), parts_of(from, part), bytes_of(type));
  }
}

/* ROTM's first parameter says that all others count. */
static void set_scalars(const operands* o, char type, int turn) {
  for (int i = 0; i < SCALARS; ++i) {
    put(type, o->alpha, i, i == 0 ? -1 : 0.5 + 0.25 * i * (turn + 1) + 0.25 * I * (turn - 2));
    put(type, o->beta, i, 0.75 - 0.5 * turn + 0.125 * I * (turn + 1));
  }
}

static void expect_same(const routine* called, const char* how, const operands* found,
                        const operands* expected) {
  for (int part = 0; part < PARTS + 2; ++part) {
    const int is_scalar = part >= PARTS;
    const char* const one =
        is_scalar ? (part == PARTS ? found->alpha : found->beta) : parts_of(found, part);
    const char* const other =
        is_scalar ? (part == PARTS ? expected->alpha : expected->beta) : parts_of(expected, part);
    const size_t bytes = is_scalar ? SCALARS * size_of(called->type) : bytes_of(called->type);
    if (memcmp(one, other, bytes) == 0) continue;
    print_error("%s, %s: operand %d has other values\n", called->name, how, part);
    fail();
  }
}

/* Twice, with other scalars the second time; the results of each go to `out`. */
static void call_by_host(const routine* called, const operands* o, const operands* out) {
  OK(cublasSetPointerMode_v2(handle, 0));
  for (int turn = 0; turn < 2; ++turn) {
    set_scalars(o, called->type, turn);
    OK(called->call(o));
    wait_for_device();
    copy_operands(&out[turn], o, called->type);
    memcpy(out[turn].alpha, o->alpha, SCALARS * size_of(called->type));
    memcpy(out[turn].beta, o->beta, SCALARS * size_of(called->type));
  }
}

static void call_by_device(const routine* called, const operands* o, const operands* expected) {
  OK(cublasSetPointerMode_v2(handle, 1));
  for (int turn = 0; turn < 2; ++turn) {
    set_scalars(o, called->type, turn);
    OK(called->call(o));
    wait_for_device();
    expect_same(called, "queued", o, &expected[turn]);
  }
}

static void call_by_graph(const routine* called, const operands* o, const operands* expected) {
  cudaStream_t stream = NULL;
  cudaGraph_t graph = NULL;
  cudaGraphExec_t exec = NULL;
  OK(cublasSetPointerMode_v2(handle, 1));
  OK(cudaStreamCreate(&stream));
  OK(cublasSetStream_v2(handle, stream));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  set_scalars(o, called->type, 7);
  OK(called->call(o));
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int turn = 0; turn < 2; ++turn) {
    set_scalars(o, called->type, turn);
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    expect_same(called, "captured", o, &expected[turn]);
  }
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  OK(cublasSetStream_v2(handle, NULL));
  OK(cudaStreamDestroy(stream));
}

static void compare(const routine* called) {
  const operands first = make_operands(called->type);
  operands o = make_operands(called->type);
  const operands expected[] = {make_operands(called->type), make_operands(called->type)};
  tame(&first, called->type, called->call == call_half || called->call == call_axpy_ex);
  copy_operands(&o, &first, called->type);
  call_by_host(called, &o, expected);
  copy_operands(&o, &first, called->type);
  call_by_device(called, &o, expected);
  copy_operands(&o, &first, called->type);
  call_by_graph(called, &o, expected);
}

static void scalars_are_read_when_calls_run(void** state) {
  for (size_t i = 0; i < sizeof routines / sizeof *routines; ++i) {
    compare(&routines[i]);
    OK(tear_down(state));
    OK(set_up(state));
  }
}

/* A call of the device's scalars waits for nothing: they may be written after it is queued. */
static volatile int is_released;
static void wait_for_release(void* unused) {
  (void)unused;
  while (!is_released) {
  }
}

static void calls_wait_for_no_scalars(void** state) {
  (void)state;
  float *const x = managed(4 * N), *const alpha = managed(4);
  float* const rotation = managed(16);
  cudaStream_t stream = NULL;
  for (int i = 0; i < N; ++i) x[i] = (float)i;
  rotation[0] = 3, rotation[1] = 4;
  OK(cudaStreamCreate(&stream));
  OK(cublasSetStream_v2(handle, stream));
  OK(cublasSetPointerMode_v2(handle, 1));
  is_released = 0;
  OK(cudaLaunchHostFunc(stream, wait_for_release, NULL));
  OK(cublasSscal_v2(handle, N, alpha, x, 1));
  OK(cublasSrotg_v2(handle, rotation, rotation + 1, rotation + 2, rotation + 3));
  *alpha = 3;
  is_released = 1;
  OK(cudaStreamSynchronize(stream));
  for (int i = 0; i < N; ++i) assert_true(x[i] == 3 * (float)i);
  NEAR('S', 5, rotation[0]);
  NEAR('S', 0.6, rotation[2]);
  NEAR('S', 0.8, rotation[3]);
  OK(cublasSetStream_v2(handle, NULL));
  OK(cudaStreamDestroy(stream));
}

/* A scalar that the call overwrites counts with the value that it had before, on all threads. */
static void scalars_may_lie_in_what_is_written(void** state) {
  (void)state;
  enum { LARGE = 1 << 20 };
  float *const x = managed(4 * (size_t)LARGE), *const product = managed(4 * (size_t)512 * 512);
  float* const a = fill('S', 512L * 512);
  OK(cublasSetPointerMode_v2(handle, 1));
  for (int place = 0; place < LARGE; place += LARGE / 4 + 1) {
    for (int i = 0; i < LARGE; ++i) x[i] = 3;
    OK(cublasSscal_v2(handle, LARGE, x + place, x, 1));
    wait_for_device();
    for (int i = 0; i < LARGE; ++i) assert_true(x[i] == 9);
  }
  for (int i = 0; i < 512 * 512; ++i) product[i] = 2;
  OK(cublasSgemm_v2(handle, OP_N, OP_N, 512, 512, 512, product + 700, a, 512, a, 512, product + 9,
                    product, 512));
  wait_for_device();
  for (int i = 0; i < 512; i += 37) {
    double sum = 0;
    for (int k = 0; k < 512; ++k) sum += (double)a[i + k * 512] * a[k + i * 512];
    assert_true(product[i + i * 512] - (2 * sum + 4) < 0.01);
    assert_true(product[i + i * 512] - (2 * sum + 4) > -0.01);
  }
}

/* Numbers of all sizes, and zeros. */
static number some_number(char type, int turn) {
  static const double sizes[] = {1, 0, -3, 1e-30, 4e30, -1e-3, 5e4, 0, 2, 1e-38, -1e18, 0.3};
  const double x = sizes[turn % 12], y = sizes[(turn / 12 + turn) % 12];
  return type == 'S' || type == 'D' ? x : x + I * y;
}

/* Near each other, or no numbers both. */
static void expect_alike(char type, const void* expected, const void* given, int k) {
  const number one = get(type, expected, k), other = get(type, given, k);
  if (one == one || other == other) NEAR(type, one, other);
}

static void expect_rotation(char type, int (*call)(const operands* o), const operands* host,
                            const operands* device, int turn) {
  for (int i = 0; i < 5; ++i) {
    const int at = turn + i * (turn / 12 + 1);
    void* const ours[] = {host->x, host->y, host->a, host->alpha, host->beta};
    void* const others[] = {device->x, device->y, device->a, device->alpha, device->beta};
    for (int k = 0; k < 5; ++k) {
      put(type, ours[i], k, some_number(type, at));
      put(type, others[i], k, some_number(type, at));
    }
  }
  OK(cublasSetPointerMode_v2(handle, 0));
  OK(call(host));
  OK(cublasSetPointerMode_v2(handle, 1));
  OK(call(device));
  wait_for_device();
  for (int k = 0; k < 5; ++k) {
    expect_alike(type, host->x, device->x, k);
    expect_alike(type, host->y, device->y, k);
    expect_alike(type, host->a, device->a, k);
    expect_alike(type, host->alpha, device->alpha, k);
    expect_alike(type, host->beta, device->beta, k);
  }
}

static void rotations_are_those_of_the_host(void** state) {
  (void)state;
  static const routine made[] = {ROUTINE(S, rotg_v2), ROUTINE(D, rotg_v2),  ROUTINE(C, rotg_v2),
                                 ROUTINE(Z, rotg_v2), ROUTINE(S, rotmg_v2), ROUTINE(D, rotmg_v2)};
  for (size_t i = 0; i < sizeof made / sizeof *made; ++i) {
    const operands host = make_operands(made[i].type), device = make_operands(made[i].type);
    for (int turn = 0; turn < 144; ++turn) {
      expect_rotation(made[i].type, made[i].call, &host, &device, turn);
    }
  }
}

/* Places that are no memory of the device are errors of the call, captured or not. */
static void wild_scalars_are_refused(void** state) {
  (void)state;
  float* const x = managed(4 * N);
  cudaStream_t stream = NULL;
  cudaGraph_t graph = NULL;
  float of_host = 2;
  OK(cublasSetPointerMode_v2(handle, 1));
  OK(cudaStreamCreate(&stream));
  for (int is_captured = 0; is_captured < 2; ++is_captured) {
    OK(cublasSetStream_v2(handle, stream));
    if (is_captured) OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT(INVALID_VALUE, cublasSscal_v2(handle, N, &of_host, x, 1));
    EXPECT(INVALID_VALUE, cublasSscal_v2(handle, N, NULL, x, 1));
    EXPECT(INVALID_VALUE, cublasSrot_v2(handle, N, x, 1, x + N / 2, 1, NULL, x));
    EXPECT(INVALID_VALUE, cublasSrotg_v2(handle, x, x, NULL, x));
    EXPECT(INVALID_VALUE, cublasSrotmg_v2(handle, x, x, x, x, NULL));
  }
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphDestroy(graph));
  OK(cublasSetStream_v2(handle, NULL));
  OK(cudaStreamDestroy(stream));
}

/* Results of captured reductions are there when the graph has run, each time of other vectors. */
static void results_are_written_when_graphs_run(void** state) {
  (void)state;
  float *const x = fill('S', COUNT), *const y = fill('S', COUNT);
  float* const results = managed(64);
  int *const places = managed(16), expected_places[2];
  c64 *const z = fill('Z', COUNT), *const dots = managed(64);
  double* const norm = managed(8);
  cudaStream_t stream = NULL;
  cudaGraph_t graph = NULL;
  cudaGraphExec_t exec = NULL;
  OK(cudaStreamCreate(&stream));
  OK(cublasSetStream_v2(handle, stream));
  OK(cublasSetPointerMode_v2(handle, 1));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cublasSdot_v2(handle, COUNT, x, 1, y, 1, &results[0]));
  OK(cublasSnrm2_v2(handle, COUNT, x, 1, &results[1]));
  OK(cublasSasum_v2(handle, COUNT, x, 1, &results[2]));
  OK(cublasNrm2Ex(handle, COUNT, x, R_32F, 1, &results[3], R_32F, R_32F));
  OK(cublasIsamax_v2(handle, COUNT, x, 1, &places[0]));
  OK(cublasIsamin_v2(handle, COUNT, x, 1, &places[1]));
  OK(cublasZdotc_v2(handle, COUNT, z, 1, z, 1, &dots[0]));
  OK(cublasZdotu_v2(handle, COUNT, z, 1, z, 1, &dots[1]));
  OK(cublasDznrm2_v2(handle, COUNT, z, 1, norm));
  OK(cublasSdot_v2(handle, 0, x, 1, y, 1, &results[4]));
  /* The scalar of a call may be the result of another. */
  OK(cublasSscal_v2(handle, COUNT, &results[1], y, 1));
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int turn = 0; turn < 2; ++turn) {
    double dot = 0, squares = 0, sizes = 0, largest = 0, least = 9;
    number conjugated = 0, plain = 0;
    const float first = y[0];
    for (int i = 0; i < COUNT; ++i) {
      const double size = x[i] < 0 ? -x[i] : x[i];
      const number value = get('Z', z, i);
      dot += (double)x[i] * y[i], squares += (double)x[i] * x[i], sizes += size;
      conjugated += conj(value) * value, plain += value * value;
      if (size > largest) largest = size, expected_places[0] = i + 1;
      if (size < least) least = size, expected_places[1] = i + 1;
    }
    results[4] = 7;
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    NEAR('S', dot, results[0]);
    NEAR('S', squares, (double)results[1] * results[1]);
    NEAR('S', sizes, results[2]);
    NEAR('S', results[1], results[3]);
    assert_memory_equal(places, expected_places, sizeof expected_places);
    NEAR('Z', conjugated, get('Z', dots, 0));
    NEAR('Z', plain, get('Z', dots, 1));
    NEAR('Z', conjugated, norm[0] * norm[0]);
    assert_true(results[4] == 0);
    assert_true(y[0] == first * results[1]);
    for (int i = 0; i < COUNT; ++i) x[i] = x[COUNT - 1 - i] / 2 + 0.25f;
    for (int i = 0; i < COUNT; ++i) put('Z', z, i, get('Z', z, i) * (0.5 + I * i / COUNT));
  }
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  OK(cublasSetStream_v2(handle, NULL));
  OK(cudaStreamDestroy(stream));
}

/* A result for the host would have to be there when the call returns: a capture cannot have that,
 * and goes on without the call. */
static void captures_refuse_results_for_the_host(void** state) {
  (void)state;
  float *const x = fill('S', N), result = 5;
  int place = 5;
  cudaStream_t stream = NULL;
  cudaGraph_t graph = NULL;
  size_t node_count = 7;
  OK(cudaStreamCreate(&stream));
  OK(cublasSetStream_v2(handle, stream));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT(NOT_SUPPORTED, cublasSdot_v2(handle, N, x, 1, x, 1, &result));
  EXPECT(NOT_SUPPORTED, cublasSnrm2_v2(handle, N, x, 1, &result));
  EXPECT(NOT_SUPPORTED, cublasIsamax_v2(handle, N, x, 1, &place));
  EXPECT(NOT_SUPPORTED, cublasIsamin_v2(handle, N, x, 1, &place));
  EXPECT(NOT_SUPPORTED, cublasNrm2Ex(handle, N, x, R_32F, 1, &result, R_32F, R_32F));
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphGetNodes(graph, NULL, &node_count));
  assert_int_equal(node_count, 0);
  assert_true(result == 5 && place == 5);
  OK(cudaGraphDestroy(graph));
  OK(cublasSnrm2_v2(handle, N, x, 1, &result));
  OK(cublasSetStream_v2(handle, NULL));
  OK(cudaStreamDestroy(stream));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(scalars_are_read_when_calls_run),      TEST(calls_wait_for_no_scalars),
      TEST(scalars_may_lie_in_what_is_written),   TEST(wild_scalars_are_refused),
      TEST(rotations_are_those_of_the_host),      TEST(results_are_written_when_graphs_run),
      TEST(captures_refuse_results_for_the_host),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
