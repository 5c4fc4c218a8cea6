/* The interface of 2007 against the functions with handles: same operands, same bits. */
#include "support.h"

#include <string.h>

int cublasInit(void);
int cublasShutdown(void);
int cublasGetError(void);
int cublasGetVersion(int*);
int cublasAlloc(int, int, void**);
int cublasFree(void*);
int cublasSetKernelStream(cudaStream_t);

enum { N = 7, M = 5, K = 3, LD = 9, COUNT = LD * LD };

#define DECLARE(L, T)                                                                           \
  void cublas##L##axpy(int, T, const T*, int, T*, int);                                         \
  void cublas##L##copy(int, const T*, int, T*, int);                                            \
  void cublas##L##swap(int, T*, int, T*, int);                                                  \
  void cublas##L##scal(int, T, T*, int);                                                        \
  void cublas##L##gemv(char, int, int, T, const T*, int, const T*, int, T, T*, int);            \
  void cublas##L##gbmv(char, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);  \
  void cublas##L##trmv(char, char, char, int, const T*, int, T*, int);                          \
  void cublas##L##trsv(char, char, char, int, const T*, int, T*, int);                          \
  void cublas##L##tbmv(char, char, char, int, int, const T*, int, T*, int);                     \
  void cublas##L##tbsv(char, char, char, int, int, const T*, int, T*, int);                     \
  void cublas##L##tpmv(char, char, char, int, const T*, T*, int);                               \
  void cublas##L##tpsv(char, char, char, int, const T*, T*, int);                               \
  void cublas##L##gemm(char, char, int, int, int, T, const T*, int, const T*, int, T, T*, int); \
  void cublas##L##symm(char, char, int, int, T, const T*, int, const T*, int, T, T*, int);      \
  void cublas##L##syrk(char, char, int, int, T, const T*, int, T, T*, int);                     \
  void cublas##L##syr2k(char, char, int, int, T, const T*, int, const T*, int, T, T*, int);     \
  void cublas##L##trmm(char, char, char, char, int, int, T, const T*, int, T*, int);            \
  void cublas##L##trsm(char, char, char, char, int, int, T, const T*, int, T*, int);            \
  int cublas##L##tbmv_v2(cublasHandle_t, int, int, int, int, int, const T*, int, T*, int);      \
  int cublas##L##tpsv_v2(cublasHandle_t, int, int, int, int, const T*, T*, int);
FOR_TYPES(DECLARE)

#define DECLARE_SYMMETRIC(L, T, sy, sb, sp)                                                       \
  void cublas##L##sy##mv(char, int, T, const T*, int, const T*, int, T, T*, int);                 \
  void cublas##L##sb##mv(char, int, int, T, const T*, int, const T*, int, T, T*, int);            \
  void cublas##L##sp##mv(char, int, T, const T*, const T*, int, T, T*, int);                      \
  void cublas##L##sy##r2(char, int, T, const T*, int, const T*, int, T*, int);                    \
  void cublas##L##sp##r2(char, int, T, const T*, int, const T*, int, T*);                         \
  int cublas##L##sb##mv_v2(cublasHandle_t, int, int, int, const T*, const T*, int, const T*, int, \
                           const T*, T*, int);                                                    \
  int cublas##L##sp##mv_v2(cublasHandle_t, int, int, const T*, const T*, const T*, int, const T*, \
                           T*, int);                                                              \
  int cublas##L##sp##r2_v2(cublasHandle_t, int, int, const T*, const T*, int, const T*, int, T*);
DECLARE_SYMMETRIC(S, float, sy, sb, sp)
DECLARE_SYMMETRIC(D, double, sy, sb, sp)
DECLARE_SYMMETRIC(C, c32, he, hb, hp)
DECLARE_SYMMETRIC(Z, c64, he, hb, hp)

#define DECLARE_REAL(L, l, T)                                                   \
  void cublas##L##ger(int, int, T, const T*, int, const T*, int, T*, int);      \
  void cublas##L##syr(char, int, T, const T*, int, T*, int);                    \
  void cublas##L##spr(char, int, T, const T*, int, T*);                         \
  int cublas##L##spr_v2(cublasHandle_t, int, int, const T*, const T*, int, T*); \
  T cublas##L##dot(int, const T*, int, const T*, int);                          \
  T cublas##L##nrm2(int, const T*, int);                                        \
  T cublas##L##asum(int, const T*, int);                                        \
  int cublasI##l##amax(int, const T*, int);                                     \
  int cublasI##l##amin(int, const T*, int);                                     \
  void cublas##L##rot(int, T*, int, T*, int, T, T);                             \
  void cublas##L##rotm(int, T*, int, T*, int, const T*);                        \
  void cublas##L##rotg(T*, T*, T*, T*);                                         \
  void cublas##L##rotmg(T*, T*, T*, const T*, T*);
DECLARE_REAL(S, s, float)
DECLARE_REAL(D, d, double)

#define DECLARE_COMPLEX(L, l, T, R, Rl)                                                          \
  void cublas##L##geru(int, int, T, const T*, int, const T*, int, T*, int);                      \
  void cublas##L##gerc(int, int, T, const T*, int, const T*, int, T*, int);                      \
  void cublas##L##her(char, int, R, const T*, int, T*, int);                                     \
  void cublas##L##hpr(char, int, R, const T*, int, T*);                                          \
  void cublas##L##hemm(char, char, int, int, T, const T*, int, const T*, int, T, T*, int);       \
  void cublas##L##herk(char, char, int, int, R, const T*, int, R, T*, int);                      \
  void cublas##L##her2k(char, char, int, int, T, const T*, int, const T*, int, R, T*, int);      \
  T cublas##L##dotu(int, const T*, int, const T*, int);                                          \
  T cublas##L##dotc(int, const T*, int, const T*, int);                                          \
  R cublas##Rl##nrm2(int, const T*, int);                                                        \
  R cublas##Rl##asum(int, const T*, int);                                                        \
  int cublasI##l##amax(int, const T*, int);                                                      \
  int cublasI##l##amin(int, const T*, int);                                                      \
  void cublas##L##rot(int, T*, int, T*, int, R, T);                                              \
  void cublas##L##rotg(T*, T, R*, T*);                                                           \
  int cublas##L##geru_v2(cublasHandle_t, int, int, const T*, const T*, int, const T*, int, T*,   \
                         int);                                                                   \
  int cublas##L##gerc_v2(cublasHandle_t, int, int, const T*, const T*, int, const T*, int, T*,   \
                         int);                                                                   \
  int cublas##L##hemv_v2(cublasHandle_t, int, int, const T*, const T*, int, const T*, int,       \
                         const T*, T*, int);                                                     \
  int cublas##L##her_v2(cublasHandle_t, int, int, const R*, const T*, int, T*, int);             \
  int cublas##L##her2_v2(cublasHandle_t, int, int, const T*, const T*, int, const T*, int, T*,   \
                         int);                                                                   \
  int cublas##L##hpr_v2(cublasHandle_t, int, int, const R*, const T*, int, T*);                  \
  int cublas##L##hemm_v2(cublasHandle_t, int, int, int, int, const T*, const T*, int, const T*,  \
                         int, const T*, T*, int);                                                \
  int cublas##L##herk_v2(cublasHandle_t, int, int, int, int, const R*, const T*, int, const R*,  \
                         T*, int);                                                               \
  int cublas##L##her2k_v2(cublasHandle_t, int, int, int, int, const T*, const T*, int, const T*, \
                          int, const R*, T*, int);                                               \
  int cublas##Rl##asum_v2(cublasHandle_t, int, const T*, int, R*);                               \
  int cublasI##l##amax_v2(cublasHandle_t, int, const T*, int, int*);
DECLARE_COMPLEX(C, c, c32, float, Sc)
DECLARE_COMPLEX(Z, z, c64, double, Dz)
void cublasCsscal(int, float, c32*, int);
void cublasZdscal(int, double, c64*, int);
int cublasZdscal_v2(cublasHandle_t, int, const double*, c64*, int);
void cublasZdrot(int, c64*, int, c64*, int, double, double);
int cublasZdrot_v2(cublasHandle_t, int, c64*, int, c64*, int, const double*, const double*);

/* Both calls write to `out`, which is the same before them. */
#define SAME(T, old_call, new_call)                        \
  do {                                                     \
    memcpy(one, base, sizeof(T) * COUNT);                  \
    memcpy(other, base, sizeof(T) * COUNT);                \
    T* out = one;                                          \
    old_call;                                              \
    OK(cublasGetError());                                  \
    out = other;                                           \
    OK(new_call);                                          \
    wait_for_device();                                     \
    assert_memory_equal(one, other, sizeof(T) * COUNT);    \
    assert_memory_not_equal(one, base, sizeof(T) * COUNT); \
  } while (0)

#define OPERANDS(letter, T)                                                    \
  T *const base = fill(letter, COUNT), *const one = fill(letter, COUNT),       \
           *const other = fill(letter, COUNT), *const a = fill(letter, COUNT), \
           *const b = fill(letter, COUNT), *const x = fill(letter, COUNT);     \
  const T alpha = a[3], beta = b[5];                                           \
  for (int i = 0; i < LD; ++i) put(letter, a, i* LD + i, 3)

#define VECTORS(L, T)                                                                          \
  {                                                                                            \
    OPERANDS(#L[0], T);                                                                        \
    (void)beta;                                                                                \
    SAME(T, cublas##L##axpy(N, alpha, x, 2, out, 3),                                           \
         cublas##L##axpy_v2(handle, N, &alpha, x, 2, out, 3));                                 \
    SAME(T, cublas##L##copy(N, x, 2, out, 3), cublas##L##copy_v2(handle, N, x, 2, out, 3));    \
    SAME(T, cublas##L##swap(N, out, 2, out + 30, 3),                                           \
         cublas##L##swap_v2(handle, N, out, 2, out + 30, 3));                                  \
    SAME(T, cublas##L##scal(N, alpha, out, 2), cublas##L##scal_v2(handle, N, &alpha, out, 2)); \
    SAME(T, cublas##L##gemv('T', M, N, alpha, a, LD, x, 2, beta, out, 3),                      \
         cublas##L##gemv_v2(handle, OP_T, M, N, &alpha, a, LD, x, 2, &beta, out, 3));          \
    SAME(T, cublas##L##gbmv('n', M, N, 2, 1, alpha, a, LD, x, 2, beta, out, 3),                \
         cublas##L##gbmv_v2(handle, OP_N, M, N, 2, 1, &alpha, a, LD, x, 2, &beta, out, 3));    \
    SAME(T, cublas##L##trmv('U', 'T', 'N', N, a, LD, out, 2),                                  \
         cublas##L##trmv_v2(handle, UPPER, OP_T, NON_UNIT, N, a, LD, out, 2));                 \
    SAME(T, cublas##L##trsv('L', 'N', 'U', N, a, LD, out, 2),                                  \
         cublas##L##trsv_v2(handle, LOWER, OP_N, UNIT, N, a, LD, out, 2));                     \
    SAME(T, cublas##L##tbmv('U', 'c', 'N', N, 2, a, LD, out, 2),                               \
         cublas##L##tbmv_v2(handle, UPPER, OP_C, NON_UNIT, N, 2, a, LD, out, 2));              \
    SAME(T, cublas##L##tbsv('L', 'N', 'U', N, 2, a, LD, out, 2),                               \
         cublas##L##tbsv_v2(handle, LOWER, OP_N, UNIT, N, 2, a, LD, out, 2));                  \
    SAME(T, cublas##L##tpmv('L', 'T', 'N', N, a, out, 2),                                      \
         cublas##L##tpmv_v2(handle, LOWER, OP_T, NON_UNIT, N, a, out, 2));                     \
    SAME(T, cublas##L##tpsv('U', 'N', 'u', N, a, out, 2),                                      \
         cublas##L##tpsv_v2(handle, UPPER, OP_N, UNIT, N, a, out, 2));                         \
  }
static void vectors_and_triangles_are_those_of_handles(void** state) {
  (void)state;
  FOR_TYPES(VECTORS)
}

#define PRODUCTS(L, T)                                                                           \
  {                                                                                              \
    OPERANDS(#L[0], T);                                                                          \
    SAME(T, cublas##L##gemm('N', 'T', M, N, K, alpha, a, LD, b, LD, beta, out, LD),              \
         cublas##L##gemm_v2(handle, OP_N, OP_T, M, N, K, &alpha, a, LD, b, LD, &beta, out, LD)); \
    SAME(T, cublas##L##symm('R', 'U', M, N, alpha, a, LD, b, LD, beta, out, LD),                 \
         cublas##L##symm_v2(handle, RIGHT, UPPER, M, N, &alpha, a, LD, b, LD, &beta, out, LD));  \
    SAME(T, cublas##L##syrk('L', 'T', N, K, alpha, a, LD, beta, out, LD),                        \
         cublas##L##syrk_v2(handle, LOWER, OP_T, N, K, &alpha, a, LD, &beta, out, LD));          \
    SAME(T, cublas##L##syr2k('U', 'N', N, K, alpha, a, LD, b, LD, beta, out, LD),                \
         cublas##L##syr2k_v2(handle, UPPER, OP_N, N, K, &alpha, a, LD, b, LD, &beta, out, LD));  \
    SAME(T, cublas##L##trmm('L', 'U', 'T', 'N', M, N, alpha, a, LD, out, LD),                    \
         cublas##L##trmm_v2(handle, LEFT, UPPER, OP_T, NON_UNIT, M, N, &alpha, a, LD, out, LD,   \
                            out, LD));                                                           \
    SAME(T, cublas##L##trsm('R', 'L', 'N', 'U', M, N, alpha, a, LD, out, LD),                    \
         cublas##L##trsm_v2(handle, RIGHT, LOWER, OP_N, UNIT, M, N, &alpha, a, LD, out, LD));    \
    (void)x;                                                                                     \
  }
static void products_are_those_of_handles(void** state) {
  (void)state;
  FOR_TYPES(PRODUCTS)
}

#define SYMMETRIC(L, T, sy, sb, sp)                                                      \
  {                                                                                      \
    OPERANDS(#L[0], T);                                                                  \
    SAME(T, cublas##L##sy##mv('U', N, alpha, a, LD, x, 2, beta, out, 3),                 \
         cublas##L##sy##mv_v2(handle, UPPER, N, &alpha, a, LD, x, 2, &beta, out, 3));    \
    SAME(T, cublas##L##sb##mv('L', N, 2, alpha, a, LD, x, 2, beta, out, 3),              \
         cublas##L##sb##mv_v2(handle, LOWER, N, 2, &alpha, a, LD, x, 2, &beta, out, 3)); \
    SAME(T, cublas##L##sp##mv('U', N, alpha, a, x, 2, beta, out, 3),                     \
         cublas##L##sp##mv_v2(handle, UPPER, N, &alpha, a, x, 2, &beta, out, 3));        \
    SAME(T, cublas##L##sy##r2('L', N, alpha, x, 2, b, 3, out, LD),                       \
         cublas##L##sy##r2_v2(handle, LOWER, N, &alpha, x, 2, b, 3, out, LD));           \
    SAME(T, cublas##L##sp##r2('U', N, alpha, x, 2, b, 3, out),                           \
         cublas##L##sp##r2_v2(handle, UPPER, N, &alpha, x, 2, b, 3, out));               \
  }
static void symmetric_matrices_are_those_of_handles(void** state) {
  (void)state;
  SYMMETRIC(S, float, sy, sb, sp)
  SYMMETRIC(D, double, sy, sb, sp)
  SYMMETRIC(C, c32, he, hb, hp)
  SYMMETRIC(Z, c64, he, hb, hp)
}

#define REAL(L, l, T)                                                       \
  {                                                                         \
    OPERANDS(#L[0], T);                                                     \
    SAME(T, cublas##L##ger(M, N, alpha, x, 2, b, 3, out, LD),               \
         cublas##L##ger_v2(handle, M, N, &alpha, x, 2, b, 3, out, LD));     \
    SAME(T, cublas##L##syr('U', N, alpha, x, 2, out, LD),                   \
         cublas##L##syr_v2(handle, UPPER, N, &alpha, x, 2, out, LD));       \
    SAME(T, cublas##L##spr('L', N, alpha, x, 2, out),                       \
         cublas##L##spr_v2(handle, LOWER, N, &alpha, x, 2, out));           \
    SAME(T, cublas##L##rot(N, out, 2, out + 30, 3, alpha, beta),            \
         cublas##L##rot_v2(handle, N, out, 2, out + 30, 3, &alpha, &beta)); \
    const T turn[5] = {-1, 2, 3, 4, 5};                                     \
    SAME(T, cublas##L##rotm(N, out, 2, out + 30, 3, turn),                  \
         cublas##L##rotm_v2(handle, N, out, 2, out + 30, 3, turn));         \
    SAME(T, cublas##L##rotg(out, out + 1, out + 2, out + 3),                \
         cublas##L##rotg_v2(handle, out, out + 1, out + 2, out + 3));       \
    base[0] = 2, base[1] = 3; /* the squares of scales */                   \
    SAME(T, cublas##L##rotmg(out, out + 1, out + 2, b, out + 4),            \
         cublas##L##rotmg_v2(handle, out, out + 1, out + 2, b, out + 4));   \
    T sum;                                                                  \
    int index;                                                              \
    OK(cublas##L##dot_v2(handle, N, x, 2, b, 3, &sum));                     \
    assert_true(cublas##L##dot(N, x, 2, b, 3) == sum);                      \
    OK(cublas##L##nrm2_v2(handle, N, x, 2, &sum));                          \
    assert_true(cublas##L##nrm2(N, x, 2) == sum);                           \
    OK(cublas##L##asum_v2(handle, N, x, 2, &sum));                          \
    assert_true(cublas##L##asum(N, x, 2) == sum);                           \
    OK(cublasI##l##amax_v2(handle, N, x, 2, &index));                       \
    assert_int_equal(cublasI##l##amax(N, x, 2), index);                     \
    OK(cublasI##l##amin_v2(handle, N, x, 2, &index));                       \
    assert_int_equal(cublasI##l##amin(N, x, 2), index);                     \
  }
static void real_functions_are_those_of_handles(void** state) {
  (void)state;
  REAL(S, s, float)
  REAL(D, d, double)
}

#define COMPLEX(L, l, T, R, Rl)                                                                 \
  {                                                                                             \
    OPERANDS(#L[0], T);                                                                         \
    const R r = alpha.x, q = beta.x;                                                            \
    SAME(T, cublas##L##geru(M, N, alpha, x, 2, b, 3, out, LD),                                  \
         cublas##L##geru_v2(handle, M, N, &alpha, x, 2, b, 3, out, LD));                        \
    SAME(T, cublas##L##gerc(M, N, alpha, x, 2, b, 3, out, LD),                                  \
         cublas##L##gerc_v2(handle, M, N, &alpha, x, 2, b, 3, out, LD));                        \
    SAME(T, cublas##L##her('U', N, r, x, 2, out, LD),                                           \
         cublas##L##her_v2(handle, UPPER, N, &r, x, 2, out, LD));                               \
    SAME(T, cublas##L##hpr('L', N, r, x, 2, out),                                               \
         cublas##L##hpr_v2(handle, LOWER, N, &r, x, 2, out));                                   \
    SAME(T, cublas##L##hemm('R', 'U', M, N, alpha, a, LD, b, LD, beta, out, LD),                \
         cublas##L##hemm_v2(handle, RIGHT, UPPER, M, N, &alpha, a, LD, b, LD, &beta, out, LD)); \
    SAME(T, cublas##L##herk('L', 'C', N, K, r, a, LD, q, out, LD),                              \
         cublas##L##herk_v2(handle, LOWER, OP_C, N, K, &r, a, LD, &q, out, LD));                \
    SAME(T, cublas##L##her2k('U', 'N', N, K, alpha, a, LD, b, LD, q, out, LD),                  \
         cublas##L##her2k_v2(handle, UPPER, OP_N, N, K, &alpha, a, LD, b, LD, &q, out, LD));    \
    R sum;                                                                                      \
    int index;                                                                                  \
    OK(cublas##Rl##asum_v2(handle, N, x, 2, &sum));                                             \
    assert_true(cublas##Rl##asum(N, x, 2) == sum);                                              \
    const R norm = cublas##Rl##nrm2(N, x, 2);                                                   \
    NEAR(#L[0], cublas##L##dotc(N, x, 2, x, 2).x, norm* norm);                                  \
    assert_true(cublas##L##dotu(N, x, 2, x, 2).x != cublas##L##dotc(N, x, 2, x, 2).x);          \
    OK(cublasI##l##amax_v2(handle, N, x, 2, &index));                                           \
    assert_int_equal(cublasI##l##amax(N, x, 2), index);                                         \
    assert_true(cublasI##l##amin(N, x, 2) > 0);                                                 \
    T s, first = alpha;                                                                         \
    R c;                                                                                        \
    cublas##L##rotg(&first, beta, &c, &s);                                                      \
    T again = alpha, other_s, other_b = beta;                                                   \
    R other_c;                                                                                  \
    OK(cublas##L##rotg_v2(handle, &again, &other_b, &other_c, &other_s));                       \
    assert_true(c == other_c && s.x == other_s.x && s.y == other_s.y && first.x == again.x);    \
  }
static void complex_functions_are_those_of_handles(void** state) {
  (void)state;
  COMPLEX(C, c, c32, float, Sc)
  COMPLEX(Z, z, c64, double, Dz)
  OPERANDS('Z', c64);
  const double c = alpha.x, s = beta.x;
  SAME(c64, cublasZdscal(N, c, out, 2), cublasZdscal_v2(handle, N, &c, out, 2));
  SAME(c64, cublasZrot(N, out, 2, out + 30, 3, c, beta),
       cublasZrot_v2(handle, N, out, 2, out + 30, 3, &c, &beta));
  SAME(c64, cublasZdrot(N, out, 2, out + 30, 3, c, s),
       cublasZdrot_v2(handle, N, out, 2, out + 30, 3, &c, &s));
  (void)a, (void)b, (void)x;
}

static void errors_are_kept_until_they_are_asked_for(void** state) {
  (void)state;
  float* const x = fill('S', 8);
  void* memory = NULL;
  int version = 0;
  OK(cublasGetVersion(&version));
  assert_int_equal(version / 10000, KM_CUBLAS_MAJOR);
  cublasSgemv('x', 2, 2, 1, x, 2, x, 1, 0, x + 4, 1); /* no operation */
  OK(cublasGetVersion(&version));
  EXPECT(INVALID_VALUE, cublasGetError());
  OK(cublasGetError());
  cublasSgemv('n', -1, 2, 1, x, 2, x, 1, 0, x + 4, 1);
  EXPECT(INVALID_VALUE, cublasGetError());
  EXPECT(INVALID_VALUE, cublasAlloc(0, 4, &memory));
  EXPECT(INVALID_VALUE, cublasGetError());
  OK(cublasAlloc(10, 4, &memory));
  assert_non_null(memory);
  OK(cublasFree(memory));
  OK(cublasInit()); /* again */
  OK(cublasShutdown());
  cublasSscal(2, 2, x, 1);
  EXPECT(NOT_INITIALIZED, cublasGetError());
  EXPECT(NOT_INITIALIZED, cublasShutdown());
  EXPECT(NOT_INITIALIZED, cublasSetKernelStream(NULL));
  EXPECT(NOT_INITIALIZED, cublasAlloc(10, 4, &memory));
  OK(cublasInit());
  EXPECT(NOT_INITIALIZED, cublasGetError());
}

static void calls_join_the_stream_that_is_set(void** state) {
  (void)state;
  cudaStream_t stream;
  float* const x = fill('S', 8);
  const float expected = 2 * x[1];
  OK(cudaStreamCreate(&stream));
  OK(cublasSetKernelStream(stream));
  cublasSscal(8, 2, x, 1);
  OK(cudaStreamSynchronize(stream));
  assert_true(x[1] == expected);
  OK(cublasSetKernelStream(NULL));
  OK(cudaStreamDestroy(stream));
}

static int begin(void** state) {
  (void)state;
  return cublasInit();
}
static int end(void** state) {
  (void)state;
  return cublasShutdown();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(vectors_and_triangles_are_those_of_handles),
      TEST(products_are_those_of_handles),
      TEST(symmetric_matrices_are_those_of_handles),
      TEST(real_functions_are_those_of_handles),
      TEST(complex_functions_are_those_of_handles),
      TEST(errors_are_kept_until_they_are_asked_for),
      TEST(calls_join_the_stream_that_is_set),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
