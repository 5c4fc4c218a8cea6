// Convolutions of 1 to 6 spatial dimensions, with groups.
#pragma once

#include "dropin/cudnn/engine/pointwise.h"

namespace km::cudnn {

/// How a filter moves over an input.
struct ConvolutionSettings {
  int spatial = 0;
  Extents pads{};       // in front
  Extents post_pads{};  // behind; they only decide the extents of the output
  Extents steps{};
  Extents dilations{};
  bool is_flipped = false;    // CUDNN_CONVOLUTION: the filter is mirrored
  bool is_reordered = false;  // filter and bias lie as cudnnReorderFilterAndBias leaves them
};

/// The end of a forward convolution, before its sums are rounded: y = act(alpha sum +
/// alpha_z z + beta y + bias).
struct Epilogue {
  double alpha = 1, beta = 0, alpha_z = 0;
  const View* z = nullptr;
  const View* bias = nullptr;
  const PointwiseSettings* activation = nullptr;
};

enum class Direction { kForward, kBackwardData, kBackwardFilter };

/// Tensors have the dimensions N, C, spatial ones; filters K, C / groups, spatial ones. The number
/// of groups follows from the channels. `result` is y, dx or dw.
cudnnStatus_t convolve(cu::CUstream stream, Direction direction,
                       const ConvolutionSettings& settings, const View& x, const View& w,
                       const View& y, const Epilogue& epilogue);

/// The extent of an output's dimension; 0 or less if the filter does not fit.
inline int64_t convolved_extent(int64_t input, int64_t filter, int64_t pad, int64_t post_pad,
                                int64_t step, int64_t dilation) {
  const int64_t room = input + pad + post_pad - ((filter - 1) * dilation + 1);
  return room < 0 ? 0 : 1 + room / step;
}

}  // namespace km::cudnn
