#include "dropin/cudnn/engine/onednn/onednn_convolution.h"

namespace km::cudnn {

cudnnStatus_t convolve_by_onednn(cu::CUstream, Direction, const ConvolutionSettings&, const View&,
                                 const View&, const View&, const Epilogue&, bool* is_done) {
  *is_done = false;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace km::cudnn
