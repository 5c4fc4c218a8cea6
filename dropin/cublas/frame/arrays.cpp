#include "dropin/cublas/frame/arrays.h"

#include "dropin/cublas/frame/numbers.h"

namespace km::cublas {

uint64_t bytes_for(uint64_t rows, uint64_t columns, uint64_t batch_count, uint64_t element_bytes) {
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(rows, columns, &bytes) ||
      __builtin_mul_overflow(bytes, batch_count, &bytes) ||
      __builtin_mul_overflow(bytes, element_bytes, &bytes)) {
    return UINT64_MAX;
  }
  return bytes;
}

bool KernelArrays::measure(const char* name, const ArrayShape& shape, Extent* out) {
  // Products of three 64-bit numbers overflow even 128 bits, so results beyond the address space
  // are rejected at once.
  constexpr __int128 kMost = __int128{1} << 64;
  __int128 low = 0, high = 0;
  const int64_t counts[] = {shape.rows, shape.columns, shape.batch_count};
  const int64_t steps[] = {shape.row_step, shape.column_step, shape.batch_step};
  for (int i = 0; i < 3; ++i) {
    const __int128 distance = __int128{counts[i] - 1} * steps[i];
    (distance < 0 ? low : high) += distance;
  }
  if (high - low >= kMost - 1) {
    status_ = invalid("%s would have more than 2^64 elements", name);
    return false;
  }
  *out = {static_cast<uint64_t>(-low), static_cast<uint64_t>(high - low) + 1};
  return true;
}

void KernelArrays::check(const char* name, uint64_t address, uint64_t count,
                         uint64_t element_bytes) {
  const library::BlasArray array{name, address, count, element_bytes, element_bytes,
                                 1,    0,       true,  false};
  status_ = status_of(handle_.driver->table->check_arrays(handle_.stream, &array, 1));
}

KernelArrays& KernelArrays::add(const char* name, uint64_t address, const ArrayShape& shape,
                                uint64_t element_bytes) {
  Extent extent;
  if (status_ != CUBLAS_STATUS_SUCCESS || address == 0 || shape.is_empty()) return *this;
  if (!measure(name, shape, &extent)) return *this;
  check(name, address - extent.below * element_bytes, extent.count, element_bytes);
  return *this;
}

KernelArrays& KernelArrays::add_bits(const char* name, const StridedMatrix& matrix, int64_t rows,
                                     int64_t columns, int64_t batch_count) {
  constexpr uint64_t kBits = 32;
  const ArrayShape shape{rows,        columns,          matrix.row_step, matrix.column_step,
                         batch_count, matrix.batch_step};
  Extent extent;
  if (status_ != CUBLAS_STATUS_SUCCESS || matrix.address == 0 || shape.is_empty()) return *this;
  if (!measure(name, shape, &extent)) return *this;
  if (extent.below != 0) {
    status_ = invalid("%s has a stride below 0", name);
    return *this;
  }
  check(name, matrix.address, (extent.count - 1) / kBits + 1, sizeof(uint32_t));
  return *this;
}

KernelArrays& KernelArrays::add(const char* name, const StridedMatrix& matrix, int64_t rows,
                                int64_t columns, int64_t batch_count) {
  if (rows <= 0 || columns <= 0) return *this;
  if (matrix.is_pointers != 0) {
    return add(name, matrix.address, ArrayShape{batch_count}, sizeof(uint64_t));
  }
  const ArrayShape shape{rows,        columns,          matrix.row_step, matrix.column_step,
                         batch_count, matrix.batch_step};
  return add(name, matrix.address, shape, bytes_of(matrix.type));
}

KernelArrays& KernelArrays::add(const char* name, const DeviceScalar& scalar, int64_t rows,
                                int64_t batch_count) {
  const ArrayShape shape{rows, 1, scalar.row_step, 0, batch_count, scalar.batch_step};
  return add(name, scalar.address, shape, bytes_of(scalar.type));
}

}  // namespace km::cublas
