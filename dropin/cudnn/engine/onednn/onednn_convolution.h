// Convolutions by oneDNN.
#pragma once

#include "dropin/cudnn/engine/convolution.h"

namespace km::cudnn {

/// convolve() for tensors that have been checked. *is_done stays false if oneDNN is not there, or
/// has no such types, strides or epilogue.
cudnnStatus_t convolve_by_onednn(cu::CUstream stream, Direction direction,
                                 const ConvolutionSettings& settings, const View& x, const View& w,
                                 const View& y, const Epilogue& epilogue, bool* is_done);

}  // namespace km::cudnn
