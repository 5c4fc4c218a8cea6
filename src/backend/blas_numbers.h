// The numeric types of BLAS calls, and scalars in host memory.
#pragma once

#include <cstdint>
#include <cstring>

#include "backend/interface.h"

namespace km {

inline bool is_complex(km_data_type type) {
  return type == KM_DATA_TYPE_C32 || type == KM_DATA_TYPE_C64;
}

/// True if a number of the type, or each part of a complex one, has 64 bits.
inline bool is_double(km_data_type type) {
  return type == KM_DATA_TYPE_F64 || type == KM_DATA_TYPE_C64;
}

/// The size of an element; 0 for values that are not a type.
inline uint32_t data_type_size(km_data_type type) {
  constexpr uint32_t kSizes[] = {0, 4, 8, 8, 16, 2, 2};
  return type >= 0 && type <= KM_DATA_TYPE_BF16 ? kSizes[type] : 0;
}

/// The size of a number, or of each part of a complex one.
inline uint32_t real_size(km_data_type type) {
  return is_complex(type) ? data_type_size(type) / 2 : data_type_size(type);
}

/// True if the order of a vector's elements does not matter to the routine, so that only the
/// magnitude of an increment counts (BLAS itself does nothing for negative ones).
inline bool is_order_free(kmb_blas_routine routine) {
  return routine == KMB_BLAS_SCAL || routine == KMB_BLAS_NRM2 || routine == KMB_BLAS_ASUM;
}

/// True if some of the call's scalars are in device memory, where they are read when the call runs.
inline bool has_device_scalars(const kmb_blas_call& call) {
  const kmb_blas_device_scalars& scalars = call.device_scalars;
  return (scalars.alpha | scalars.beta | scalars.rotation[0] | scalars.rotation[1]) != 0;
}

/// Reads number `index` of an array of f64 or f32, which need not be aligned.
inline double real_at(const void* values, uint32_t index, bool is_double) {
  if (is_double) {
    double value;
    std::memcpy(&value, static_cast<const char*>(values) + index * sizeof value, sizeof value);
    return value;
  }
  float value;
  std::memcpy(&value, static_cast<const char*>(values) + index * sizeof value, sizeof value);
  return value;
}

}  // namespace km
