/* The part of cuBLAS's API that the tests call, so that building them needs no headers of NVIDIA's
 * but those of the runtime. A test compiles the library against NVIDIA's own header where it is. */
#ifndef KM_TESTS_CUBLAS_H
#define KM_TESTS_CUBLAS_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cublasContext* cublasHandle_t;
typedef int cublasStatus_t;
enum { OK_ = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 7, EXECUTION_FAILED = 13, NOT_SUPPORTED = 15 };
enum {
  OP_N = 0,
  OP_T = 1,
  OP_C = 2,
  LOWER = 0,
  UPPER = 1,
  LEFT = 0,
  RIGHT = 1,
  NON_UNIT = 0,
  UNIT = 1
};
enum { R_32F = 0, R_64F = 1, R_16F = 2, R_8I = 3, R_32I = 10, R_16BF = 14 };
enum { COMPUTE_16F = 64, COMPUTE_32F = 68, COMPUTE_64F = 70, COMPUTE_32I = 72 };

typedef struct c32 {
  float x, y;
} c32;
typedef struct c64 {
  double x, y;
} c64;

cublasStatus_t cublasCreate_v2(cublasHandle_t*);
cublasStatus_t cublasDestroy_v2(cublasHandle_t);
cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int*);
cublasStatus_t cublasGetProperty(int, int*);
cublasStatus_t cublasSetStream_v2(cublasHandle_t, cudaStream_t);
cublasStatus_t cublasGetStream_v2(cublasHandle_t, cudaStream_t*);
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t, int);
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t, int*);
cublasStatus_t cublasSetMathMode(cublasHandle_t, int);
cublasStatus_t cublasGetMathMode(cublasHandle_t, int*);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t, int);
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void*, size_t);
cublasStatus_t cublasLoggerConfigure(int, int, int, const char*);
cublasStatus_t cublasSetLoggerCallback(void (*)(const char*));
const char* cublasGetStatusName(cublasStatus_t);
cublasStatus_t cublasSetVector(int, int, const void*, int, void*, int);
cublasStatus_t cublasGetVector(int, int, const void*, int, void*, int);
cublasStatus_t cublasSetMatrix(int, int, int, const void*, int, void*, int);
cublasStatus_t cublasGetMatrixAsync(int, int, int, const void*, int, void*, int, cudaStream_t);

#define KM_DECLARE(L, T, R)                                                                        \
  cublasStatus_t cublas##L##axpy_v2(cublasHandle_t, int, const T*, const T*, int, T*, int);        \
  cublasStatus_t cublas##L##scal_v2(cublasHandle_t, int, const T*, T*, int);                       \
  cublasStatus_t cublas##L##copy_v2(cublasHandle_t, int, const T*, int, T*, int);                  \
  cublasStatus_t cublas##L##swap_v2(cublasHandle_t, int, T*, int, T*, int);                        \
  cublasStatus_t cublas##L##gemv_v2(cublasHandle_t, int, int, int, const T*, const T*, int,        \
                                    const T*, int, const T*, T*, int);                             \
  cublasStatus_t cublas##L##gbmv_v2(cublasHandle_t, int, int, int, int, int, const T*, const T*,   \
                                    int, const T*, int, const T*, T*, int);                        \
  cublasStatus_t cublas##L##trmv_v2(cublasHandle_t, int, int, int, int, const T*, int, T*, int);   \
  cublasStatus_t cublas##L##trsv_v2(cublasHandle_t, int, int, int, int, const T*, int, T*, int);   \
  cublasStatus_t cublas##L##tpmv_v2(cublasHandle_t, int, int, int, int, const T*, T*, int);        \
  cublasStatus_t cublas##L##tbsv_v2(cublasHandle_t, int, int, int, int, int, const T*, int, T*,    \
                                    int);                                                          \
  cublasStatus_t cublas##L##gemm_v2(cublasHandle_t, int, int, int, int, int, const T*, const T*,   \
                                    int, const T*, int, const T*, T*, int);                        \
  cublasStatus_t cublas##L##gemm_v2_64(cublasHandle_t, int, int, int64_t, int64_t, int64_t,        \
                                       const T*, const T*, int64_t, const T*, int64_t, const T*,   \
                                       T*, int64_t);                                               \
  cublasStatus_t cublas##L##gemmStridedBatched(cublasHandle_t, int, int, int, int, int, const T*,  \
                                               const T*, int, long long, const T*, int, long long, \
                                               const T*, T*, int, long long, int);                 \
  cublasStatus_t cublas##L##gemmBatched(cublasHandle_t, int, int, int, int, int, const T*,         \
                                        const T* const*, int, const T* const*, int, const T*,      \
                                        T* const*, int, int);                                      \
  cublasStatus_t cublas##L##gemvStridedBatched(cublasHandle_t, int, int, int, const T*, const T*,  \
                                               int, long long, const T*, int, long long, const T*, \
                                               T*, int, long long, int);                           \
  cublasStatus_t cublas##L##symm_v2(cublasHandle_t, int, int, int, int, const T*, const T*, int,   \
                                    const T*, int, const T*, T*, int);                             \
  cublasStatus_t cublas##L##syrk_v2(cublasHandle_t, int, int, int, int, const T*, const T*, int,   \
                                    const T*, T*, int);                                            \
  cublasStatus_t cublas##L##syr2k_v2(cublasHandle_t, int, int, int, int, const T*, const T*, int,  \
                                     const T*, int, const T*, T*, int);                            \
  cublasStatus_t cublas##L##syrkx(cublasHandle_t, int, int, int, int, const T*, const T*, int,     \
                                  const T*, int, const T*, T*, int);                               \
  cublasStatus_t cublas##L##trmm_v2(cublasHandle_t, int, int, int, int, int, int, const T*,        \
                                    const T*, int, const T*, int, T*, int);                        \
  cublasStatus_t cublas##L##trsm_v2(cublasHandle_t, int, int, int, int, int, int, const T*,        \
                                    const T*, int, T*, int);                                       \
  cublasStatus_t cublas##L##trsmBatched(cublasHandle_t, int, int, int, int, int, int, const T*,    \
                                        const T* const*, int, T* const*, int, int);                \
  cublasStatus_t cublas##L##geam(cublasHandle_t, int, int, int, int, const T*, const T*, int,      \
                                 const T*, const T*, int, T*, int);                                \
  cublasStatus_t cublas##L##dgmm(cublasHandle_t, int, int, int, const T*, int, const T*, int, T*,  \
                                 int);                                                             \
  cublasStatus_t cublas##L##tpttr(cublasHandle_t, int, int, const T*, T*, int);                    \
  cublasStatus_t cublas##L##trttp(cublasHandle_t, int, int, const T*, int, T*);                    \
  cublasStatus_t cublas##L##getrfBatched(cublasHandle_t, int, T* const*, int, int*, int*, int);    \
  cublasStatus_t cublas##L##getriBatched(cublasHandle_t, int, const T* const*, int, const int*,    \
                                         T* const*, int, int*, int);                               \
  cublasStatus_t cublas##L##getrsBatched(cublasHandle_t, int, int, int, const T* const*, int,      \
                                         const int*, T* const*, int, int*, int);                   \
  cublasStatus_t cublas##L##matinvBatched(cublasHandle_t, int, const T* const*, int, T* const*,    \
                                          int, int*, int);                                         \
  cublasStatus_t cublas##L##geqrfBatched(cublasHandle_t, int, int, T* const*, int, T* const*,      \
                                         int*, int);                                               \
  cublasStatus_t cublas##L##gelsBatched(cublasHandle_t, int, int, int, int, T* const*, int,        \
                                        T* const*, int, int*, int*, int);                          \
  cublasStatus_t cublas##L##rotg_v2(cublasHandle_t, T*, T*, R*, T*);                               \
  cublasStatus_t cublas##L##symv_v2(cublasHandle_t, int, int, const T*, const T*, int, const T*,   \
                                    int, const T*, T*, int);                                       \
  cublasStatus_t cublas##L##syr_v2(cublasHandle_t, int, int, const T*, const T*, int, T*, int);    \
  cublasStatus_t cublas##L##syr2_v2(cublasHandle_t, int, int, const T*, const T*, int, const T*,   \
                                    int, T*, int);
KM_DECLARE(S, float, float)
KM_DECLARE(D, double, double)
KM_DECLARE(C, c32, float)
KM_DECLARE(Z, c64, double)

#define KM_DECLARE_REAL(L, l, T)                                                                \
  cublasStatus_t cublas##L##dot_v2(cublasHandle_t, int, const T*, int, const T*, int, T*);      \
  cublasStatus_t cublas##L##nrm2_v2(cublasHandle_t, int, const T*, int, T*);                    \
  cublasStatus_t cublas##L##asum_v2(cublasHandle_t, int, const T*, int, T*);                    \
  cublasStatus_t cublasI##l##amax_v2(cublasHandle_t, int, const T*, int, int*);                 \
  cublasStatus_t cublasI##l##amin_v2(cublasHandle_t, int, const T*, int, int*);                 \
  cublasStatus_t cublasI##l##amax_v2_64(cublasHandle_t, int64_t, const T*, int64_t, int64_t*);  \
  cublasStatus_t cublas##L##rot_v2(cublasHandle_t, int, T*, int, T*, int, const T*, const T*);  \
  cublasStatus_t cublas##L##rotm_v2(cublasHandle_t, int, T*, int, T*, int, const T*);           \
  cublasStatus_t cublas##L##rotmg_v2(cublasHandle_t, T*, T*, T*, const T*, T*);                 \
  cublasStatus_t cublas##L##ger_v2(cublasHandle_t, int, int, const T*, const T*, int, const T*, \
                                   int, T*, int);
KM_DECLARE_REAL(S, s, float)
KM_DECLARE_REAL(D, d, double)

cublasStatus_t cublasZdotc_v2(cublasHandle_t, int, const c64*, int, const c64*, int, c64*);
cublasStatus_t cublasZdotu_v2(cublasHandle_t, int, const c64*, int, const c64*, int, c64*);
cublasStatus_t cublasDznrm2_v2(cublasHandle_t, int, const c64*, int, double*);
cublasStatus_t cublasIzamin_v2(cublasHandle_t, int, const c64*, int, int*);
cublasStatus_t cublasZrot_v2(cublasHandle_t, int, c64*, int, c64*, int, const double*, const c64*);
cublasStatus_t cublasZherkx(cublasHandle_t, int, int, int, int, const c64*, const c64*, int,
                            const c64*, int, const double*, c64*, int);
cublasStatus_t cublasHgemm(cublasHandle_t, int, int, int, int, int, const uint16_t*,
                           const uint16_t*, int, const uint16_t*, int, const uint16_t*, uint16_t*,
                           int);
cublasStatus_t cublasGemmEx(cublasHandle_t, int, int, int, int, int, const void*, const void*, int,
                            int, const void*, int, int, const void*, void*, int, int, int, int);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t, int, int, int, int, int, const void*,
                                          const void*, int, int, long long, const void*, int, int,
                                          long long, const void*, void*, int, int, long long, int,
                                          int, int);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t, int, int, int, int, int, const void*,
                                   const void* const*, int, int, const void* const*, int, int,
                                   const void*, void* const*, int, int, int, int, int);
cublasStatus_t cublasSgemmGroupedBatched(cublasHandle_t, const int*, const int*, const int*,
                                         const int*, const int*, const float*, const float* const*,
                                         const int*, const float* const*, const int*, const float*,
                                         float* const*, const int*, int, const int*);
cublasStatus_t cublasDotEx(cublasHandle_t, int, const void*, int, int, const void*, int, int, void*,
                           int, int);
cublasStatus_t cublasAxpyEx(cublasHandle_t, int, const void*, int, const void*, int, int, void*,
                            int, int, int);
cublasStatus_t cublasUint8gemmBias(cublasHandle_t, int, int, int, int, int, int,
                                   const unsigned char*, int, int, const unsigned char*, int, int,
                                   unsigned char*, int, int, int, int);
cublasStatus_t cublasNrm2Ex(cublasHandle_t, int, const void*, int, int, void*, int, int);

#endif
