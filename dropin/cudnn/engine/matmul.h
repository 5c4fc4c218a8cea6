// Products of batches of matrices: the last two dimensions are the matrices'.
#pragma once

#include "dropin/cudnn/engine/step.h"

namespace km::cudnn {

/// Extents that replace those of the tensors for each batch, in device memory; null: none.
struct MatmulLimits {
  const View* m = nullptr;
  const View* n = nullptr;
  const View* k = nullptr;
  double padding = 0;  // of the elements of C beyond the limits
};

/// C = A B. Batches of A and B are repeated where their extent is 1, or a divisor of C's (groups of
/// C's matrices share one then, as the heads of grouped-query attention do).
cudnnStatus_t matmul(cu::CUstream stream, const View& a, const View& b, const View& c,
                     const MatmulLimits& limits = {});

}  // namespace km::cudnn
