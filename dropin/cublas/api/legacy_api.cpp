// cuBLAS's original interface from 2007: one handle per process, scalars by value, and a stored
// error.
#include <mutex>
#include <tuple>
#include <type_traits>

#include "dropin/cublas/frame/handle.h"
#include "dropin/cublas/version/version.h"

#if defined(KM_NVIDIA_HEADERS) && __has_include(<crt/host_config.h>)
#include <cublas.h>
#else
extern "C" {
cublasStatus_t cublasCreate_v2(cublasHandle_t*);
cublasStatus_t cublasDestroy_v2(cublasHandle_t);
cublasStatus_t cublasSetStream_v2(cublasHandle_t, cudaStream_t);
}
#endif

namespace km::cublas {

namespace {

std::mutex process_mutex;  // guards the members below
cublasHandle_t process_handle = nullptr;

std::atomic<cublasStatus_t> last_error{CUBLAS_STATUS_SUCCESS};

cublasStatus_t keep(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) last_error = status;
  return status;
}

cublasHandle_t handle_of_process() {
  if (is_forked()) return nullptr;  // the parent's thread may have held the lock
  const std::lock_guard lock(process_mutex);
  return process_handle;
}

/// A parameter that the original interface passes as a letter.
template <class Parameter>
constexpr bool is_letter =
    std::is_same_v<Parameter, cublasOperation_t> || std::is_same_v<Parameter, cublasFillMode_t> ||
    std::is_same_v<Parameter, cublasDiagType_t> || std::is_same_v<Parameter, cublasSideMode_t>;

/// Parses a letter in upper or lower case, as BLAS does. Returns false if the letter is invalid.
bool parse(char letter, cublasOperation_t* out) {
  const char lower = static_cast<char>(letter | 0x20);
  *out = lower == 'n' ? CUBLAS_OP_N : lower == 't' ? CUBLAS_OP_T : CUBLAS_OP_C;
  return lower == 'n' || lower == 't' || lower == 'c';
}
bool parse(char letter, cublasFillMode_t* out) {
  const char lower = static_cast<char>(letter | 0x20);
  *out = lower == 'u' ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  return lower == 'u' || lower == 'l';
}
bool parse(char letter, cublasDiagType_t* out) {
  const char lower = static_cast<char>(letter | 0x20);
  *out = lower == 'u' ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
  return lower == 'u' || lower == 'n';
}
bool parse(char letter, cublasSideMode_t* out) {
  const char lower = static_cast<char>(letter | 0x20);
  *out = lower == 'r' ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;
  return lower == 'r' || lower == 'l';
}

/// Converts an argument of the original interface: letters to enumerations, scalars to pointers.
template <class Parameter, class Argument>
Parameter converted(Argument& argument, bool* is_valid) {
  if constexpr (is_letter<Parameter>) {
    Parameter value;
    if (!parse(argument, &value)) *is_valid = false;
    return value;
  } else if constexpr (std::is_pointer_v<Parameter> && !std::is_pointer_v<Argument>) {
    return &argument;
  } else {
    return argument;
  }
}

template <class... Parameters, class... Arguments>
void run(cublasStatus_t (*function)(cublasHandle_t, Parameters...), Arguments... arguments) {
  const cublasHandle_t handle = handle_of_process();
  if (handle == nullptr) {
    keep(CUBLAS_STATUS_NOT_INITIALIZED);
    return;
  }
  bool is_valid = true;
  // Braces guarantee that all arguments are converted before the function is called.
  const std::tuple<Parameters...> values{converted<Parameters>(arguments, &is_valid)...};
  if (!is_valid) {
    keep(CUBLAS_STATUS_INVALID_VALUE);
    return;
  }
  keep(std::apply([&](auto... each) { return function(handle, each...); }, values));
}

}  // namespace

extern "C" {

cublasStatus_t cublasInit() {
  return keep(call(__func__, [&]() -> cublasStatus_t {
    const std::lock_guard lock(process_mutex);
    return process_handle != nullptr ? CUBLAS_STATUS_SUCCESS : cublasCreate_v2(&process_handle);
  }));
}

cublasStatus_t cublasShutdown() {
  return keep(call(__func__, [&]() -> cublasStatus_t {
    const std::lock_guard lock(process_mutex);
    if (process_handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    const cublasHandle_t handle = process_handle;
    process_handle = nullptr;
    return cublasDestroy_v2(handle);
  }));
}

/// Returns the process's last error and clears it.
cublasStatus_t cublasGetError() { return last_error.exchange(CUBLAS_STATUS_SUCCESS); }

cublasStatus_t cublasGetVersion(int* version) {
  return keep(call(__func__, [&] { return write_value("version", version, int{kVersion}); }));
}

cublasStatus_t cublasSetKernelStream(cudaStream_t stream) {
  const cublasHandle_t handle = handle_of_process();
  return keep(handle != nullptr ? cublasSetStream_v2(handle, stream)
                                : CUBLAS_STATUS_NOT_INITIALIZED);
}

cublasStatus_t cublasAlloc(int count, int element_bytes, void** memory) {
  return keep(call(__func__, handle_of_process(), [&](Handle& h) -> cublasStatus_t {
    LIB_TRY(write_value<void*>("devicePtr", memory, nullptr));
    if (count <= 0 || element_bytes <= 0) {
      return invalid("%d elements of %d bytes", count, element_bytes);
    }
    cu::CUdeviceptr address = 0;
    const size_t size_bytes = static_cast<size_t>(count) * static_cast<size_t>(element_bytes);
    if (h.driver->cuMemAlloc_v2(&address, size_bytes) != cu::CUDA_SUCCESS) {
      return CUBLAS_STATUS_ALLOC_FAILED;
    }
    return write_value("devicePtr", memory, reinterpret_cast<void*>(address));
  }));
}

cublasStatus_t cublasFree(void* memory) {
  return keep(call(__func__, handle_of_process(), [&](Handle& h) -> cublasStatus_t {
    if (memory == nullptr) return CUBLAS_STATUS_SUCCESS;
    return status_of(h.driver->cuMemFree_v2(reinterpret_cast<uint64_t>(memory)));
  }));
}

// KM_OLD(name, the original parameters, the current parameter types, the arguments)
#define KM_OLD(name, parameters, types, ...) \
  cublasStatus_t cublas##name##_v2 types;    \
  void cublas##name parameters { run(cublas##name##_v2, __VA_ARGS__); }
/// Like KM_OLD, for a function with a result, which the current function writes through its last
/// parameter.
#define KM_OLD_RESULT(R, name, parameters, types, ...) \
  cublasStatus_t cublas##name##_v2 types;              \
  R cublas##name parameters {                          \
    R result{};                                        \
    run(cublas##name##_v2, __VA_ARGS__, &result);      \
    return result;                                     \
  }
using Handle_t = cublasHandle_t;
using Op = cublasOperation_t;
using Fill = cublasFillMode_t;
using Diag = cublasDiagType_t;
using Side = cublasSideMode_t;
using C32 = cuComplex;
using C64 = cuDoubleComplex;

#define KM_REAL(MACRO) MACRO(S, float) MACRO(D, double)
#define KM_COMPLEX(MACRO) MACRO(C, C32) MACRO(Z, C64)
#define KM_ALL(MACRO) KM_REAL(MACRO) KM_COMPLEX(MACRO)

// Level 1 routines.
#define KM_NORM(name, R, T)                                                                       \
  KM_OLD_RESULT(R, name, (int n, const T* x, int incx), (Handle_t, int, const T*, int, R*), n, x, \
                incx)
KM_NORM(Snrm2, float, float)
KM_NORM(Dnrm2, double, double)
KM_NORM(Scnrm2, float, C32)
KM_NORM(Dznrm2, double, C64)
KM_NORM(Sasum, float, float)
KM_NORM(Dasum, double, double)
KM_NORM(Scasum, float, C32)
KM_NORM(Dzasum, double, C64)
KM_NORM(Isamax, int, float)
KM_NORM(Idamax, int, double)
KM_NORM(Icamax, int, C32)
KM_NORM(Izamax, int, C64)
KM_NORM(Isamin, int, float)
KM_NORM(Idamin, int, double)
KM_NORM(Icamin, int, C32)
KM_NORM(Izamin, int, C64)

#define KM_DOT(name, T)                                                       \
  KM_OLD_RESULT(T, name, (int n, const T* x, int incx, const T* y, int incy), \
                (Handle_t, int, const T*, int, const T*, int, T*), n, x, incx, y, incy)
KM_DOT(Sdot, float)
KM_DOT(Ddot, double)
KM_DOT(Cdotu, C32)
KM_DOT(Cdotc, C32)
KM_DOT(Zdotu, C64)
KM_DOT(Zdotc, C64)

#define KM_SCAL(name, A, T)                                                                       \
  KM_OLD(name, (int n, A alpha, T* x, int incx), (Handle_t, int, const A*, T*, int), n, alpha, x, \
         incx)
KM_SCAL(Sscal, float, float)
KM_SCAL(Dscal, double, double)
KM_SCAL(Cscal, C32, C32)
KM_SCAL(Zscal, C64, C64)
KM_SCAL(Csscal, float, C32)
KM_SCAL(Zdscal, double, C64)

#define KM_VECTORS(L, T)                                                                         \
  KM_OLD(L##axpy, (int n, T alpha, const T* x, int incx, T* y, int incy),                        \
         (Handle_t, int, const T*, const T*, int, T*, int), n, alpha, x, incx, y, incy)          \
  KM_OLD(L##copy, (int n, const T* x, int incx, T* y, int incy),                                 \
         (Handle_t, int, const T*, int, T*, int), n, x, incx, y, incy)                           \
  KM_OLD(L##swap, (int n, T* x, int incx, T* y, int incy), (Handle_t, int, T*, int, T*, int), n, \
         x, incx, y, incy)
KM_ALL(KM_VECTORS)

#define KM_ROT(name, T, R, S)                                     \
  KM_OLD(name, (int n, T* x, int incx, T* y, int incy, R c, S s), \
         (Handle_t, int, T*, int, T*, int, const R*, const S*), n, x, incx, y, incy, c, s)
KM_ROT(Srot, float, float, float)
KM_ROT(Drot, double, double, double)
KM_ROT(Crot, C32, float, C32)
KM_ROT(Zrot, C64, double, C64)
KM_ROT(Csrot, C32, float, float)
KM_ROT(Zdrot, C64, double, double)

#define KM_ROTATIONS(L, T)                                                              \
  KM_OLD(L##rotg, (T * a, T * b, T * c, T * s), (Handle_t, T*, T*, T*, T*), a, b, c, s) \
  KM_OLD(L##rotm, (int n, T* x, int incx, T* y, int incy, const T* parameters),         \
         (Handle_t, int, T*, int, T*, int, const T*), n, x, incx, y, incy, parameters)  \
  KM_OLD(L##rotmg, (T * d1, T * d2, T * x1, const T* y1, T* parameters),                \
         (Handle_t, T*, T*, T*, const T*, T*), d1, d2, x1, y1, parameters)
KM_REAL(KM_ROTATIONS)
KM_OLD(Crotg, (C32 * a, C32 b, float* c, C32* s), (Handle_t, C32*, C32*, float*, C32*), a, b, c, s)
KM_OLD(Zrotg, (C64 * a, C64 b, double* c, C64* s), (Handle_t, C64*, C64*, double*, C64*), a, b, c,
       s)

// Level 2 routines.
#define KM_GENERAL(L, T)                                                                          \
  KM_OLD(L##gemv,                                                                                 \
         (char trans, int m, int n, T alpha, const T* a, int lda, const T* x, int incx, T beta,   \
          T* y, int incy),                                                                        \
         (Handle_t, Op, int, int, const T*, const T*, int, const T*, int, const T*, T*, int),     \
         trans, m, n, alpha, a, lda, x, incx, beta, y, incy)                                      \
  KM_OLD(L##gbmv,                                                                                 \
         (char trans, int m, int n, int kl, int ku, T alpha, const T* a, int lda, const T* x,     \
          int incx, T beta, T* y, int incy),                                                      \
         (Handle_t, Op, int, int, int, int, const T*, const T*, int, const T*, int, const T*, T*, \
          int),                                                                                   \
         trans, m, n, kl, ku, alpha, a, lda, x, incx, beta, y, incy)
KM_ALL(KM_GENERAL)

#define KM_TRIANGLE(name, T)                                                                       \
  KM_OLD(name, (char uplo, char trans, char diag, int n, const T* a, int lda, T* x, int incx),     \
         (Handle_t, Fill, Op, Diag, int, const T*, int, T*, int), uplo, trans, diag, n, a, lda, x, \
         incx)
#define KM_BAND(name, T)                                                                           \
  KM_OLD(name,                                                                                     \
         (char uplo, char trans, char diag, int n, int k, const T* a, int lda, T* x, int incx),    \
         (Handle_t, Fill, Op, Diag, int, int, const T*, int, T*, int), uplo, trans, diag, n, k, a, \
         lda, x, incx)
#define KM_PACKED(name, T)                                                            \
  KM_OLD(name, (char uplo, char trans, char diag, int n, const T* a, T* x, int incx), \
         (Handle_t, Fill, Op, Diag, int, const T*, T*, int), uplo, trans, diag, n, a, x, incx)
#define KM_TRIANGLES(L, T) \
  KM_TRIANGLE(L##trmv, T)  \
  KM_TRIANGLE(L##trsv, T)  \
  KM_BAND(L##tbmv, T)      \
  KM_BAND(L##tbsv, T)      \
  KM_PACKED(L##tpmv, T)    \
  KM_PACKED(L##tpsv, T)
KM_ALL(KM_TRIANGLES)

#define KM_SYMMETRIC(name, T)                                                                    \
  KM_OLD(name,                                                                                   \
         (char uplo, int n, T alpha, const T* a, int lda, const T* x, int incx, T beta, T* y,    \
          int incy),                                                                             \
         (Handle_t, Fill, int, const T*, const T*, int, const T*, int, const T*, T*, int), uplo, \
         n, alpha, a, lda, x, incx, beta, y, incy)
#define KM_SYMMETRIC_BAND(name, T)                                                              \
  KM_OLD(name,                                                                                  \
         (char uplo, int n, int k, T alpha, const T* a, int lda, const T* x, int incx, T beta,  \
          T* y, int incy),                                                                      \
         (Handle_t, Fill, int, int, const T*, const T*, int, const T*, int, const T*, T*, int), \
         uplo, n, k, alpha, a, lda, x, incx, beta, y, incy)
#define KM_SYMMETRIC_PACKED(name, T)                                                            \
  KM_OLD(name,                                                                                  \
         (char uplo, int n, T alpha, const T* a, const T* x, int incx, T beta, T* y, int incy), \
         (Handle_t, Fill, int, const T*, const T*, const T*, int, const T*, T*, int), uplo, n,  \
         alpha, a, x, incx, beta, y, incy)
#define KM_RANK1(name, T)                                                                          \
  KM_OLD(name, (int m, int n, T alpha, const T* x, int incx, const T* y, int incy, T* a, int lda), \
         (Handle_t, int, int, const T*, const T*, int, const T*, int, T*, int), m, n, alpha, x,    \
         incx, y, incy, a, lda)
#define KM_OWN_RANK1(name, A, T)                                                 \
  KM_OLD(name, (char uplo, int n, A alpha, const T* x, int incx, T* a, int lda), \
         (Handle_t, Fill, int, const A*, const T*, int, T*, int), uplo, n, alpha, x, incx, a, lda)
#define KM_OWN_RANK1_PACKED(name, A, T)                                 \
  KM_OLD(name, (char uplo, int n, A alpha, const T* x, int incx, T* a), \
         (Handle_t, Fill, int, const A*, const T*, int, T*), uplo, n, alpha, x, incx, a)
#define KM_RANK2(name, T)                                                                        \
  KM_OLD(name,                                                                                   \
         (char uplo, int n, T alpha, const T* x, int incx, const T* y, int incy, T* a, int lda), \
         (Handle_t, Fill, int, const T*, const T*, int, const T*, int, T*, int), uplo, n, alpha, \
         x, incx, y, incy, a, lda)
#define KM_RANK2_PACKED(name, T)                                                               \
  KM_OLD(name, (char uplo, int n, T alpha, const T* x, int incx, const T* y, int incy, T* a),  \
         (Handle_t, Fill, int, const T*, const T*, int, const T*, int, T*), uplo, n, alpha, x, \
         incx, y, incy, a)
#define KM_SYMMETRICS(L, T)         \
  KM_SYMMETRIC(L##symv, T)          \
  KM_SYMMETRIC_BAND(L##sbmv, T)     \
  KM_SYMMETRIC_PACKED(L##spmv, T)   \
  KM_RANK1(L##ger, T)               \
  KM_OWN_RANK1(L##syr, T, T)        \
  KM_OWN_RANK1_PACKED(L##spr, T, T) \
  KM_RANK2(L##syr2, T)              \
  KM_RANK2_PACKED(L##spr2, T)
KM_REAL(KM_SYMMETRICS)
#define KM_HERMITIANS(L, T, R)      \
  KM_SYMMETRIC(L##hemv, T)          \
  KM_SYMMETRIC_BAND(L##hbmv, T)     \
  KM_SYMMETRIC_PACKED(L##hpmv, T)   \
  KM_RANK1(L##geru, T)              \
  KM_RANK1(L##gerc, T)              \
  KM_OWN_RANK1(L##her, R, T)        \
  KM_OWN_RANK1_PACKED(L##hpr, R, T) \
  KM_RANK2(L##her2, T)              \
  KM_RANK2_PACKED(L##hpr2, T)
KM_HERMITIANS(C, C32, float)
KM_HERMITIANS(Z, C64, double)

// Level 3 routines.
#define KM_PRODUCT(L, T)                                                                           \
  KM_OLD(L##gemm,                                                                                  \
         (char transa, char transb, int m, int n, int k, T alpha, const T* a, int lda, const T* b, \
          int ldb, T beta, T* c, int ldc),                                                         \
         (Handle_t, Op, Op, int, int, int, const T*, const T*, int, const T*, int, const T*, T*,   \
          int),                                                                                    \
         transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
KM_ALL(KM_PRODUCT)
#define KM_SIDE_PRODUCT(name, T)                                                                   \
  KM_OLD(                                                                                          \
      name,                                                                                        \
      (char side, char uplo, int m, int n, T alpha, const T* a, int lda, const T* b, int ldb,      \
       T beta, T* c, int ldc),                                                                     \
      (Handle_t, Side, Fill, int, int, const T*, const T*, int, const T*, int, const T*, T*, int), \
      side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
#define KM_RANK_K(name, A, T)                                                                     \
  KM_OLD(                                                                                         \
      name,                                                                                       \
      (char uplo, char trans, int n, int k, A alpha, const T* a, int lda, A beta, T* c, int ldc), \
      (Handle_t, Fill, Op, int, int, const A*, const T*, int, const A*, T*, int), uplo, trans, n, \
      k, alpha, a, lda, beta, c, ldc)
#define KM_RANK_2K(name, B, T)                                                                   \
  KM_OLD(                                                                                        \
      name,                                                                                      \
      (char uplo, char trans, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb,   \
       B beta, T* c, int ldc),                                                                   \
      (Handle_t, Fill, Op, int, int, const T*, const T*, int, const T*, int, const B*, T*, int), \
      uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
#define KM_SYMMETRIC_PRODUCTS(L, T) \
  KM_SIDE_PRODUCT(L##symm, T)       \
  KM_RANK_K(L##syrk, T, T)          \
  KM_RANK_2K(L##syr2k, T, T)
KM_ALL(KM_SYMMETRIC_PRODUCTS)
#define KM_HERMITIAN_PRODUCTS(L, T, R) \
  KM_SIDE_PRODUCT(L##hemm, T)          \
  KM_RANK_K(L##herk, R, T)             \
  KM_RANK_2K(L##her2k, R, T)
KM_HERMITIAN_PRODUCTS(C, C32, float)
KM_HERMITIAN_PRODUCTS(Z, C64, double)

// The original trmm writes its result over B.
#define KM_TRIANGULAR_PRODUCTS(L, T)                                                               \
  KM_OLD(                                                                                          \
      L##trmm,                                                                                     \
      (char side, char uplo, char transa, char diag, int m, int n, T alpha, const T* a, int lda,   \
       T* b, int ldb),                                                                             \
      (Handle_t, Side, Fill, Op, Diag, int, int, const T*, const T*, int, const T*, int, T*, int), \
      side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb, b, ldb)                               \
  KM_OLD(L##trsm,                                                                                  \
         (char side, char uplo, char transa, char diag, int m, int n, T alpha, const T* a,         \
          int lda, T* b, int ldb),                                                                 \
         (Handle_t, Side, Fill, Op, Diag, int, int, const T*, const T*, int, T*, int), side, uplo, \
         transa, diag, m, n, alpha, a, lda, b, ldb)
KM_ALL(KM_TRIANGULAR_PRODUCTS)

}  // extern "C"

}  // namespace km::cublas
