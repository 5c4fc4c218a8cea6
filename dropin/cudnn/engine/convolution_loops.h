// Convolutions as products of tiles that are gathered from the tensors, for all types and strides.
#pragma once

#include "dropin/cudnn/engine/convolution.h"

namespace km::cudnn {

/// convolve() for tensors that have been checked.
cudnnStatus_t convolve_by_loops(cu::CUstream stream, Direction direction,
                                const ConvolutionSettings& settings, const View& x, const View& w,
                                const View& y, const Epilogue& epilogue);

}  // namespace km::cudnn
