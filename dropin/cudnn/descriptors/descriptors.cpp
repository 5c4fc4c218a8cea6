#include "dropin/cudnn/descriptors/descriptors.h"

#include "dropin/cudnn/engine/layout/vectors.h"

namespace km::cudnn {
namespace {

cudnnStatus_t check_set(const Shape& shape, const void* data, Vectors vectors) {
  if (shape.rank == 0) return invalid("a descriptor has not been set");
  if (shape.vector != 1 && vectors == Vectors::kRefused) {
    return unsupported(
        "vectors of %lld channels (CUDNN_TENSOR_NCHW_VECT_C) here: transform the "
        "tensor with cudnnTransformTensor first",
        static_cast<long long>(shape.vector));
  }
  if (data == nullptr) return invalid("a tensor's address is null");
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

cudnnStatus_t view_of(cudnnTensorDescriptor_t descriptor, const void* data, View* out,
                      Vectors vectors) {
  TensorValue value;
  LIB_TRY(Tensors::read(descriptor, &value));
  LIB_TRY(check_set(value.shape, data, vectors));
  *out = View(value.shape, data);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t view_of(cudnnFilterDescriptor_t descriptor, const void* data, View* out,
                      Vectors vectors) {
  FilterValue value;
  LIB_TRY(Filters::read(descriptor, &value));
  LIB_TRY(check_set(value.shape, data, vectors));
  *out = View(value.shape, data);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t use_vectors(cudnnDataType_t type, Shape* shape) {
  const int64_t vector = vector_of(type);
  if (vector == 1) return CUDNN_STATUS_SUCCESS;
  if (shape->rank < 3 || shape->rank > kMostDims - 2) {
    return unsupported("vectors of channels in a tensor of %d dimensions", shape->rank);
  }
  if (shape->dims[1] % vector != 0) {
    return invalid("%lld channels in vectors of %lld", static_cast<long long>(shape->dims[1]),
                   static_cast<long long>(vector));
  }
  // Strides become those of channels.
  shape->type = type == CUDNN_DATA_UINT8x4 ? CUDNN_DATA_UINT8 : CUDNN_DATA_INT8;
  shape->vector = vector;
  for (int i = 0; i < shape->rank; ++i) shape->strides[i] *= vector;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t take_scalar(cudnnDataType_t type, const void* from, double* out) {
  if (type == CUDNN_DATA_DOUBLE) return take(static_cast<const double*>(from), 1, out, "a scalar");
  float value = 0;
  LIB_TRY(take(static_cast<const float*>(from), 1, &value, "a scalar"));
  *out = value;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t lay_out(cudnnTensorFormat_t format, cudnnDataType_t type, int rank, const int* dims,
                      Shape* out) {
  if (rank < 3 || rank > kMostDims) return unsupported("a tensor of %d dimensions", rank);
  int64_t wide[kMostDims];
  for (int i = 0; i < rank; ++i) {
    if (dims[i] < 1) return invalid("extent %d is %d", i, dims[i]);
    wide[i] = dims[i];
  }
  *out = dense_shape(type, rank, wide);
  if (format < CUDNN_TENSOR_NCHW || format > CUDNN_TENSOR_NCHW_VECT_C) {
    return invalid("the format %d", format);
  }
  if ((format == CUDNN_TENSOR_NCHW_VECT_C) != (vector_of(type) != 1)) {
    return invalid(
        "the data type %d in the format %d: vectors (INT8x4, UINT8x4, INT8x32) and "
        "CUDNN_TENSOR_NCHW_VECT_C go together",
        type, format);
  }
  out->strides[0] /= vector_of(type);
  LIB_TRY(use_vectors(type, out));
  if (format == CUDNN_TENSOR_NHWC) {
    int64_t stride = wide[1];
    out->strides[1] = 1;
    for (int i = rank - 1; i >= 2; --i) {
      out->strides[i] = stride;
      stride *= wide[i];
    }
    out->strides[0] = stride;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t activation_of(cudnnActivationDescriptor_t descriptor, bool is_backward,
                            PointwiseSettings* out) {
  ActivationValue value;
  LIB_TRY(Activations::read(descriptor, &value));
  PointwiseSettings found;
  const auto choose = [&](cudnnPointwiseMode_t forward, cudnnPointwiseMode_t backward) {
    found.mode = is_backward ? backward : forward;
  };
  switch (value.mode) {
    case CUDNN_ACTIVATION_SIGMOID:
      choose(CUDNN_POINTWISE_SIGMOID_FWD, CUDNN_POINTWISE_SIGMOID_BWD);
      break;
    case CUDNN_ACTIVATION_CLIPPED_RELU:
      found.has_upper_clip = true;
      found.upper_clip = value.coefficient;
      [[fallthrough]];
    case CUDNN_ACTIVATION_RELU:
      choose(CUDNN_POINTWISE_RELU_FWD, CUDNN_POINTWISE_RELU_BWD);
      break;
    case CUDNN_ACTIVATION_TANH:
      choose(CUDNN_POINTWISE_TANH_FWD, CUDNN_POINTWISE_TANH_BWD);
      break;
    case CUDNN_ACTIVATION_ELU:
      found.elu_alpha = value.coefficient;
      choose(CUDNN_POINTWISE_ELU_FWD, CUDNN_POINTWISE_ELU_BWD);
      break;
    case CUDNN_ACTIVATION_IDENTITY:
      found.mode = CUDNN_POINTWISE_IDENTITY;
      break;
    case CUDNN_ACTIVATION_SWISH:
      found.swish_beta = value.swish_beta;
      choose(CUDNN_POINTWISE_SWISH_FWD, CUDNN_POINTWISE_SWISH_BWD);
      break;
    default:
      return invalid("the activation %d", value.mode);
  }
  *out = found;
  return CUDNN_STATUS_SUCCESS;
}

ConvolutionSettings settings_of(const ConvolutionValue& value) {
  ConvolutionSettings found;
  found.spatial = value.spatial;
  for (int i = 0; i < value.spatial; ++i) {
    found.pads[i] = found.post_pads[i] = value.pads[i];
    found.steps[i] = value.steps[i];
    found.dilations[i] = value.dilations[i];
  }
  found.is_flipped = value.mode == CUDNN_CONVOLUTION;
  return found;
}

}  // namespace km::cudnn
