// Local response normalization across channels, and divisive normalization within them.
#pragma once

#include "dropin/cudnn/engine/step.h"

namespace km::cudnn {

struct LrnSettings {
  int64_t size = 5;
  double lrn_alpha = 1e-4, lrn_beta = 0.75, k = 2;
  double alpha = 1, beta = 0;  // of the result
};

/// y = alpha x / (k + lrn_alpha / size * the sum of squares of `size` channels) ^ lrn_beta + beta
/// y.
cudnnStatus_t normalize_locally(cu::CUstream stream, const LrnSettings& settings, const View& x,
                                const View& y);
cudnnStatus_t normalize_locally_backward(cu::CUstream stream, const LrnSettings& settings,
                                         const View& x, const View& dy, const View& dx);

/// normalize_locally() with the sum over a window of each plane and with means subtracted that the
/// program gives (null: zeros), as cuDNN's divisive normalization does.
cudnnStatus_t normalize_by_division(cu::CUstream stream, const LrnSettings& settings, const View& x,
                                    const View& means, const View& y);

/// The tensors of normalize_by_division_backward(). `means` and `dmeans` may have no data.
struct DivisionGradient {
  View x, means, dy, dx, dmeans;
};
/// The gradients of x and, with the opposite sign, of the means.
cudnnStatus_t normalize_by_division_backward(cu::CUstream stream, const LrnSettings& settings,
                                             const DivisionGradient& gradient);

}  // namespace km::cudnn
