// Operations of graphs: convolutions, products of matrices, pointwise operations, reductions.
#include "dropin/cudnn/engine/convolution.h"
#include "dropin/cudnn/engine/matmul.h"
#include "dropin/cudnn/engine/reduction.h"
#include "dropin/cudnn/graph/operation.h"

namespace km::cudnn {
namespace {

/// The attributes of one direction of a convolution.
struct ConvolutionNames {
  Direction direction;
  cudnnBackendAttributeName_t x, w, y, alpha, beta, settings;
};
ConvolutionNames names_of(cudnnBackendDescriptorType_t type) {
  if (type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR) {
    return {Direction::kForward,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC};
  }
  if (type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR) {
    return {Direction::kBackwardData,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC};
  }
  return {Direction::kBackwardFilter,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC};
}

void fill(const std::vector<int64_t>& values, int64_t otherwise, int count, Extents* out) {
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    (*out)[at] = at < values.size() ? values[at] : otherwise;
  }
}
ConvolutionSettings settings_of(const Descriptor& convolution, int rank) {
  ConvolutionSettings found;
  found.spatial =
      static_cast<int>(convolution.integer(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, rank - 2));
  found.spatial = std::clamp(found.spatial, 1, kMostDims - 2);
  const auto read = [&](cudnnBackendAttributeName_t name, int64_t otherwise, Extents* out) {
    fill(convolution.integers(name), otherwise, found.spatial, out);
  };
  read(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 0, &found.pads);
  read(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 0, &found.post_pads);
  read(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 1, &found.steps);
  read(CUDNN_ATTR_CONVOLUTION_DILATIONS, 1, &found.dilations);
  found.is_flipped = convolution.integer(CUDNN_ATTR_CONVOLUTION_CONV_MODE,
                                         CUDNN_CROSS_CORRELATION) == CUDNN_CONVOLUTION;
  return found;
}

PointwiseSettings pointwise_settings(const Descriptor& operation) {
  const Descriptor& pw = *operation.descriptor(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  PointwiseSettings found;
  found.mode = static_cast<cudnnPointwiseMode_t>(pw.integer(CUDNN_ATTR_POINTWISE_MODE));
  found.lower_clip = pw.number(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0);
  found.has_upper_clip = pw.has(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP);
  found.upper_clip = pw.number(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, 0);
  found.lower_slope = pw.number(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0);
  found.elu_alpha = pw.number(CUDNN_ATTR_POINTWISE_ELU_ALPHA, 1);
  found.softplus_beta = pw.number(CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, 1);
  found.swish_beta = pw.number(CUDNN_ATTR_POINTWISE_SWISH_BETA, 1);
  found.axis = static_cast<int>(pw.integer(CUDNN_ATTR_POINTWISE_AXIS, -1));
  found.alpha1 = operation.number(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1);
  found.alpha2 = operation.number(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1);
  return found;
}

/// dx = mode(dy, x or y).
cudnnStatus_t run_pointwise_backward(const Execution& execution, const Descriptor& operation,
                                     PointwiseSettings settings) {
  View dx, dy, x, y;
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, &dx));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, &dy));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, &x));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, &y));
  const bool takes_output =
      settings.mode == CUDNN_POINTWISE_TANH_BWD || settings.mode == CUDNN_POINTWISE_SIGMOID_BWD;
  if (takes_output && y.data == nullptr) {
    settings.mode =
        settings.mode == CUDNN_POINTWISE_TANH_BWD ? kTanhBackwardOfInput : kSigmoidBackwardOfInput;
  }
  const View& other = x.data == nullptr || (takes_output && y.data != nullptr) ? y : x;
  return pointwise(execution.stream, settings, dy, &other, nullptr, dx);
}

/// Gives groups of elements that a reduction joins, as the heads that share a key, a dimension of
/// their own.
cudnnStatus_t split_groups(View* x, View* y) {
  for (int i = 0; i < x->rank && x->rank == y->rank; ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t from = x->dims[at], to = y->dims[at];
    if (to == 1 || to == from || to == 0 || from % to != 0) continue;
    if (x->rank == kMostDims) return unsupported("a reduction of so many dimensions");
    for (View* const each : {x, y}) {
      for (auto d = static_cast<size_t>(each->rank); d > at + 1; --d) {
        each->dims[d] = each->dims[d - 1];
        each->strides[d] = each->strides[d - 1];
      }
      ++each->rank;
      each->dims[at] = to;
    }
    x->dims[at + 1] = from / to;
    x->strides[at + 1] = x->strides[at];
    x->strides[at] *= from / to;
    y->dims[at + 1] = 1;
    y->strides[at + 1] = 0;
  }
  return CUDNN_STATUS_SUCCESS;
}

bool is_backward(cudnnPointwiseMode_t mode) {
  return mode >= CUDNN_POINTWISE_RELU_BWD && mode < CUDNN_POINTWISE_CMP_EQ;
}

}  // namespace

cudnnStatus_t run_convolution(const Execution& execution, const Descriptor& operation) {
  const ConvolutionNames names = names_of(operation.type);
  View x, w, y;
  LIB_TRY(execution.view(operation, names.x, &x));
  LIB_TRY(execution.view(operation, names.w, &w));
  LIB_TRY(execution.view(operation, names.y, &y));
  Epilogue epilogue;
  epilogue.alpha = operation.number(names.alpha, 1);
  epilogue.beta = operation.number(names.beta, 0);
  const ConvolutionSettings settings = settings_of(*operation.descriptor(names.settings), x.rank);
  return convolve(execution.stream, names.direction, settings, x, w, y, epilogue);
}

const char* pointwise_problem(const Descriptor& operation) {
  const Descriptor* const pw = operation.descriptor(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  const int64_t mode = pw->integer(CUDNN_ATTR_POINTWISE_MODE);
  const int inputs = mode < 0 ? 0 : pointwise_inputs(static_cast<cudnnPointwiseMode_t>(mode));
  if (inputs == 0) return "no such pointwise mode";
  if (is_backward(static_cast<cudnnPointwiseMode_t>(mode))) {
    const bool has_all = operation.has(CUDNN_ATTR_OPERATION_POINTWISE_DXDESC) &&
                         operation.has(CUDNN_ATTR_OPERATION_POINTWISE_DYDESC) &&
                         (operation.has(CUDNN_ATTR_OPERATION_POINTWISE_XDESC) ||
                          operation.has(CUDNN_ATTR_OPERATION_POINTWISE_YDESC));
    return has_all ? nullptr : "a backward operation without all tensors";
  }
  if (!operation.has(CUDNN_ATTR_OPERATION_POINTWISE_XDESC) ||
      !operation.has(CUDNN_ATTR_OPERATION_POINTWISE_YDESC)) {
    return "a pointwise operation without x or y";
  }
  if (inputs > 1 && !operation.has(CUDNN_ATTR_OPERATION_POINTWISE_BDESC)) return "b is missing";
  if (inputs > 2 && !operation.has(CUDNN_ATTR_OPERATION_POINTWISE_TDESC)) return "t is missing";
  return nullptr;
}

cudnnStatus_t run_pointwise(const Execution& execution, const Descriptor& operation) {
  const PointwiseSettings settings = pointwise_settings(operation);
  if (is_backward(settings.mode)) return run_pointwise_backward(execution, operation, settings);
  View x, b, t, y;
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, &x));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, &b));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, &t));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, &y));
  const int inputs = pointwise_inputs(settings.mode);
  return pointwise(execution.stream, settings, x, inputs > 1 ? &b : nullptr,
                   inputs > 2 ? &t : nullptr, y);
}

cudnnStatus_t run_matmul(const Execution& execution, const Descriptor& operation) {
  View a, b, c, m, n, k;
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_MATMUL_ADESC, &a));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_MATMUL_BDESC, &b));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_MATMUL_CDESC, &c));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC, &m));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC, &n));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC, &k));
  MatmulLimits limits;
  if (m.data != nullptr) limits.m = &m;
  if (n.data != nullptr) limits.n = &n;
  if (k.data != nullptr) limits.k = &k;
  if (const Descriptor* const settings = operation.descriptor(CUDNN_ATTR_OPERATION_MATMUL_DESC)) {
    limits.padding = settings->number(CUDNN_ATTR_MATMUL_PADDING_VALUE, 0);
  }
  return matmul(execution.stream, a, b, c, limits);
}

const char* reduction_problem(const Descriptor& operation) {
  const Descriptor* const settings = operation.descriptor(CUDNN_ATTR_OPERATION_REDUCTION_DESC);
  if (settings == nullptr) return "reductions by subgraphs";
  const int64_t kind = settings->integer(CUDNN_ATTR_REDUCTION_OPERATOR);
  if (kind < 0 || kind > CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS) return "no such reduction";
  if (operation.has(CUDNN_ATTR_OPERATION_REDUCTION_GROUP_OFFSET_DESC))
    return "reductions of groups";
  return nullptr;
}

cudnnStatus_t run_reduction(const Execution& execution, const Descriptor& operation) {
  View x, y;
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, &x));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, &y));
  LIB_TRY(split_groups(&x, &y));
  const auto kind =
      static_cast<cudnnReduceTensorOp_t>(operation.descriptor(CUDNN_ATTR_OPERATION_REDUCTION_DESC)
                                             ->integer(CUDNN_ATTR_REDUCTION_OPERATOR));
  return reduce(execution.stream, kind, 1, x, 0, y);
}

cudnnStatus_t run_statistics(const Execution& execution, const Descriptor& operation) {
  View x, sum, squares;
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_GENSTATS_XDESC, &x));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, &sum));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, &squares));
  LIB_TRY(reduce(execution.stream, CUDNN_REDUCE_TENSOR_ADD, 1, x, 0, sum));
  return reduce(execution.stream, kSumOfSquares, 1, x, 0, squares);
}

}  // namespace km::cudnn
