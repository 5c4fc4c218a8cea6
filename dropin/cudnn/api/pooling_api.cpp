// Pooling.
#include "dropin/cudnn/descriptors/descriptors.h"
#include "dropin/cudnn/engine/layers/pooling.h"
#include "dropin/cudnn/engine/layout/vectors.h"

namespace km::cudnn {
namespace {

cudnnStatus_t set_pooling(cudnnPoolingDescriptor_t descriptor, cudnnPoolingMode_t mode,
                          cudnnNanPropagation_t nan, int count, const int* window, const int* pads,
                          const int* steps) {
  if (mode < CUDNN_POOLING_MAX || mode > CUDNN_POOLING_MAX_DETERMINISTIC) {
    return invalid("the mode %d", mode);
  }
  for (int i = 0; i < count; ++i) {
    if (window[i] < 1 || pads[i] < 0 || steps[i] < 1) {
      return invalid("dimension %d: window %d, padding %d, step %d", i, window[i], pads[i],
                     steps[i]);
    }
  }
  return Poolings::update(descriptor, [&](PoolingValue& value) {
    value.spatial = count;
    std::copy(window, window + count, value.window);
    std::copy(pads, pads + count, value.pads);
    std::copy(steps, steps + count, value.steps);
    value.mode = mode;
    value.nan = nan;
  });
}
cudnnStatus_t get_pooling(cudnnPoolingDescriptor_t descriptor, PoolingValue* out) {
  LIB_TRY(Poolings::read(descriptor, out));
  if (out->spatial == 0) return invalid("the pooling has not been set");
  return CUDNN_STATUS_SUCCESS;
}

PoolingSettings settings_of(const PoolingValue& value) {
  PoolingSettings found;
  found.kind = value.mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING
                   ? PoolingKind::kAverageWithPadding
               : value.mode == CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING ? PoolingKind::kAverage
                                                                           : PoolingKind::kMax;
  found.spatial = value.spatial;
  for (int i = 0; i < value.spatial; ++i) {
    found.window[i] = value.window[i];
    found.pads[i] = value.pads[i];
    found.steps[i] = value.steps[i];
  }
  return found;
}

/// Puts a dimension that is not pooled in front of the spatial ones.
void add_dimension(PoolingSettings* settings) {
  for (int i = settings->spatial++; i > 0; --i) {
    settings->window[i] = settings->window[i - 1];
    settings->pads[i] = settings->pads[i - 1];
    settings->steps[i] = settings->steps[i - 1];
  }
  settings->window[0] = settings->steps[0] = 1;
  settings->pads[0] = 0;
}

cudnnStatus_t output_extents(cudnnPoolingDescriptor_t descriptor, cudnnTensorDescriptor_t input,
                             int* out, int* rank) {
  PoolingValue value;
  TensorValue x;
  LIB_TRY(get_pooling(descriptor, &value));
  LIB_TRY(Tensors::read(input, &x));
  *rank = value.spatial + 2;
  if (x.shape.rank != *rank) return invalid("a tensor of %d dimensions", x.shape.rank);
  for (int i = 0; i < *rank; ++i) out[i] = static_cast<int>(x.shape.dims[i]);
  for (int i = 0; i < value.spatial; ++i) {
    const int room = out[i + 2] + 2 * value.pads[i] - value.window[i];
    if (room < 0) return invalid("the window does not fit into dimension %d", i);
    out[i + 2] = 1 + room / value.steps[i];
  }
  return CUDNN_STATUS_SUCCESS;
}

/// Outputs may be smaller than the window's room, not larger.
cudnnStatus_t check_output(cudnnPoolingDescriptor_t descriptor, cudnnTensorDescriptor_t input,
                           const View& y) {
  int extents[kMostDims], rank = 0;
  LIB_TRY(output_extents(descriptor, input, extents, &rank));
  if (y.rank != rank) return invalid("an output of %d dimensions", y.rank);
  for (int i = 0; i < rank; ++i) {
    if (y.dims[i] != extents[i]) {
      return invalid("extent %d of the output is %lld, not %d", i,
                     static_cast<long long>(y.dims[i]), extents[i]);
    }
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnCreatePoolingDescriptor(cudnnPoolingDescriptor_t* poolingDesc) {
  return call([&] { return Poolings::create(poolingDesc); });
}
cudnnStatus_t cudnnDestroyPoolingDescriptor(cudnnPoolingDescriptor_t poolingDesc) {
  return call([&] { return Poolings::destroy(poolingDesc); });
}
cudnnStatus_t cudnnSetPooling2dDescriptor(cudnnPoolingDescriptor_t poolingDesc,
                                          cudnnPoolingMode_t mode,
                                          cudnnNanPropagation_t maxpoolingNanOpt, int windowHeight,
                                          int windowWidth, int verticalPadding,
                                          int horizontalPadding, int verticalStride,
                                          int horizontalStride) {
  const int window[] = {windowHeight, windowWidth}, pads[] = {verticalPadding, horizontalPadding};
  const int steps[] = {verticalStride, horizontalStride};
  return call(
      [&] { return set_pooling(poolingDesc, mode, maxpoolingNanOpt, 2, window, pads, steps); });
}
cudnnStatus_t cudnnSetPoolingNdDescriptor(cudnnPoolingDescriptor_t poolingDesc,
                                          const cudnnPoolingMode_t mode,
                                          const cudnnNanPropagation_t maxpoolingNanOpt, int nbDims,
                                          const int* windowDimA, const int* paddingA,
                                          const int* strideA) {
  return call([&]() -> cudnnStatus_t {
    if (nbDims < 1 || nbDims > kMostDims - 2) return unsupported("%d dimensions", nbDims);
    const auto count = static_cast<size_t>(nbDims);
    int window[kMostDims], pads[kMostDims], steps[kMostDims];
    LIB_TRY(take(windowDimA, count, window, "windowDimA"));
    LIB_TRY(take(paddingA, count, pads, "paddingA"));
    LIB_TRY(take(strideA, count, steps, "strideA"));
    return set_pooling(poolingDesc, mode, maxpoolingNanOpt, nbDims, window, pads, steps);
  });
}
cudnnStatus_t cudnnGetPooling2dDescriptor(const cudnnPoolingDescriptor_t poolingDesc,
                                          cudnnPoolingMode_t* mode,
                                          cudnnNanPropagation_t* maxpoolingNanOpt,
                                          int* windowHeight, int* windowWidth, int* verticalPadding,
                                          int* horizontalPadding, int* verticalStride,
                                          int* horizontalStride) {
  return call([&]() -> cudnnStatus_t {
    PoolingValue value;
    LIB_TRY(get_pooling(poolingDesc, &value));
    if (value.spatial != 2) return invalid("a pooling of %d dimensions", value.spatial);
    LIB_TRY(give(mode, value.mode));
    LIB_TRY(give(maxpoolingNanOpt, value.nan));
    int* const places[] = {windowHeight,      windowWidth,    verticalPadding,
                           horizontalPadding, verticalStride, horizontalStride};
    const int values[] = {value.window[0], value.window[1], value.pads[0],
                          value.pads[1],   value.steps[0],  value.steps[1]};
    for (int i = 0; i < 6; ++i) LIB_TRY(give(places[i], values[i]));
    return CUDNN_STATUS_SUCCESS;
  });
}
cudnnStatus_t cudnnGetPoolingNdDescriptor(const cudnnPoolingDescriptor_t poolingDesc,
                                          int nbDimsRequested, cudnnPoolingMode_t* mode,
                                          cudnnNanPropagation_t* maxpoolingNanOpt, int* nbDims,
                                          int* windowDimA, int* paddingA, int* strideA) {
  return call([&]() -> cudnnStatus_t {
    PoolingValue value;
    LIB_TRY(get_pooling(poolingDesc, &value));
    if (nbDimsRequested < 0) return invalid("%d dimensions", nbDimsRequested);
    const auto count = static_cast<size_t>(std::min(nbDimsRequested, value.spatial));
    LIB_TRY(give(mode, value.mode));
    LIB_TRY(give(maxpoolingNanOpt, value.nan));
    LIB_TRY(give(nbDims, static_cast<int>(value.spatial)));
    LIB_TRY(give_array(windowDimA, value.window, count));
    LIB_TRY(give_array(paddingA, value.pads, count));
    return give_array(strideA, value.steps, count);
  });
}
cudnnStatus_t cudnnGetPooling2dForwardOutputDim(const cudnnPoolingDescriptor_t poolingDesc,
                                                const cudnnTensorDescriptor_t inputTensorDesc,
                                                int* n, int* c, int* h, int* w) {
  return call([&]() -> cudnnStatus_t {
    int extents[kMostDims], rank = 0;
    LIB_TRY(output_extents(poolingDesc, inputTensorDesc, extents, &rank));
    if (rank != 4) return invalid("a pooling of %d dimensions", rank - 2);
    int* const places[] = {n, c, h, w};
    for (int i = 0; i < 4; ++i) LIB_TRY(give(places[i], extents[i]));
    return CUDNN_STATUS_SUCCESS;
  });
}
cudnnStatus_t cudnnGetPoolingNdForwardOutputDim(const cudnnPoolingDescriptor_t poolingDesc,
                                                const cudnnTensorDescriptor_t inputTensorDesc,
                                                int nbDims, int* outputTensorDimA) {
  return call([&]() -> cudnnStatus_t {
    int extents[kMostDims], rank = 0;
    LIB_TRY(output_extents(poolingDesc, inputTensorDesc, extents, &rank));
    if (nbDims != rank) return invalid("room for %d of %d extents", nbDims, rank);
    return give_array(outputTensorDimA, extents, static_cast<size_t>(rank));
  });
}

cudnnStatus_t cudnnPoolingForward(cudnnHandle_t handle, const cudnnPoolingDescriptor_t poolingDesc,
                                  const void* alpha, const cudnnTensorDescriptor_t xDesc,
                                  const void* x, const void* beta,
                                  const cudnnTensorDescriptor_t yDesc, void* y) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    PoolingValue value;
    View from, to;
    LIB_TRY(get_pooling(poolingDesc, &value));
    LIB_TRY(view_of(xDesc, x, &from, Vectors::kTaken));
    LIB_TRY(view_of(yDesc, y, &to, Vectors::kTaken));
    LIB_TRY(check_output(poolingDesc, xDesc, to));
    PoolingSettings settings = settings_of(value);
    for (int i = split_channels({&from, &to}); i > 0; --i) add_dimension(&settings);
    LIB_TRY(take_scalar(to.type, alpha, &settings.alpha));
    LIB_TRY(take_scalar(to.type, beta, &settings.beta));
    return pool(h.stream, settings, from, to);
  });
}

cudnnStatus_t cudnnPoolingBackward(cudnnHandle_t handle, const cudnnPoolingDescriptor_t poolingDesc,
                                   const void* alpha, const cudnnTensorDescriptor_t yDesc,
                                   const void* y, const cudnnTensorDescriptor_t dyDesc,
                                   const void* dy, const cudnnTensorDescriptor_t xDesc,
                                   const void* x, const void* beta,
                                   const cudnnTensorDescriptor_t dxDesc, void* dx) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    PoolingValue value;
    View in, out, gradient, to;
    LIB_TRY(get_pooling(poolingDesc, &value));
    PoolingSettings settings = settings_of(value);
    if (settings.kind == PoolingKind::kMax) {
      LIB_TRY(view_of(xDesc, x, &in));
      LIB_TRY(view_of(yDesc, y, &out));
    }
    LIB_TRY(view_of(dyDesc, dy, &gradient));
    LIB_TRY(view_of(dxDesc, dx, &to));
    LIB_TRY(check_output(poolingDesc, dxDesc, gradient));
    LIB_TRY(take_scalar(to.type, alpha, &settings.alpha));
    LIB_TRY(take_scalar(to.type, beta, &settings.beta));
    return pool_backward(h.stream, settings, in, gradient, to);
  });
}

}  // extern "C"
}  // namespace km::cudnn
