// Normalizations: batch, layer, instance and root mean square, which differ in the elements that
// share statistics.
#pragma once

#include "dropin/cudnn/engine/pointwise.h"

namespace km::cudnn {

/// A number that is known when the call is made, or lies in device memory.
struct Scalar {
  double value = 0;
  View view;  // without data: `value`
  double get() const { return view.data == nullptr ? value : read_one(view, 0); }
};

/// y = alpha act((x - mean) * inverse deviation * scale + bias + z) + beta y. Tensors without data
/// are absent. `stats` has the extents of the statistics.
struct NormForward {
  View x, y, scale, bias, z;
  Shape stats;
  bool is_rms = false;        // the mean is not subtracted
  bool is_inference = false;  // mean and deviation are given, unless they are absent
  bool has_variance = false;  // `inverse` is the variance, in inference
  View mean, inverse;
  View old_mean, old_variance, new_mean, new_variance;  // running statistics
  Scalar epsilon, factor;
  double alpha = 1, beta = 0;
  bool has_activation = false;
  PointwiseSettings activation;
};
cudnnStatus_t normalize(cu::CUstream stream, NormForward norm);

/// The gradients of normalize(). dy is that of the activation's output, if there is one.
struct NormBackward {
  View x, y, dy, dx, dz, scale, bias;
  Shape stats;
  bool is_rms = false;
  View mean, inverse;  // absent: computed from x
  View dscale, dbias;
  Scalar epsilon;
  double alpha_data = 1, beta_data = 0, alpha_parameters = 1, beta_parameters = 0;
  bool has_activation = false;
  PointwiseSettings activation;
};
cudnnStatus_t normalize_backward(cu::CUstream stream, NormBackward norm);

}  // namespace km::cudnn
