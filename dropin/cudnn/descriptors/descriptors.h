// Descriptors of the functions beside the graph API: small values that calls read whole.
#pragma once

#include "dropin/cudnn/engine/convolution.h"
#include "dropin/cudnn/engine/view.h"
#include "dropin/cudnn/frame/library.h"
#include "dropin/library/value_table.h"

namespace km::cudnn {

/// The value of a cudnnTensorDescriptor_t; a rank of 0: not set yet.
struct TensorValue {
  Shape shape;
};
/// The value of a cudnnFilterDescriptor_t.
struct FilterValue {
  Shape shape;
  cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW;
  int32_t unused = 0;
};
struct ConvolutionValue {
  int32_t spatial = 0;
  int32_t pads[kMostDims] = {}, steps[kMostDims] = {}, dilations[kMostDims] = {};
  int32_t groups = 1;
  cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  cudnnReorderType_t reorder = CUDNN_DEFAULT_REORDER;
};
struct PoolingValue {
  int32_t spatial = 0;
  int32_t window[kMostDims] = {}, pads[kMostDims] = {}, steps[kMostDims] = {};
  cudnnPoolingMode_t mode = CUDNN_POOLING_MAX;
  cudnnNanPropagation_t nan = CUDNN_PROPAGATE_NAN;
  int32_t unused = 0;
};
struct ActivationValue {
  cudnnActivationMode_t mode = CUDNN_ACTIVATION_IDENTITY;
  cudnnNanPropagation_t nan = CUDNN_PROPAGATE_NAN;
  double coefficient = 0, swish_beta = 1;
};
struct LrnValue {
  uint64_t size = 5;
  double alpha = 1e-4, beta = 0.75, k = 2;
};
struct OpTensorValue {
  cudnnOpTensorOp_t operation = CUDNN_OP_TENSOR_ADD;
  cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  cudnnNanPropagation_t nan = CUDNN_PROPAGATE_NAN;
  int32_t unused = 0;
};
struct ReduceValue {
  cudnnReduceTensorOp_t operation = CUDNN_REDUCE_TENSOR_ADD;
  cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  cudnnNanPropagation_t nan = CUDNN_PROPAGATE_NAN;
  cudnnReduceTensorIndices_t indices = CUDNN_REDUCE_TENSOR_NO_INDICES;
  cudnnIndicesType_t index_type = CUDNN_32BIT_INDICES;
  int32_t unused = 0;
};
struct DropoutValue {
  float probability = 0;
  int32_t is_set = 0;
  void* states = nullptr;
  uint64_t seed = 0;
};
struct SpatialTransformerValue {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int32_t rank = 0;
  int32_t dims[kMostDims] = {};
};
struct TransformValue {
  uint32_t rank = 0;
  cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW;
  int32_t before[kMostDims] = {}, after[kMostDims] = {};
  uint32_t fold[kMostDims] = {};
  cudnnFoldingDirection_t direction = CUDNN_TRANSFORM_FOLD;
  int32_t unused = 0;
};
struct CtcLossValue {
  cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  cudnnLossNormalizationMode_t norm = CUDNN_LOSS_NORMALIZATION_NONE;
  cudnnCTCGradMode_t grad = CUDNN_CTC_ZERO_OOB_GRADIENTS;
  int32_t most_labels = 0;
};

/// The descriptors of one kind, which programs hold as `H`.
template <class H, class T, library::HandleKind kKind>
class Descriptors {
 public:
  static cudnnStatus_t create(H* out) {
    const uint64_t id = table().add(T{});
    if (id == 0) return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
    const cudnnStatus_t given = give(out, reinterpret_cast<H>(id));
    if (given != CUDNN_STATUS_SUCCESS) table().remove(id);
    return given;
  }
  static cudnnStatus_t destroy(H handle) {
    if (handle == nullptr || table().remove(reinterpret_cast<uint64_t>(handle))) {
      return CUDNN_STATUS_SUCCESS;
    }
    return not_live();
  }
  static cudnnStatus_t read(H handle, T* out) {
    return table().read(reinterpret_cast<uint64_t>(handle), out) ? CUDNN_STATUS_SUCCESS
                                                                 : not_live();
  }
  template <class Change>
  static cudnnStatus_t update(H handle, Change&& change) {
    return table().update(reinterpret_cast<uint64_t>(handle), change) ? CUDNN_STATUS_SUCCESS
                                                                      : not_live();
  }

 private:
  static cudnnStatus_t not_live() { return invalid("a descriptor of that kind is not live"); }
  static library::ValueTable<T, kKind>& table() {
    static auto& found = *new library::ValueTable<T, kKind>;  // calls may be made during exit
    return found;
  }
};

using Tensors = Descriptors<cudnnTensorDescriptor_t, TensorValue, library::HandleKind::kDnnTensor>;
using Filters = Descriptors<cudnnFilterDescriptor_t, FilterValue, library::HandleKind::kDnnFilter>;
using Convolutions = Descriptors<cudnnConvolutionDescriptor_t, ConvolutionValue,
                                 library::HandleKind::kDnnConvolution>;
using Poolings =
    Descriptors<cudnnPoolingDescriptor_t, PoolingValue, library::HandleKind::kDnnPooling>;
using Activations =
    Descriptors<cudnnActivationDescriptor_t, ActivationValue, library::HandleKind::kDnnActivation>;
using Lrns = Descriptors<cudnnLRNDescriptor_t, LrnValue, library::HandleKind::kDnnLrn>;
using OpTensors =
    Descriptors<cudnnOpTensorDescriptor_t, OpTensorValue, library::HandleKind::kDnnOpTensor>;
using Reduces =
    Descriptors<cudnnReduceTensorDescriptor_t, ReduceValue, library::HandleKind::kDnnReduce>;
using Dropouts =
    Descriptors<cudnnDropoutDescriptor_t, DropoutValue, library::HandleKind::kDnnDropout>;
using SpatialTransformers =
    Descriptors<cudnnSpatialTransformerDescriptor_t, SpatialTransformerValue,
                library::HandleKind::kDnnSpatialTransformer>;
using Transforms = Descriptors<cudnnTensorTransformDescriptor_t, TransformValue,
                               library::HandleKind::kDnnTransform>;
using CtcLosses =
    Descriptors<cudnnCTCLossDescriptor_t, CtcLossValue, library::HandleKind::kDnnCtcLoss>;

/// Says if an operation takes tensors of CUDNN_TENSOR_NCHW_VECT_C.
enum class Vectors { kRefused, kTaken };
/// Reads a tensor's descriptor, which has been set, for the memory at `data`.
cudnnStatus_t view_of(cudnnTensorDescriptor_t descriptor, const void* data, View* out,
                      Vectors vectors = Vectors::kRefused);
cudnnStatus_t view_of(cudnnFilterDescriptor_t descriptor, const void* data, View* out,
                      Vectors vectors = Vectors::kRefused);
/// Reads a scalar of the host: f64 if `type` is CUDNN_DATA_DOUBLE, otherwise f32.
cudnnStatus_t take_scalar(cudnnDataType_t type, const void* from, double* out);
/// Makes a shape, whose strides count elements of `type`, one of vectors if the type is.
cudnnStatus_t use_vectors(cudnnDataType_t type, Shape* shape);
/// The strides of a dense tensor in a format.
cudnnStatus_t lay_out(cudnnTensorFormat_t format, cudnnDataType_t type, int rank, const int* dims,
                      Shape* out);
/// The operation that an activation is in the engine, forward or backward.
cudnnStatus_t activation_of(cudnnActivationDescriptor_t descriptor, bool is_backward,
                            PointwiseSettings* out);
ConvolutionSettings settings_of(const ConvolutionValue& value);

}  // namespace km::cudnn
