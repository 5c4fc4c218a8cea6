// Families of exported functions of the sparse part, as frame/exports.h.
#pragma once

#include "dropin/cusolver/frame/exports.h"
#include "dropin/cusolver/sparse/places.h"

#define KM_EXPORT_SP(symbol, PARAMETERS, T, ...)                                               \
  extern "C" cusolverStatus_t symbol(cusolverSpHandle_t handle, PARAMETERS(KM_SIGNATURE, T)) { \
    return call(#symbol, handle, [&](SpHandle& h) -> cusolverStatus_t {                        \
      return __VA_ARGS__(h, PARAMETERS(KM_PASS, T));                                           \
    });                                                                                        \
  }
/// Defines the functions for the four types. `routine` is a template over T, and over whether the
/// arrays lie in host memory if `arguments` say so.
#define KM_EXPORT_SP_ALL(name, PARAMETERS, routine, ...)                                 \
  KM_EXPORT_SP(cusolverSpS##name, PARAMETERS, float, routine<float __VA_ARGS__>)         \
  KM_EXPORT_SP(cusolverSpD##name, PARAMETERS, double, routine<double __VA_ARGS__>)       \
  KM_EXPORT_SP(cusolverSpC##name, PARAMETERS, cuComplex, routine<cuComplex __VA_ARGS__>) \
  KM_EXPORT_SP(cusolverSpZ##name, PARAMETERS, cuDoubleComplex, routine<cuDoubleComplex __VA_ARGS__>)

/// The parameters of a square matrix, and of any matrix.
#define KM_P_SQUARE(P, T)                                                           \
  P(int, m), P(int, nnz), P(const cusparseMatDescr_t, descrA), P(const T*, csrVal), \
      P(const int*, csrRowPtr), P(const int*, csrColInd)
#define KM_P_RECTANGLE(P, T)                                                                   \
  P(int, m), P(int, n), P(int, nnz), P(const cusparseMatDescr_t, descrA), P(const T*, csrVal), \
      P(const int*, csrRowPtr), P(const int*, csrColInd)
