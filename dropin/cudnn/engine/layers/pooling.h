// Pooling and resampling over windows.
#pragma once

#include "dropin/cudnn/engine/step.h"

namespace km::cudnn {

enum class PoolingKind { kMax, kAverageWithPadding, kAverage, kNearest, kBilinear };

/// How a window moves over an input. Steps and pads are fractions for kNearest and kBilinear.
struct PoolingSettings {
  PoolingKind kind = PoolingKind::kMax;
  int spatial = 0;
  Extents window{}, pads{}, post_pads{}, steps{};
  std::array<double, kMostDims> exact_steps{}, exact_pads{};
  double padding = 0;  // what kMax finds outside of the input, if it is not less than everything
  bool pads_are_values = false;
  double alpha = 1, beta = 0;
};

/// y = alpha pool(x) + beta y. `index`, if it has data, gets the position in the window of each
/// maximum.
cudnnStatus_t pool(cu::CUstream stream, const PoolingSettings& settings, const View& x,
                   const View& y, const View& index = {});
/// dx = alpha (the gradient) + beta dx. Maxima are those of x, the first ones of several, or those
/// that `index` says.
cudnnStatus_t pool_backward(cu::CUstream stream, const PoolingSettings& settings, const View& x,
                            const View& dy, const View& dx, const View& index = {});

}  // namespace km::cudnn
