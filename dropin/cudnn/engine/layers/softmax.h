// Softmax and its gradient, over groups of elements.
#pragma once

#include "dropin/cudnn/engine/step.h"

namespace km::cudnn {

/// Outputs beside y, of the extents of `groups`; without data: not asked for.
struct SoftmaxExtras {
  View stats;    // the logarithm of the sum of exponentials
  View maximum;  // of the group
  View sum;      // of exponentials, relative to the maximum
  View sink;     // an input: a further element of each group, which has no output
};

/// y = alpha softmax(x) + beta y. `groups` has an extent of 1 in the dimensions over which sums go.
/// CUDNN_SOFTMAX_FAST does not subtract the maximum in NVIDIA's library; here it does.
cudnnStatus_t softmax(cu::CUstream stream, bool is_log, double alpha, const View& x, double beta,
                      const View& y, const Shape& groups, const SoftmaxExtras& extras = {});
cudnnStatus_t softmax_backward(cu::CUstream stream, bool is_log, double alpha, const View& y,
                               const View& dy, double beta, const View& dx, const Shape& groups);

}  // namespace km::cudnn
