// Convolutions: descriptors and the operations.
#include "dropin/cudnn/descriptors/descriptors.h"
#include "dropin/cudnn/engine/layout/vectors.h"
#include "dropin/cudnn/engine/reduction.h"

namespace km::cudnn {
namespace {

cudnnStatus_t set_convolution(cudnnConvolutionDescriptor_t descriptor, int count, const int* pads,
                              const int* steps, const int* dilations, cudnnConvolutionMode_t mode,
                              cudnnDataType_t compute) {
  if (count < 1 || count > kMostDims - 2) return unsupported("%d spatial dimensions", count);
  if (mode != CUDNN_CONVOLUTION && mode != CUDNN_CROSS_CORRELATION) {
    return invalid("the mode %d", mode);
  }
  for (int i = 0; i < count; ++i) {
    if (pads[i] < 0 || steps[i] < 1 || dilations[i] < 1) {
      return invalid("dimension %d: padding %d, step %d, dilation %d", i, pads[i], steps[i],
                     dilations[i]);
    }
  }
  return Convolutions::update(descriptor, [&](ConvolutionValue& value) {
    value.spatial = count;
    std::copy(pads, pads + count, value.pads);
    std::copy(steps, steps + count, value.steps);
    std::copy(dilations, dilations + count, value.dilations);
    value.mode = mode;
    value.compute = compute;
  });
}

cudnnStatus_t get_convolution(cudnnConvolutionDescriptor_t descriptor, ConvolutionValue* out) {
  LIB_TRY(Convolutions::read(descriptor, out));
  if (out->spatial == 0) return invalid("the convolution has not been set");
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t output_extents(cudnnConvolutionDescriptor_t descriptor, cudnnTensorDescriptor_t input,
                             cudnnFilterDescriptor_t filter, int* out, int* rank) {
  ConvolutionValue value;
  TensorValue x;
  FilterValue w;
  LIB_TRY(get_convolution(descriptor, &value));
  LIB_TRY(Tensors::read(input, &x));
  LIB_TRY(Filters::read(filter, &w));
  *rank = value.spatial + 2;
  if (x.shape.rank != *rank || w.shape.rank != *rank) {
    return invalid("tensors of rank %d and %d", x.shape.rank, w.shape.rank);
  }
  if (x.shape.dims[1] != w.shape.dims[1] * value.groups) {
    return invalid("%lld channels for a filter of %lld", static_cast<long long>(x.shape.dims[1]),
                   static_cast<long long>(w.shape.dims[1]));
  }
  out[0] = static_cast<int>(x.shape.dims[0]);
  out[1] = static_cast<int>(w.shape.dims[0]);
  for (int i = 0; i < value.spatial; ++i) {
    const int64_t extent = convolved_extent(x.shape.dims[i + 2], w.shape.dims[i + 2], value.pads[i],
                                            value.pads[i], value.steps[i], value.dilations[i]);
    if (extent < 1) return invalid("the filter does not fit into dimension %d", i);
    out[i + 2] = static_cast<int>(extent);
  }
  return CUDNN_STATUS_SUCCESS;
}

/// The tensors of a convolution.
struct Operands {
  ConvolutionValue convolution;
  View x, w, y;

  cudnnStatus_t take(cudnnConvolutionDescriptor_t convolution_desc, cudnnTensorDescriptor_t x_desc,
                     const void* x_data, cudnnFilterDescriptor_t w_desc, const void* w_data,
                     cudnnTensorDescriptor_t y_desc, const void* y_data,
                     Vectors vectors = Vectors::kRefused) {
    LIB_TRY(get_convolution(convolution_desc, &convolution));
    LIB_TRY(view_of(x_desc, x_data, &x, vectors));
    LIB_TRY(view_of(w_desc, w_data, &w, vectors));
    LIB_TRY(view_of(y_desc, y_data, &y, vectors));
    if (x.rank == w.rank && x.dims[1] != w.dims[1] * convolution.groups) {
      return invalid("%lld channels for a filter of %lld in %d groups",
                     static_cast<long long>(x.dims[1]), static_cast<long long>(w.dims[1]),
                     convolution.groups);
    }
    return CUDNN_STATUS_SUCCESS;
  }
  cudnnStatus_t run(Handle& h, Direction direction, const Epilogue& epilogue) const {
    ConvolutionSettings settings = settings_of(convolution);
    settings.is_reordered = convolution.reorder == CUDNN_NO_REORDER && w.vector == kReorderGroup;
    if (settings.is_reordered && w.dims[0] % kReorderGroup != 0) {
      return unsupported("a reordered filter of %lld outputs", static_cast<long long>(w.dims[0]));
    }
    return convolve(h.stream, direction, settings, x, w, y, epilogue);
  }
};

cudnnStatus_t take_scaling(cudnnDataType_t type, const void* alpha, const void* beta,
                           Epilogue* out) {
  LIB_TRY(take_scalar(type, alpha, &out->alpha));
  return take_scalar(type, beta, &out->beta);
}

/// cudnnIm2Col: rows of the buffer are the filter's elements, columns the output's positions.
cudnnStatus_t unfold(Handle& h, const View& x, const Shape& w, const ConvolutionValue& value,
                     void* buffer) {
  if (x.rank != 4 || w.rank != 4) return unsupported("Im2Col of %d dimensions", x.rank);
  int64_t out[2];
  for (int i = 0; i < 2; ++i) {
    out[i] = convolved_extent(x.dims[i + 2], w.dims[i + 2], value.pads[i], value.pads[i],
                              value.steps[i], value.dilations[i]);
    if (out[i] < 1) return invalid("the filter does not fit");
  }
  const int64_t dims[] = {w.dims[1], w.dims[2], w.dims[3], x.dims[0], out[0], out[1]};
  const View to(dense_shape(x.type, 6, dims), buffer);
  Arrays arrays;
  arrays.reads("x", x).writes("colBuffer", to);
  return submit_step(
      h.stream, "cudnnIm2Col", arrays, dims[0], static_cast<double>(to.strides[0]),
      [=](uint64_t piece, uint64_t pieces) {
        const int64_t row = to.strides[0];
        for (int64_t i = dims[0] * static_cast<int64_t>(piece) / static_cast<int64_t>(pieces) * row,
                     end = dims[0] * static_cast<int64_t>(piece + 1) /
                           static_cast<int64_t>(pieces) * row;
             i < end; ++i) {
          int64_t rest = i, at[6];
          for (int d = 5; d >= 0; --d) {
            at[d] = rest % dims[d];
            rest /= dims[d];
          }
          const int64_t y = at[4] * value.steps[0] - value.pads[0] + at[1] * value.dilations[0];
          const int64_t z = at[5] * value.steps[1] - value.pads[1] + at[2] * value.dilations[1];
          const bool is_inside = y >= 0 && y < x.dims[2] && z >= 0 && z < x.dims[3];
          write_one(to, i,
                    is_inside ? read_one(x, at[3] * x.strides[0] + at[0] * x.strides[1] +
                                                y * x.strides[2] + z * x.strides[3])
                              : 0);
        }
      });
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* convDesc) {
  return call([&] { return Convolutions::create(convDesc); });
}
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t convDesc) {
  return call([&] { return Convolutions::destroy(convDesc); });
}
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t convDesc, int pad_h,
                                              int pad_w, int u, int v, int dilation_h,
                                              int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t computeType) {
  const int pads[] = {pad_h, pad_w}, steps[] = {u, v}, dilations[] = {dilation_h, dilation_w};
  return call(
      [&] { return set_convolution(convDesc, 2, pads, steps, dilations, mode, computeType); });
}
cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t convDesc,
                                              int arrayLength, const int* padA,
                                              const int* filterStrideA, const int* dilationA,
                                              cudnnConvolutionMode_t mode,
                                              cudnnDataType_t computeType) {
  return call([&]() -> cudnnStatus_t {
    if (arrayLength < 1 || arrayLength > kMostDims - 2) {
      return unsupported("%d spatial dimensions", arrayLength);
    }
    const auto count = static_cast<size_t>(arrayLength);
    int pads[kMostDims], steps[kMostDims], dilations[kMostDims];
    LIB_TRY(take(padA, count, pads, "padA"));
    LIB_TRY(take(filterStrideA, count, steps, "filterStrideA"));
    LIB_TRY(take(dilationA, count, dilations, "dilationA"));
    return set_convolution(convDesc, arrayLength, pads, steps, dilations, mode, computeType);
  });
}
cudnnStatus_t cudnnGetConvolution2dDescriptor(const cudnnConvolutionDescriptor_t convDesc,
                                              int* pad_h, int* pad_w, int* u, int* v,
                                              int* dilation_h, int* dilation_w,
                                              cudnnConvolutionMode_t* mode,
                                              cudnnDataType_t* computeType) {
  return call([&]() -> cudnnStatus_t {
    ConvolutionValue value;
    LIB_TRY(get_convolution(convDesc, &value));
    if (value.spatial != 2) return invalid("a convolution of %d dimensions", value.spatial);
    int* const places[] = {pad_h, pad_w, u, v, dilation_h, dilation_w};
    const int values[] = {value.pads[0],  value.pads[1],      value.steps[0],
                          value.steps[1], value.dilations[0], value.dilations[1]};
    for (int i = 0; i < 6; ++i) LIB_TRY(give(places[i], values[i]));
    LIB_TRY(give(mode, value.mode));
    return give(computeType, value.compute);
  });
}
cudnnStatus_t cudnnGetConvolutionNdDescriptor(const cudnnConvolutionDescriptor_t convDesc,
                                              int arrayLengthRequested, int* arrayLength, int* padA,
                                              int* strideA, int* dilationA,
                                              cudnnConvolutionMode_t* mode,
                                              cudnnDataType_t* computeType) {
  return call([&]() -> cudnnStatus_t {
    ConvolutionValue value;
    LIB_TRY(get_convolution(convDesc, &value));
    if (arrayLengthRequested < 0) return invalid("%d dimensions", arrayLengthRequested);
    const auto count = static_cast<size_t>(std::min(arrayLengthRequested, value.spatial));
    LIB_TRY(give(arrayLength, static_cast<int>(value.spatial)));
    LIB_TRY(give_array(padA, value.pads, count));
    LIB_TRY(give_array(strideA, value.steps, count));
    LIB_TRY(give_array(dilationA, value.dilations, count));
    LIB_TRY(give(mode, value.mode));
    return give(computeType, value.compute);
  });
}

#define KM_CUDNN_CONVOLUTION_SETTING(name, Type, member)                                       \
  cudnnStatus_t cudnnSetConvolution##name(cudnnConvolutionDescriptor_t convDesc, Type value) { \
    return call([&] {                                                                          \
      return Convolutions::update(convDesc, [&](ConvolutionValue& to) { to.member = value; }); \
    });                                                                                        \
  }                                                                                            \
  cudnnStatus_t cudnnGetConvolution##name(cudnnConvolutionDescriptor_t convDesc, Type* out) {  \
    return call([&]() -> cudnnStatus_t {                                                       \
      ConvolutionValue value;                                                                  \
      LIB_TRY(Convolutions::read(convDesc, &value));                                           \
      return give(out, static_cast<Type>(value.member));                                       \
    });                                                                                        \
  }
KM_CUDNN_CONVOLUTION_SETTING(MathType, cudnnMathType_t, math)
KM_CUDNN_CONVOLUTION_SETTING(ReorderType, cudnnReorderType_t, reorder)
#undef KM_CUDNN_CONVOLUTION_SETTING

cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t convDesc, int groupCount) {
  return call([&]() -> cudnnStatus_t {
    if (groupCount < 1) return invalid("%d groups", groupCount);
    return Convolutions::update(convDesc, [&](ConvolutionValue& to) { to.groups = groupCount; });
  });
}
cudnnStatus_t cudnnGetConvolutionGroupCount(cudnnConvolutionDescriptor_t convDesc,
                                            int* groupCount) {
  return call([&]() -> cudnnStatus_t {
    ConvolutionValue value;
    LIB_TRY(Convolutions::read(convDesc, &value));
    return give(groupCount, static_cast<int>(value.groups));
  });
}

cudnnStatus_t cudnnGetConvolution2dForwardOutputDim(const cudnnConvolutionDescriptor_t convDesc,
                                                    const cudnnTensorDescriptor_t inputTensorDesc,
                                                    const cudnnFilterDescriptor_t filterDesc,
                                                    int* n, int* c, int* h, int* w) {
  return call([&]() -> cudnnStatus_t {
    int extents[kMostDims], rank = 0;
    LIB_TRY(output_extents(convDesc, inputTensorDesc, filterDesc, extents, &rank));
    if (rank != 4) return invalid("a convolution of %d dimensions", rank - 2);
    int* const places[] = {n, c, h, w};
    for (int i = 0; i < 4; ++i) LIB_TRY(give(places[i], extents[i]));
    return CUDNN_STATUS_SUCCESS;
  });
}
cudnnStatus_t cudnnGetConvolutionNdForwardOutputDim(const cudnnConvolutionDescriptor_t convDesc,
                                                    const cudnnTensorDescriptor_t inputTensorDesc,
                                                    const cudnnFilterDescriptor_t filterDesc,
                                                    int nbDims, int* tensorOuputDimA) {
  return call([&]() -> cudnnStatus_t {
    int extents[kMostDims], rank = 0;
    LIB_TRY(output_extents(convDesc, inputTensorDesc, filterDesc, extents, &rank));
    if (nbDims < rank) return invalid("room for %d of %d extents", nbDims, rank);
    return give_array(tensorOuputDimA, extents, static_cast<size_t>(rank));
  });
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha,
                                      const cudnnTensorDescriptor_t xDesc, const void* x,
                                      const cudnnFilterDescriptor_t wDesc, const void* w,
                                      const cudnnConvolutionDescriptor_t convDesc,
                                      cudnnConvolutionFwdAlgo_t algo, void*, size_t,
                                      const void* beta, const cudnnTensorDescriptor_t yDesc,
                                      void* y) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    if (algo < 0 || algo >= CUDNN_CONVOLUTION_FWD_ALGO_COUNT) return invalid("algorithm %d", algo);
    Operands operands;
    Epilogue epilogue;
    LIB_TRY(operands.take(convDesc, xDesc, x, wDesc, w, yDesc, y, Vectors::kTaken));
    LIB_TRY(take_scaling(operands.y.type, alpha, beta, &epilogue));
    return operands.run(h, Direction::kForward, epilogue);
  });
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void* alpha,
                                           const cudnnFilterDescriptor_t wDesc, const void* w,
                                           const cudnnTensorDescriptor_t dyDesc, const void* dy,
                                           const cudnnConvolutionDescriptor_t convDesc,
                                           cudnnConvolutionBwdDataAlgo_t algo, void*, size_t,
                                           const void* beta, const cudnnTensorDescriptor_t dxDesc,
                                           void* dx) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    if (algo < 0 || algo >= CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT) {
      return invalid("algorithm %d", algo);
    }
    Operands operands;
    Epilogue epilogue;
    LIB_TRY(operands.take(convDesc, dxDesc, dx, wDesc, w, dyDesc, dy));
    LIB_TRY(take_scaling(operands.x.type, alpha, beta, &epilogue));
    return operands.run(h, Direction::kBackwardData, epilogue);
  });
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void* alpha,
                                             const cudnnTensorDescriptor_t xDesc, const void* x,
                                             const cudnnTensorDescriptor_t dyDesc, const void* dy,
                                             const cudnnConvolutionDescriptor_t convDesc,
                                             cudnnConvolutionBwdFilterAlgo_t algo, void*, size_t,
                                             const void* beta, const cudnnFilterDescriptor_t dwDesc,
                                             void* dw) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    if (algo < 0 || algo >= CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT) {
      return invalid("algorithm %d", algo);
    }
    Operands operands;
    Epilogue epilogue;
    LIB_TRY(operands.take(convDesc, xDesc, x, dwDesc, dw, dyDesc, dy));
    LIB_TRY(take_scaling(operands.w.type, alpha, beta, &epilogue));
    return operands.run(h, Direction::kBackwardFilter, epilogue);
  });
}

cudnnStatus_t cudnnConvolutionBackwardBias(cudnnHandle_t handle, const void* alpha,
                                           const cudnnTensorDescriptor_t dyDesc, const void* dy,
                                           const void* beta, const cudnnTensorDescriptor_t dbDesc,
                                           void* db) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    View gradient, bias;
    Epilogue scaling;
    LIB_TRY(view_of(dyDesc, dy, &gradient));
    LIB_TRY(view_of(dbDesc, db, &bias));
    LIB_TRY(take_scaling(bias.type, alpha, beta, &scaling));
    return reduce(h.stream, CUDNN_REDUCE_TENSOR_ADD, scaling.alpha, gradient, scaling.beta, bias);
  });
}

cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t handle, const void* alpha1, const cudnnTensorDescriptor_t xDesc, const void* x,
    const cudnnFilterDescriptor_t wDesc, const void* w, const cudnnConvolutionDescriptor_t convDesc,
    cudnnConvolutionFwdAlgo_t algo, void*, size_t, const void* alpha2,
    const cudnnTensorDescriptor_t zDesc, const void* z, const cudnnTensorDescriptor_t biasDesc,
    const void* bias, const cudnnActivationDescriptor_t activationDesc,
    const cudnnTensorDescriptor_t yDesc, void* y) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    if (algo < 0 || algo >= CUDNN_CONVOLUTION_FWD_ALGO_COUNT) return invalid("algorithm %d", algo);
    Operands operands;
    Epilogue epilogue;
    View added, shift;
    PointwiseSettings activation;
    LIB_TRY(operands.take(convDesc, xDesc, x, wDesc, w, yDesc, y, Vectors::kTaken));
    LIB_TRY(take_scalar(operands.y.type, alpha1, &epilogue.alpha));
    LIB_TRY(take_scalar(operands.y.type, alpha2, &epilogue.alpha_z));
    LIB_TRY(view_of(biasDesc, bias, &shift));
    LIB_TRY(activation_of(activationDesc, false, &activation));
    epilogue.bias = &shift;
    if (shift.rank < 2 || shift.dims[1] != operands.y.dims[1])
      return invalid("a bias of other extents");
    if (epilogue.alpha_z != 0) {
      LIB_TRY(view_of(zDesc, z, &added, Vectors::kTaken));
      if (!added.has_dims(operands.y)) return invalid("z has other extents than y");
      epilogue.z = &added;
    }
    if (activation.mode != CUDNN_POINTWISE_IDENTITY) epilogue.activation = &activation;
    return operands.run(h, Direction::kForward, epilogue);
  });
}

cudnnStatus_t cudnnIm2Col(cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc, const void* x,
                          const cudnnFilterDescriptor_t wDesc,
                          const cudnnConvolutionDescriptor_t convDesc, void* colBuffer) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    View input;
    FilterValue filter;
    ConvolutionValue value;
    LIB_TRY(view_of(xDesc, x, &input));
    LIB_TRY(Filters::read(wDesc, &filter));
    LIB_TRY(get_convolution(convDesc, &value));
    LIB_REQUIRE(colBuffer);
    return unfold(h, input, filter.shape, value, colBuffer);
  });
}

}  // extern "C"
}  // namespace km::cudnn
