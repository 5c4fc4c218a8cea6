// Grids, and matrices that are distributed over devices by blocks of columns.
#pragma once

#include <vector>

#include "dropin/cusolver/dense/lapack.h"
#include "dropin/cusolver/frame/handle.h"
#include "dropin/cusolver/frame/types.h"
#include "dropin/cusolver/generated/mg_api.h"

namespace km::cusolver {

/// A cusolverMgHandle_t.
struct MgHandle : Handle {
  static constexpr HandleKind kKind = HandleKind::kCusolverMg;
  std::atomic<int> device_count{0};  // 0: no devices have been selected
};

/// A cudaLibMgGrid_t: one row of devices.
struct MgGrid {
  static constexpr HandleKind kKind = HandleKind::kMgGrid;
  std::vector<int32_t> devices;
};

/// A cudaLibMgMatrixDesc_t. Block `i` of columns lies on device i modulo their number, beside that
/// device's other blocks, with all rows.
struct MgMatrix {
  static constexpr HandleKind kKind = HandleKind::kMgMatrix;
  int64_t rows, columns, block;
  cudaDataType type;
  int devices;

  int device_of(int64_t column) const { return static_cast<int>(column / block % devices); }
  int64_t local_column(int64_t column) const {
    return column / block / devices * block + column % block;
  }
};

/// A part of a distributed matrix, which is copied to the host and back.
template <class T>
class Gathered {
 public:
  /// `first_row` and `first_column` count from 1.
  Gathered(MgHandle& handle, const MgMatrix& matrix, const std::vector<void*>& places,
           int64_t first_row, int64_t first_column, int64_t rows, int64_t columns)
      : handle_(handle),
        matrix_(matrix),
        places_(places),
        row_(first_row - 1),
        column_(first_column - 1),
        rows_(rows),
        columns_(columns),
        data_(static_cast<size_t>(rows * columns)) {}

  T* data() const { return data_; }
  int leading() const { return static_cast<int>(std::max<int64_t>(rows_, 1)); }

  cusolverStatus_t read() {
    return for_columns([&](uint64_t place, T* column) {
      return handle_.driver->cuMemcpyDtoHAsync_v2(column, place, bytes(), nullptr);
    });
  }
  cusolverStatus_t write() {
    return for_columns([&](uint64_t place, T* column) {
      return handle_.driver->cuMemcpyHtoDAsync_v2(place, column, bytes(), nullptr);
    });
  }

 private:
  size_t bytes() const { return static_cast<size_t>(rows_) * sizeof(T); }
  template <class Copy>
  cusolverStatus_t for_columns(Copy&& copy) {
    for (int64_t j = 0; j < columns_ && rows_ > 0; ++j) {
      const auto device = static_cast<size_t>(matrix_.device_of(column_ + j));
      const int64_t offset = matrix_.local_column(column_ + j) * matrix_.rows + row_;
      const auto place =
          reinterpret_cast<uint64_t>(places_[device]) + static_cast<uint64_t>(offset) * sizeof(T);
      LIB_CHECK(copy(place, data_ + j * rows_));
    }
    return status_of(handle_.driver->cuStreamSynchronize(nullptr));
  }

  MgHandle& handle_;
  const MgMatrix& matrix_;
  const std::vector<void*>& places_;
  const int64_t row_, column_, rows_, columns_;
  const Scratch<T> data_;
};

}  // namespace km::cusolver
