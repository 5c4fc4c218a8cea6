// Operations on elements: transformations, sums, activations, reductions, constants.
#include "dropin/cudnn/descriptors/descriptors.h"
#include "dropin/cudnn/engine/layers/softmax.h"
#include "dropin/cudnn/engine/layout/vectors.h"
#include "dropin/cudnn/engine/reduction.h"

namespace km::cudnn {
namespace {

/// The scalars alpha and beta of a call, for tensors of a type.
struct Scaling {
  double alpha = 1, beta = 0;
  cudnnStatus_t take(cudnnDataType_t type, const void* alpha_at, const void* beta_at) {
    LIB_TRY(take_scalar(type, alpha_at, &alpha));
    return take_scalar(type, beta_at, &beta);
  }
};

cudnnPointwiseMode_t mode_of(cudnnOpTensorOp_t operation) {
  switch (operation) {
    case CUDNN_OP_TENSOR_MUL:
      return CUDNN_POINTWISE_MUL;
    case CUDNN_OP_TENSOR_MIN:
      return CUDNN_POINTWISE_MIN;
    case CUDNN_OP_TENSOR_MAX:
      return CUDNN_POINTWISE_MAX;
    case CUDNN_OP_TENSOR_SQRT:
      return CUDNN_POINTWISE_SQRT;
    case CUDNN_OP_TENSOR_NOT:
      return kComplement;
    default:
      return CUDNN_POINTWISE_ADD;
  }
}

cudnnStatus_t op_tensor(Handle& h, const OpTensorValue& op, const void* alpha1, const View& a,
                        const void* alpha2, cudnnTensorDescriptor_t b_desc, const void* b_data,
                        const void* beta, const View& c) {
  PointwiseSettings settings;
  settings.mode = mode_of(op.operation);
  LIB_TRY(take_scalar(op.compute, alpha1, &settings.alpha1));
  LIB_TRY(take_scalar(op.compute, beta, &settings.beta));
  if (op.operation == CUDNN_OP_TENSOR_SQRT || op.operation == CUDNN_OP_TENSOR_NOT) {
    return pointwise(h.stream, settings, a, nullptr, nullptr, c);
  }
  View b;
  LIB_TRY(view_of(b_desc, b_data, &b));
  LIB_TRY(take_scalar(op.compute, alpha2, &settings.alpha2));
  return pointwise(h.stream, settings, a, &b, nullptr, c);
}

cudnnStatus_t activation_backward(Handle& h, cudnnActivationDescriptor_t descriptor,
                                  const Scaling& scaling, const View& y, const View& dy,
                                  const View& x, const View& dx) {
  PointwiseSettings settings;
  LIB_TRY(activation_of(descriptor, true, &settings));
  settings.alpha1 = scaling.alpha;
  settings.beta = scaling.beta;
  const bool takes_output =
      settings.mode == CUDNN_POINTWISE_TANH_BWD || settings.mode == CUDNN_POINTWISE_SIGMOID_BWD;
  if (settings.mode == CUDNN_POINTWISE_IDENTITY) {
    return pointwise(h.stream, settings, dy, nullptr, nullptr, dx);
  }
  return pointwise(h.stream, settings, dy, takes_output ? &y : &x, nullptr, dx);
}

cudnnStatus_t groups_of(cudnnSoftmaxAlgorithm_t algorithm, cudnnSoftmaxMode_t mode, const View& x,
                        Shape* out) {
  if (algorithm < CUDNN_SOFTMAX_FAST || algorithm > CUDNN_SOFTMAX_LOG) {
    return invalid("the algorithm %d", algorithm);
  }
  if (mode != CUDNN_SOFTMAX_MODE_INSTANCE && mode != CUDNN_SOFTMAX_MODE_CHANNEL) {
    return invalid("the mode %d", mode);
  }
  *out = x;
  for (int i = 1; i < x.rank; ++i) {
    if (i == 1 || mode == CUDNN_SOFTMAX_MODE_INSTANCE) out->dims[i] = 1;
  }
  return CUDNN_STATUS_SUCCESS;
}

size_t index_bytes(cudnnIndicesType_t type) {
  switch (type) {
    case CUDNN_64BIT_INDICES:
      return 8;
    case CUDNN_16BIT_INDICES:
      return 2;
    case CUDNN_8BIT_INDICES:
      return 1;
    default:
      return 4;
  }
}

cudnnStatus_t fill(Handle& h, const View& y, double value) {
  Arrays arrays;
  arrays.writes("y", y);
  return submit_step(h.stream, "cudnnSetTensor", arrays, 1, static_cast<double>(y.count()),
                     [value, y](uint64_t, uint64_t) {
                       Extents at{};
                       for (int64_t i = 0; i < y.count(); ++i) {
                         int64_t rest = i, offset = 0;
                         for (int d = y.rank - 1; d >= 0; --d) {
                           at[d] = rest % y.dims[d];
                           rest /= y.dims[d];
                           offset += at[d] * y.strides[d];
                         }
                         write_one(y, offset, value);
                       }
                     });
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnTransformTensor(cudnnHandle_t handle, const void* alpha,
                                   const cudnnTensorDescriptor_t xDesc, const void* x,
                                   const void* beta, const cudnnTensorDescriptor_t yDesc, void* y) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    View from, to;
    LIB_TRY(view_of(xDesc, x, &from, Vectors::kTaken));
    LIB_TRY(view_of(yDesc, y, &to, Vectors::kTaken));
    if (!from.has_dims(to)) return invalid("the tensors' extents differ");
    split_channels({&from, &to});
    Scaling scaling;
    LIB_TRY(scaling.take(from.type, alpha, beta));
    return copy_scaled(h.stream, scaling.alpha, from, scaling.beta, to);
  });
}

cudnnStatus_t cudnnAddTensor(cudnnHandle_t handle, const void* alpha,
                             const cudnnTensorDescriptor_t aDesc, const void* A, const void* beta,
                             const cudnnTensorDescriptor_t cDesc, void* C) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    View a, c;
    LIB_TRY(view_of(aDesc, A, &a, Vectors::kTaken));
    LIB_TRY(view_of(cDesc, C, &c, Vectors::kTaken));
    if (a.vector != 1 || c.vector != 1) {
      if (a.rank != c.rank || (a.dims[1] != 1 && a.dims[1] != c.dims[1])) {
        return invalid("vectors of channels are added to tensors of their rank and channels");
      }
      split_channels({&a, &c});
    }
    Scaling scaling;
    LIB_TRY(scaling.take(c.type, alpha, beta));
    return copy_scaled(h.stream, scaling.alpha, a, scaling.beta, c);
  });
}

cudnnStatus_t cudnnScaleTensor(cudnnHandle_t handle, const cudnnTensorDescriptor_t yDesc, void* y,
                               const void* alpha) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    View view;
    LIB_TRY(view_of(yDesc, y, &view, Vectors::kTaken));
    split_channels({&view});
    double factor = 1;
    LIB_TRY(take_scalar(view.type, alpha, &factor));
    return copy_scaled(h.stream, factor, view, 0, view);
  });
}

cudnnStatus_t cudnnSetTensor(cudnnHandle_t handle, const cudnnTensorDescriptor_t yDesc, void* y,
                             const void* valuePtr) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    View view;
    LIB_TRY(view_of(yDesc, y, &view, Vectors::kTaken));
    split_channels({&view});
    if (type_bits(view.type) < 8) return unsupported("data type %d", view.type);
    uint64_t room = 0;  // the value has the tensor's type
    if (valuePtr == nullptr ||
        !library::read_host(&room, valuePtr, static_cast<size_t>(type_bytes(view.type)))) {
      return invalid("the value cannot be read at %p", valuePtr);
    }
    const View one(Shape{view.type, 0, {}, {}}, &room);
    return fill(h, view, read_one(one, 0));
  });
}

cudnnStatus_t cudnnCreateOpTensorDescriptor(cudnnOpTensorDescriptor_t* opTensorDesc) {
  return call([&] { return OpTensors::create(opTensorDesc); });
}
cudnnStatus_t cudnnDestroyOpTensorDescriptor(cudnnOpTensorDescriptor_t opTensorDesc) {
  return call([&] { return OpTensors::destroy(opTensorDesc); });
}
cudnnStatus_t cudnnSetOpTensorDescriptor(cudnnOpTensorDescriptor_t opTensorDesc,
                                         cudnnOpTensorOp_t opTensorOp,
                                         cudnnDataType_t opTensorCompType,
                                         cudnnNanPropagation_t opTensorNanOpt) {
  return call([&]() -> cudnnStatus_t {
    if (opTensorOp < CUDNN_OP_TENSOR_ADD || opTensorOp > CUDNN_OP_TENSOR_NOT) {
      return invalid("the operation %d", opTensorOp);
    }
    return OpTensors::update(opTensorDesc, [&](OpTensorValue& value) {
      value = {opTensorOp, opTensorCompType, opTensorNanOpt};
    });
  });
}
cudnnStatus_t cudnnGetOpTensorDescriptor(const cudnnOpTensorDescriptor_t opTensorDesc,
                                         cudnnOpTensorOp_t* opTensorOp,
                                         cudnnDataType_t* opTensorCompType,
                                         cudnnNanPropagation_t* opTensorNanOpt) {
  return call([&]() -> cudnnStatus_t {
    OpTensorValue value;
    LIB_TRY(OpTensors::read(opTensorDesc, &value));
    LIB_TRY(give(opTensorOp, value.operation));
    LIB_TRY(give(opTensorCompType, value.compute));
    return give(opTensorNanOpt, value.nan);
  });
}
cudnnStatus_t cudnnOpTensor(cudnnHandle_t handle, const cudnnOpTensorDescriptor_t opTensorDesc,
                            const void* alpha1, const cudnnTensorDescriptor_t aDesc, const void* A,
                            const void* alpha2, const cudnnTensorDescriptor_t bDesc, const void* B,
                            const void* beta, const cudnnTensorDescriptor_t cDesc, void* C) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    OpTensorValue op;
    LIB_TRY(OpTensors::read(opTensorDesc, &op));
    View a, c;
    LIB_TRY(view_of(aDesc, A, &a));
    LIB_TRY(view_of(cDesc, C, &c));
    return op_tensor(h, op, alpha1, a, alpha2, bDesc, B, beta, c);
  });
}

cudnnStatus_t cudnnCreateReduceTensorDescriptor(cudnnReduceTensorDescriptor_t* reduceTensorDesc) {
  return call([&] { return Reduces::create(reduceTensorDesc); });
}
cudnnStatus_t cudnnDestroyReduceTensorDescriptor(cudnnReduceTensorDescriptor_t reduceTensorDesc) {
  return call([&] { return Reduces::destroy(reduceTensorDesc); });
}
cudnnStatus_t cudnnSetReduceTensorDescriptor(cudnnReduceTensorDescriptor_t reduceTensorDesc,
                                             cudnnReduceTensorOp_t reduceTensorOp,
                                             cudnnDataType_t reduceTensorCompType,
                                             cudnnNanPropagation_t reduceTensorNanOpt,
                                             cudnnReduceTensorIndices_t reduceTensorIndices,
                                             cudnnIndicesType_t reduceTensorIndicesType) {
  return call([&]() -> cudnnStatus_t {
    if (reduceTensorOp < CUDNN_REDUCE_TENSOR_ADD ||
        reduceTensorOp > CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS) {
      return invalid("the operation %d", reduceTensorOp);
    }
    if (reduceTensorIndicesType < CUDNN_32BIT_INDICES ||
        reduceTensorIndicesType > CUDNN_8BIT_INDICES) {
      return invalid("the indices' type %d", reduceTensorIndicesType);
    }
    return Reduces::update(reduceTensorDesc, [&](ReduceValue& value) {
      value = {reduceTensorOp, reduceTensorCompType, reduceTensorNanOpt, reduceTensorIndices,
               reduceTensorIndicesType};
    });
  });
}
cudnnStatus_t cudnnGetReduceTensorDescriptor(const cudnnReduceTensorDescriptor_t reduceTensorDesc,
                                             cudnnReduceTensorOp_t* reduceTensorOp,
                                             cudnnDataType_t* reduceTensorCompType,
                                             cudnnNanPropagation_t* reduceTensorNanOpt,
                                             cudnnReduceTensorIndices_t* reduceTensorIndices,
                                             cudnnIndicesType_t* reduceTensorIndicesType) {
  return call([&]() -> cudnnStatus_t {
    ReduceValue value;
    LIB_TRY(Reduces::read(reduceTensorDesc, &value));
    LIB_TRY(give(reduceTensorOp, value.operation));
    LIB_TRY(give(reduceTensorCompType, value.compute));
    LIB_TRY(give(reduceTensorNanOpt, value.nan));
    LIB_TRY(give(reduceTensorIndices, value.indices));
    return give(reduceTensorIndicesType, value.index_type);
  });
}
cudnnStatus_t cudnnGetReductionIndicesSize(cudnnHandle_t handle,
                                           const cudnnReduceTensorDescriptor_t reduceTensorDesc,
                                           const cudnnTensorDescriptor_t,
                                           const cudnnTensorDescriptor_t cDesc,
                                           size_t* sizeInBytes) {
  return call(handle, [&](Handle&) -> cudnnStatus_t {
    ReduceValue value;
    TensorValue c;
    LIB_TRY(Reduces::read(reduceTensorDesc, &value));
    LIB_TRY(Tensors::read(cDesc, &c));
    const bool has_indices = value.indices == CUDNN_REDUCE_TENSOR_FLATTENED_INDICES;
    return give(sizeInBytes,
                has_indices ? static_cast<size_t>(c.shape.span()) * index_bytes(value.index_type)
                            : size_t{0});
  });
}
cudnnStatus_t cudnnGetReductionWorkspaceSize(cudnnHandle_t handle,
                                             const cudnnReduceTensorDescriptor_t reduceTensorDesc,
                                             const cudnnTensorDescriptor_t aDesc,
                                             const cudnnTensorDescriptor_t cDesc,
                                             size_t* sizeInBytes) {
  return call(handle, [&](Handle&) -> cudnnStatus_t {
    ReduceValue value;
    TensorValue tensor;
    LIB_TRY(Reduces::read(reduceTensorDesc, &value));
    LIB_TRY(Tensors::read(aDesc, &tensor));
    LIB_TRY(Tensors::read(cDesc, &tensor));
    return give(sizeInBytes, size_t{0});
  });
}
cudnnStatus_t cudnnReduceTensor(cudnnHandle_t handle,
                                const cudnnReduceTensorDescriptor_t reduceTensorDesc, void* indices,
                                size_t indicesSizeInBytes, void*, size_t, const void* alpha,
                                const cudnnTensorDescriptor_t aDesc, const void* A,
                                const void* beta, const cudnnTensorDescriptor_t cDesc, void* C) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    ReduceValue value;
    View a, c;
    LIB_TRY(Reduces::read(reduceTensorDesc, &value));
    LIB_TRY(view_of(aDesc, A, &a));
    LIB_TRY(view_of(cDesc, C, &c));
    Scaling scaling;
    LIB_TRY(scaling.take(value.compute == CUDNN_DATA_DOUBLE ? value.compute : a.type, alpha, beta));
    const bool has_indices = value.indices == CUDNN_REDUCE_TENSOR_FLATTENED_INDICES;
    const size_t needed = static_cast<size_t>(c.span()) * index_bytes(value.index_type);
    if (has_indices && (indices == nullptr || indicesSizeInBytes < needed)) {
      return invalid("%zu bytes for indices, %zu are needed", indicesSizeInBytes, needed);
    }
    return reduce(h.stream, value.operation, scaling.alpha, a, scaling.beta, c,
                  has_indices ? indices : nullptr, value.index_type);
  });
}

cudnnStatus_t cudnnCreateActivationDescriptor(cudnnActivationDescriptor_t* activationDesc) {
  return call([&] { return Activations::create(activationDesc); });
}
cudnnStatus_t cudnnDestroyActivationDescriptor(cudnnActivationDescriptor_t activationDesc) {
  return call([&] { return Activations::destroy(activationDesc); });
}
cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t activationDesc,
                                           cudnnActivationMode_t mode,
                                           cudnnNanPropagation_t reluNanOpt, double coef) {
  return call([&]() -> cudnnStatus_t {
    if (mode < CUDNN_ACTIVATION_SIGMOID || mode > CUDNN_ACTIVATION_SWISH) {
      return invalid("the activation %d", mode);
    }
    return Activations::update(activationDesc, [&](ActivationValue& value) {
      value.mode = mode;
      value.nan = reluNanOpt;
      value.coefficient = coef;
    });
  });
}
cudnnStatus_t cudnnGetActivationDescriptor(const cudnnActivationDescriptor_t activationDesc,
                                           cudnnActivationMode_t* mode,
                                           cudnnNanPropagation_t* reluNanOpt, double* coef) {
  return call([&]() -> cudnnStatus_t {
    ActivationValue value;
    LIB_TRY(Activations::read(activationDesc, &value));
    LIB_TRY(give(mode, value.mode));
    LIB_TRY(give(reluNanOpt, value.nan));
    return give(coef, value.coefficient);
  });
}
cudnnStatus_t cudnnSetActivationDescriptorSwishBeta(cudnnActivationDescriptor_t activationDesc,
                                                    double swish_beta) {
  return call([&] {
    return Activations::update(activationDesc,
                               [&](ActivationValue& value) { value.swish_beta = swish_beta; });
  });
}
cudnnStatus_t cudnnGetActivationDescriptorSwishBeta(cudnnActivationDescriptor_t activationDesc,
                                                    double* swish_beta) {
  return call([&]() -> cudnnStatus_t {
    ActivationValue value;
    LIB_TRY(Activations::read(activationDesc, &value));
    return give(swish_beta, value.swish_beta);
  });
}
cudnnStatus_t cudnnActivationForward(cudnnHandle_t handle,
                                     cudnnActivationDescriptor_t activationDesc, const void* alpha,
                                     const cudnnTensorDescriptor_t xDesc, const void* x,
                                     const void* beta, const cudnnTensorDescriptor_t yDesc,
                                     void* y) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    PointwiseSettings settings;
    View from, to;
    LIB_TRY(activation_of(activationDesc, false, &settings));
    LIB_TRY(view_of(xDesc, x, &from, Vectors::kTaken));
    LIB_TRY(view_of(yDesc, y, &to, Vectors::kTaken));
    if (!from.has_dims(to)) return invalid("the tensors' extents differ");
    split_channels({&from, &to});
    Scaling scaling;
    LIB_TRY(scaling.take(from.type, alpha, beta));
    settings.alpha_result = scaling.alpha;
    settings.beta = scaling.beta;
    return pointwise(h.stream, settings, from, nullptr, nullptr, to);
  });
}
cudnnStatus_t cudnnActivationBackward(cudnnHandle_t handle,
                                      cudnnActivationDescriptor_t activationDesc, const void* alpha,
                                      const cudnnTensorDescriptor_t yDesc, const void* y,
                                      const cudnnTensorDescriptor_t dyDesc, const void* dy,
                                      const cudnnTensorDescriptor_t xDesc, const void* x,
                                      const void* beta, const cudnnTensorDescriptor_t dxDesc,
                                      void* dx) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    View out, gradient, in, to;
    LIB_TRY(view_of(yDesc, y, &out));
    LIB_TRY(view_of(dyDesc, dy, &gradient));
    LIB_TRY(view_of(xDesc, x, &in));
    LIB_TRY(view_of(dxDesc, dx, &to));
    Scaling scaling;
    LIB_TRY(scaling.take(to.type, alpha, beta));
    return activation_backward(h, activationDesc, scaling, out, gradient, in, to);
  });
}

cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo,
                                  cudnnSoftmaxMode_t mode, const void* alpha,
                                  const cudnnTensorDescriptor_t xDesc, const void* x,
                                  const void* beta, const cudnnTensorDescriptor_t yDesc, void* y) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    View from, to;
    Shape groups;
    Scaling scaling;
    LIB_TRY(view_of(xDesc, x, &from));
    LIB_TRY(view_of(yDesc, y, &to));
    LIB_TRY(groups_of(algo, mode, from, &groups));
    LIB_TRY(scaling.take(to.type, alpha, beta));
    return softmax(h.stream, algo == CUDNN_SOFTMAX_LOG, scaling.alpha, from, scaling.beta, to,
                   groups);
  });
}
cudnnStatus_t cudnnSoftmaxBackward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo,
                                   cudnnSoftmaxMode_t mode, const void* alpha,
                                   const cudnnTensorDescriptor_t yDesc, const void* y,
                                   const cudnnTensorDescriptor_t dyDesc, const void* dy,
                                   const void* beta, const cudnnTensorDescriptor_t dxDesc,
                                   void* dx) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    View out, gradient, to;
    Shape groups;
    Scaling scaling;
    LIB_TRY(view_of(yDesc, y, &out));
    LIB_TRY(view_of(dyDesc, dy, &gradient));
    LIB_TRY(view_of(dxDesc, dx, &to));
    LIB_TRY(groups_of(algo, mode, out, &groups));
    LIB_TRY(scaling.take(to.type, alpha, beta));
    return softmax_backward(h.stream, algo == CUDNN_SOFTMAX_LOG, scaling.alpha, out, gradient,
                            scaling.beta, to, groups);
  });
}

}  // extern "C"
}  // namespace km::cudnn
