// Macros that define the variants of a function: S, D, C and Z, for f32, f64 and complex numbers.
#pragma once

#include "dropin/cusparse/frame/numbers.h"

namespace km::cusparse {

/// The CUDA type of an exported function's elements.
template <class T>
inline constexpr cudaDataType kExportType = CUDA_R_32F;
template <>
inline constexpr cudaDataType kExportType<double> = CUDA_R_64F;
template <>
inline constexpr cudaDataType kExportType<cuComplex> = CUDA_C_32F;
template <>
inline constexpr cudaDataType kExportType<cuDoubleComplex> = CUDA_C_64F;
template <>
inline constexpr cudaDataType kExportType<__half> = CUDA_R_16F;

}  // namespace km::cusparse

/// Calls DEFINE(letter, type) for all variants.
#define KM_FOR_ALL_TYPES(DEFINE) \
  DEFINE(S, float)               \
  DEFINE(D, double)              \
  DEFINE(C, cuComplex)           \
  DEFINE(Z, cuDoubleComplex)
