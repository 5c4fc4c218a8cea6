// Operations on elements: what cudnnPointwiseMode_t names, and sums of two scaled tensors.
#pragma once

#include "dropin/cudnn/engine/step.h"

namespace km::cudnn {

/// 1 - x, a mode of the engine's own.
inline constexpr auto kComplement = static_cast<cudnnPointwiseMode_t>(-1);
/// TANH_BWD and SIGMOID_BWD of what the forward operation read.
inline constexpr auto kTanhBackwardOfInput = static_cast<cudnnPointwiseMode_t>(-2);
inline constexpr auto kSigmoidBackwardOfInput = static_cast<cudnnPointwiseMode_t>(-3);

/// A pointwise operation and its parameters.
struct PointwiseSettings {
  cudnnPointwiseMode_t mode = CUDNN_POINTWISE_IDENTITY;
  double lower_clip = 0, upper_clip = 0, lower_slope = 0;
  bool has_upper_clip = false;
  double elu_alpha = 1, softplus_beta = 1, swish_beta = 1;
  int axis = 0;
  double alpha1 = 1, alpha2 = 1;  // of the inputs
  /// y = alpha_result * result + beta * y; a beta of 0: y is not read.
  double alpha_result = 1, beta = 0;
};

/// The number of inputs of a mode: 1, 2 or 3; 0 if there is no such mode.
int pointwise_inputs(cudnnPointwiseMode_t mode) noexcept;

/// y = mode(alpha1 x, alpha2 b, t). Inputs are repeated along dimensions in which their extent
/// is 1. For backward modes x is dy and b the input, or the output, of the forward operation.
cudnnStatus_t pointwise(cu::CUstream stream, const PointwiseSettings& settings, const View& x,
                        const View* b, const View* t, const View& y);

/// y = alpha x + beta y, with x repeated along dimensions in which its extent is 1.
cudnnStatus_t copy_scaled(cu::CUstream stream, double alpha, const View& x, double beta,
                          const View& y);

/// Applies a mode to a row; `b` and `t` may be null if the mode has no such input.
template <class T>
void apply_pointwise(const PointwiseSettings& settings, int64_t count, const T* x, const T* b,
                     const T* t, T* y);

}  // namespace km::cudnn
