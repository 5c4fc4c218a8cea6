// Device arrays that the library's kernels access. They are checked before a launch, as the driver
// checks the arrays of its own routines.
#pragma once

#include "dropin/cublas/frame/handle.h"
#include "dropin/cublas/kernels/parameters.h"

namespace km::cublas {

/// The size of this many elements; UINT64_MAX, which no memory has, if it overflows 64 bits.
uint64_t bytes_for(uint64_t rows, uint64_t columns, uint64_t batch_count, uint64_t element_bytes);

/// A matrix or a batch of matrices. Steps may be negative.
struct ArrayShape {
  int64_t rows, columns = 1, row_step = 1, column_step = 0;
  int64_t batch_count = 1, batch_step = 0;
  bool is_empty() const { return rows <= 0 || columns <= 0 || batch_count <= 0; }
};

/// The arrays of one launch. Each must be inside one allocation; the first that is not causes the
/// failure.
class KernelArrays {
 public:
  explicit KernelArrays(const Handle& handle) : handle_(handle) {}

  KernelArrays& add(const char* name, uint64_t address, const ArrayShape& shape,
                    uint64_t element_bytes);
  /// Adds contiguous elements.
  KernelArrays& add(const char* name, const void* data, int64_t count, uint64_t element_bytes) {
    return add(name, reinterpret_cast<uint64_t>(data), ArrayShape{count}, element_bytes);
  }
  /// Adds a batch of matrices; if it is given by an array of pointers, adds that array.
  KernelArrays& add(const char* name, const StridedMatrix& matrix, int64_t rows, int64_t columns,
                    int64_t batch_count);
  /// Adds a matrix of bits in 32-bit words.
  KernelArrays& add_bits(const char* name, const StridedMatrix& matrix, int64_t rows,
                         int64_t columns, int64_t batch_count);
  /// Adds a scalar in device memory, or one for each of `rows` and each matrix; a scalar passed by
  /// value adds nothing.
  KernelArrays& add(const char* name, const DeviceScalar& scalar, int64_t rows = 1,
                    int64_t batch_count = 1);
  cublasStatus_t status() const { return status_; }

 private:
  struct Extent {
    uint64_t below, count;  // elements before the first, and in total
  };
  /// Sets the status and returns false if the size overflows.
  bool measure(const char* name, const ArrayShape& shape, Extent* out);
  void check(const char* name, uint64_t address, uint64_t count, uint64_t element_bytes);

  const Handle& handle_;
  cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
};

}  // namespace km::cublas
