// Families of exported functions: one for each element type, with 32-bit and 64-bit sizes.
//
// The parameters after the handle are a list, KM_P_NAME(P, Int, T), of P(type, name). The routine
// is a template over T and Int with these parameters, and KM_EXPORT gives its instances their
// names:
//
//   template <class T, class Int>
//   cublasStatus_t scal(Handle& h, KM_P_SCAL(KM_DECLARE, Int, T)) { ... }
//   KM_EXPORT_ALL(scal, _v2, KM_P_SCAL, scal)
#pragma once

#include "dropin/cublas/frame/request.h"

#define KM_SIGNATURE(type, name) type name
#define KM_DECLARE(type, name) [[maybe_unused]] type name
#define KM_PASS(type, name) name

/// Defines `symbol`, which calls the routine in the variadic arguments.
#define KM_EXPORT_SIZE(symbol, PARAMETERS, Int, T, ...)                                       \
  extern "C" cublasStatus_t symbol(cublasHandle_t handle, PARAMETERS(KM_SIGNATURE, Int, T)) { \
    return call(#symbol, handle,                                                              \
                [&](Handle& h) { return __VA_ARGS__(h, PARAMETERS(KM_PASS, Int, T)); });      \
  }
#define KM_EXPORT(symbol, PARAMETERS, T, ...)             \
  KM_EXPORT_SIZE(symbol, PARAMETERS, int, T, __VA_ARGS__) \
  KM_EXPORT_SIZE(symbol##_64, PARAMETERS, int64_t, T, __VA_ARGS__)

/// Defines cublasS..., cublasD..., cublasC... and cublasZ..., each with `suffix`.
#define KM_EXPORT_REAL(name, suffix, PARAMETERS, ...)              \
  KM_EXPORT(cublasS##name##suffix, PARAMETERS, float, __VA_ARGS__) \
  KM_EXPORT(cublasD##name##suffix, PARAMETERS, double, __VA_ARGS__)
#define KM_EXPORT_COMPLEX(name, suffix, PARAMETERS, ...)               \
  KM_EXPORT(cublasC##name##suffix, PARAMETERS, cuComplex, __VA_ARGS__) \
  KM_EXPORT(cublasZ##name##suffix, PARAMETERS, cuDoubleComplex, __VA_ARGS__)
#define KM_EXPORT_ALL(name, suffix, PARAMETERS, ...)    \
  KM_EXPORT_REAL(name, suffix, PARAMETERS, __VA_ARGS__) \
  KM_EXPORT_COMPLEX(name, suffix, PARAMETERS, __VA_ARGS__)
/// Defines the four variants with 32-bit sizes only.
#define KM_EXPORT_ALL_32(name, PARAMETERS, ...)                          \
  KM_EXPORT_SIZE(cublasS##name, PARAMETERS, int, float, __VA_ARGS__)     \
  KM_EXPORT_SIZE(cublasD##name, PARAMETERS, int, double, __VA_ARGS__)    \
  KM_EXPORT_SIZE(cublasC##name, PARAMETERS, int, cuComplex, __VA_ARGS__) \
  KM_EXPORT_SIZE(cublasZ##name, PARAMETERS, int, cuDoubleComplex, __VA_ARGS__)
