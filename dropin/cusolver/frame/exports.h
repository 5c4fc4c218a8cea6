// Families of exported functions, one for each element type.
//
// The parameters after the handle are a list, KM_P_NAME(P, T), of P(type, name). The routine is a
// template over T with the handle, the function's name and these parameters.
#pragma once

#include "dropin/cusolver/frame/job.h"

namespace km::cusolver {

/// The order of the work of a dense routine on n rows.
inline double cube(int64_t n) {
  const auto rows = static_cast<double>(n);
  return rows * rows * rows;
}

}  // namespace km::cusolver

#define KM_SIGNATURE(type, name) [[maybe_unused]] type name
#define KM_PASS(type, name) name

/// Defines `symbol`, which calls the routine in the variadic arguments.
#define KM_EXPORT(symbol, PARAMETERS, T, ...)                                                  \
  extern "C" cusolverStatus_t symbol(cusolverDnHandle_t handle, PARAMETERS(KM_SIGNATURE, T)) { \
    return call(#symbol, handle, [&](DnHandle& h) -> cusolverStatus_t {                        \
      return __VA_ARGS__(h, #symbol, PARAMETERS(KM_PASS, T));                                  \
    });                                                                                        \
  }
/// Defines cusolverDnS..., cusolverDnD..., cusolverDnC... and cusolverDnZ...
#define KM_EXPORT_NAMES(real, complex, PARAMETERS, routine)                  \
  KM_EXPORT(cusolverDnS##real, PARAMETERS, float, routine<float>)            \
  KM_EXPORT(cusolverDnD##real, PARAMETERS, double, routine<double>)          \
  KM_EXPORT(cusolverDnC##complex, PARAMETERS, cuComplex, routine<cuComplex>) \
  KM_EXPORT(cusolverDnZ##complex, PARAMETERS, cuDoubleComplex, routine<cuDoubleComplex>)
#define KM_EXPORT_ALL(name, PARAMETERS, routine) KM_EXPORT_NAMES(name, name, PARAMETERS, routine)
