// Macros for families of exported functions: one for each type of numbers, with sizes of 32 and of
// 64 bits. PARAMETERS(Int, T) names the parameters; the body sees them, and T.
#pragma once

#include "dropin/cublas/frame/request.h"

#define KM_CUBLAS_ONE(symbol, PARAMETERS, Number, ...)                                 \
  extern "C" cublasStatus_t symbol(PARAMETERS(int, Number)) {                          \
    using T [[maybe_unused]] = Number;                                                 \
    return call(#symbol, handle, [&](Handle & h) -> cublasStatus_t __VA_ARGS__);       \
  }                                                                                    \
  extern "C" cublasStatus_t symbol##_64(PARAMETERS(int64_t, Number)) {                 \
    using T [[maybe_unused]] = Number;                                                 \
    return call(#symbol "_64", handle, [&](Handle & h) -> cublasStatus_t __VA_ARGS__); \
  }

/// cublasS..., cublasD..., cublasC... and cublasZ..., each with `suffix`.
#define KM_CUBLAS_REAL(name, suffix, PARAMETERS, ...)                  \
  KM_CUBLAS_ONE(cublasS##name##suffix, PARAMETERS, float, __VA_ARGS__) \
  KM_CUBLAS_ONE(cublasD##name##suffix, PARAMETERS, double, __VA_ARGS__)
#define KM_CUBLAS_COMPLEX(name, suffix, PARAMETERS, ...)                   \
  KM_CUBLAS_ONE(cublasC##name##suffix, PARAMETERS, cuComplex, __VA_ARGS__) \
  KM_CUBLAS_ONE(cublasZ##name##suffix, PARAMETERS, cuDoubleComplex, __VA_ARGS__)
#define KM_CUBLAS_ALL(name, suffix, PARAMETERS, ...)    \
  KM_CUBLAS_REAL(name, suffix, PARAMETERS, __VA_ARGS__) \
  KM_CUBLAS_COMPLEX(name, suffix, PARAMETERS, __VA_ARGS__)
