#include "dropin/cudnn/engine/convolution.h"

#include "dropin/cudnn/engine/convolution_loops.h"
#include "dropin/cudnn/engine/onednn/onednn_convolution.h"

namespace km::cudnn {
namespace {

cudnnStatus_t check(const ConvolutionSettings& s, const View& x, const View& w, const View& y) {
  const int rank = s.spatial + 2;
  if (x.rank != rank || w.rank != rank || y.rank != rank) {
    return invalid("tensors of rank %d, %d and %d for %d spatial dimensions", x.rank, w.rank,
                   y.rank, s.spatial);
  }
  if (w.dims[1] <= 0 || x.dims[1] % w.dims[1] != 0 || w.dims[0] % (x.dims[1] / w.dims[1]) != 0) {
    return invalid("a filter for %lld channels and an input of %lld",
                   static_cast<long long>(w.dims[1]), static_cast<long long>(x.dims[1]));
  }
  if (y.dims[0] != x.dims[0] || y.dims[1] != w.dims[0]) {
    return invalid("the output has %lld x %lld channels", static_cast<long long>(y.dims[0]),
                   static_cast<long long>(y.dims[1]));
  }
  for (int i = 0; i < s.spatial; ++i) {
    if (s.steps[i] < 1 || s.dilations[i] < 1) return invalid("a step or dilation below 1");
    const int64_t extent = convolved_extent(x.dims[i + 2], w.dims[i + 2], s.pads[i], s.post_pads[i],
                                            s.steps[i], s.dilations[i]);
    // Outputs of transposed convolutions may be smaller than the input allows.
    if (y.dims[i + 2] > extent) {
      return invalid("spatial dimension %d of the output has %lld elements, not %lld", i,
                     static_cast<long long>(y.dims[i + 2]), static_cast<long long>(extent));
    }
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

cudnnStatus_t convolve(cu::CUstream stream, Direction direction,
                       const ConvolutionSettings& settings, const View& x, const View& w,
                       const View& y, const Epilogue& epilogue) {
  for (const View* each : {&x, &w, &y}) {
    if (type_bits(each->type) < 8) return unsupported("data type %d", each->type);
  }
  LIB_TRY(check(settings, x, w, y));
  bool is_done = false;
  LIB_TRY(convolve_by_onednn(stream, direction, settings, x, w, y, epilogue, &is_done));
  if (is_done) return CUDNN_STATUS_SUCCESS;
  return convolve_by_loops(stream, direction, settings, x, w, y, epilogue);
}

}  // namespace km::cudnn
