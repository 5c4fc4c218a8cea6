// Systems with three or five diagonals: gtsv2, gtsv2StridedBatch, gtsvInterleavedBatch and
// gpsvInterleavedBatch. All are solved with partial pivoting.
#pragma once

#include "dropin/cusparse/frame/arrays.h"

namespace km::cusparse {

/// Diagonals and right-hand sides of some systems. Element i of system s is at i * step +
/// s * stride.
struct BandSystems {
  const void* diagonals[5];  // from the lowest to the highest; three diagonals: the first three
  bool is_five = false;
  bool pivots = true;
  int64_t size = 0, count = 0;
  int64_t step = 1, stride = 0;      // of the diagonals
  int64_t x_step = 1, x_stride = 0;  // of the right-hand sides
  void* x = nullptr;
  int64_t extent = 0, x_extent = 0;  // elements of each array
  cudaDataType type = CUDA_R_32F;
};

/// Queues the solution of all systems, which takes the place of the right-hand sides.
cusparseStatus_t solve_band(const Handle& handle, const char* name, const BandSystems& systems);

}  // namespace km::cusparse
