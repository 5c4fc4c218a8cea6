// Algorithms of convolutions: there is one for each direction, which is deterministic and needs no
// workspace. Every number of NVIDIA's list is accepted and runs it.
#include <chrono>

#include "dropin/cudnn/descriptors/descriptors.h"

namespace km::cudnn {
namespace {

/// Checks that the descriptors are live and set.
cudnnStatus_t check(cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
                    cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t y) {
  TensorValue tensor;
  FilterValue filter;
  ConvolutionValue value;
  LIB_TRY(Tensors::read(x, &tensor));
  if (tensor.shape.rank == 0) return invalid("a tensor has not been set");
  LIB_TRY(Tensors::read(y, &tensor));
  if (tensor.shape.rank == 0) return invalid("a tensor has not been set");
  LIB_TRY(Filters::read(w, &filter));
  if (filter.shape.rank == 0) return invalid("the filter has not been set");
  LIB_TRY(Convolutions::read(convolution, &value));
  if (value.spatial == 0) return invalid("the convolution has not been set");
  return CUDNN_STATUS_SUCCESS;
}

template <class Performance, class Algorithm>
Performance performance_of(Algorithm algorithm, cudnnConvolutionDescriptor_t convolution,
                           float milliseconds) {
  ConvolutionValue value;
  static_cast<void>(Convolutions::read(convolution, &value));
  Performance found{};
  found.algo = algorithm;
  found.status = CUDNN_STATUS_SUCCESS;
  found.time = milliseconds;
  found.determinism = CUDNN_DETERMINISTIC;
  found.mathType = value.math;
  return found;
}

template <class Performance, class Algorithm>
cudnnStatus_t give_algorithms(Algorithm algorithm, cudnnConvolutionDescriptor_t convolution,
                              float milliseconds, int requested, int* returned,
                              Performance* results) {
  if (requested < 1) return invalid("%d algorithms", requested);
  LIB_TRY(give(results, performance_of<Performance>(algorithm, convolution, milliseconds)));
  return give(returned, 1);
}

/// Runs a call once, and gives its time in milliseconds.
template <class Run>
cudnnStatus_t measure(cudnnHandle_t handle, Run&& run, float* milliseconds) {
  const auto wait = [&] {
    return call(handle,
                [](Handle& h) { return status_of(h.driver->cuStreamSynchronize(h.stream)); });
  };
  LIB_TRY(wait());
  const auto begin = std::chrono::steady_clock::now();
  LIB_TRY(run());
  LIB_TRY(wait());
  *milliseconds =
      std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return CUDNN_STATUS_SUCCESS;
}

constexpr auto kForwardAlgorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
constexpr auto kDataAlgorithm = CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
constexpr auto kFilterAlgorithm = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;

/// The scalars 1 and 0 for tensors of any type.
struct Units {
  explicit Units(cudnnDataType_t type) : is_double(type == CUDNN_DATA_DOUBLE) {}
  const void* one() const { return is_double ? static_cast<const void*>(&wide[1]) : &narrow[1]; }
  const void* zero() const { return is_double ? static_cast<const void*>(&wide[0]) : &narrow[0]; }
  bool is_double;
  double wide[2] = {0, 1};
  float narrow[2] = {0, 1};
};
Units units_of(cudnnTensorDescriptor_t descriptor) {
  TensorValue value;
  static_cast<void>(Tensors::read(descriptor, &value));
  return Units(value.shape.type);
}

cudnnStatus_t give_count(cudnnHandle_t handle, int* count) {
  return call(handle, [&](Handle&) { return give(count, 1); });
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnGetConvolutionForwardAlgorithmMaxCount(cudnnHandle_t handle, int* count) {
  return give_count(handle, count);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithmMaxCount(cudnnHandle_t handle, int* count) {
  return give_count(handle, count);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(cudnnHandle_t handle, int* count) {
  return give_count(handle, count);
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t srcDesc,
    const cudnnFilterDescriptor_t filterDesc, const cudnnConvolutionDescriptor_t convDesc,
    const cudnnTensorDescriptor_t destDesc, const int requestedAlgoCount, int* returnedAlgoCount,
    cudnnConvolutionFwdAlgoPerf_t* perfResults) {
  return call(handle, [&](Handle&) -> cudnnStatus_t {
    LIB_TRY(check(srcDesc, filterDesc, convDesc, destDesc));
    return give_algorithms(kForwardAlgorithm, convDesc, 0, requestedAlgoCount, returnedAlgoCount,
                           perfResults);
  });
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t filterDesc,
    const cudnnTensorDescriptor_t diffDesc, const cudnnConvolutionDescriptor_t convDesc,
    const cudnnTensorDescriptor_t gradDesc, const int requestedAlgoCount, int* returnedAlgoCount,
    cudnnConvolutionBwdDataAlgoPerf_t* perfResults) {
  return call(handle, [&](Handle&) -> cudnnStatus_t {
    LIB_TRY(check(gradDesc, filterDesc, convDesc, diffDesc));
    return give_algorithms(kDataAlgorithm, convDesc, 0, requestedAlgoCount, returnedAlgoCount,
                           perfResults);
  });
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t srcDesc,
    const cudnnTensorDescriptor_t diffDesc, const cudnnConvolutionDescriptor_t convDesc,
    const cudnnFilterDescriptor_t gradDesc, const int requestedAlgoCount, int* returnedAlgoCount,
    cudnnConvolutionBwdFilterAlgoPerf_t* perfResults) {
  return call(handle, [&](Handle&) -> cudnnStatus_t {
    LIB_TRY(check(srcDesc, gradDesc, convDesc, diffDesc));
    return give_algorithms(kFilterAlgorithm, convDesc, 0, requestedAlgoCount, returnedAlgoCount,
                           perfResults);
  });
}

cudnnStatus_t cudnnFindConvolutionForwardAlgorithm(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc, const cudnnFilterDescriptor_t wDesc,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t yDesc,
    const int requestedAlgoCount, int* returnedAlgoCount,
    cudnnConvolutionFwdAlgoPerf_t* perfResults) {
  return cudnnGetConvolutionForwardAlgorithm_v7(handle, xDesc, wDesc, convDesc, yDesc,
                                                requestedAlgoCount, returnedAlgoCount, perfResults);
}
cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithm(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t wDesc, const cudnnTensorDescriptor_t dyDesc,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t dxDesc,
    const int requestedAlgoCount, int* returnedAlgoCount,
    cudnnConvolutionBwdDataAlgoPerf_t* perfResults) {
  return cudnnGetConvolutionBackwardDataAlgorithm_v7(
      handle, wDesc, dyDesc, convDesc, dxDesc, requestedAlgoCount, returnedAlgoCount, perfResults);
}
cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithm(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t dyDesc,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnFilterDescriptor_t dwDesc,
    const int requestedAlgoCount, int* returnedAlgoCount,
    cudnnConvolutionBwdFilterAlgoPerf_t* perfResults) {
  return cudnnGetConvolutionBackwardFilterAlgorithm_v7(
      handle, xDesc, dyDesc, convDesc, dwDesc, requestedAlgoCount, returnedAlgoCount, perfResults);
}

cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc, const void* x,
    const cudnnFilterDescriptor_t wDesc, const void* w, const cudnnConvolutionDescriptor_t convDesc,
    const cudnnTensorDescriptor_t yDesc, void* y, const int requestedAlgoCount,
    int* returnedAlgoCount, cudnnConvolutionFwdAlgoPerf_t* perfResults, void*, size_t) {
  const Units units = units_of(yDesc);
  float time = 0;
  LIB_TRY(measure(
      handle,
      [&] {
        return cudnnConvolutionForward(handle, units.one(), xDesc, x, wDesc, w, convDesc,
                                       kForwardAlgorithm, nullptr, 0, units.zero(), yDesc, y);
      },
      &time));
  return call([&] {
    return give_algorithms(kForwardAlgorithm, convDesc, time, requestedAlgoCount, returnedAlgoCount,
                           perfResults);
  });
}
cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t wDesc, const void* w,
    const cudnnTensorDescriptor_t dyDesc, const void* dy,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t dxDesc, void* dx,
    const int requestedAlgoCount, int* returnedAlgoCount,
    cudnnConvolutionBwdDataAlgoPerf_t* perfResults, void*, size_t) {
  const Units units = units_of(dxDesc);
  float time = 0;
  LIB_TRY(measure(
      handle,
      [&] {
        return cudnnConvolutionBackwardData(handle, units.one(), wDesc, w, dyDesc, dy, convDesc,
                                            kDataAlgorithm, nullptr, 0, units.zero(), dxDesc, dx);
      },
      &time));
  return call([&] {
    return give_algorithms(kDataAlgorithm, convDesc, time, requestedAlgoCount, returnedAlgoCount,
                           perfResults);
  });
}
cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc, const void* x,
    const cudnnTensorDescriptor_t dyDesc, const void* y,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnFilterDescriptor_t dwDesc, void* dw,
    const int requestedAlgoCount, int* returnedAlgoCount,
    cudnnConvolutionBwdFilterAlgoPerf_t* perfResults, void*, size_t) {
  const Units units = units_of(xDesc);
  float time = 0;
  LIB_TRY(measure(
      handle,
      [&] {
        return cudnnConvolutionBackwardFilter(handle, units.one(), xDesc, x, dyDesc, y, convDesc,
                                              kFilterAlgorithm, nullptr, 0, units.zero(), dwDesc,
                                              dw);
      },
      &time));
  return call([&] {
    return give_algorithms(kFilterAlgorithm, convDesc, time, requestedAlgoCount, returnedAlgoCount,
                           perfResults);
  });
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc, const cudnnFilterDescriptor_t wDesc,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t yDesc,
    cudnnConvolutionFwdAlgo_t, size_t* sizeInBytes) {
  return call(handle, [&](Handle&) -> cudnnStatus_t {
    LIB_TRY(check(xDesc, wDesc, convDesc, yDesc));
    return give(sizeInBytes, size_t{0});
  });
}
cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t wDesc, const cudnnTensorDescriptor_t dyDesc,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t dxDesc,
    cudnnConvolutionBwdDataAlgo_t, size_t* sizeInBytes) {
  return call(handle, [&](Handle&) -> cudnnStatus_t {
    LIB_TRY(check(dxDesc, wDesc, convDesc, dyDesc));
    return give(sizeInBytes, size_t{0});
  });
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t dyDesc,
    const cudnnConvolutionDescriptor_t convDesc, const cudnnFilterDescriptor_t gradDesc,
    cudnnConvolutionBwdFilterAlgo_t, size_t* sizeInBytes) {
  return call(handle, [&](Handle&) -> cudnnStatus_t {
    LIB_TRY(check(xDesc, gradDesc, convDesc, dyDesc));
    return give(sizeInBytes, size_t{0});
  });
}

}  // extern "C"
}  // namespace km::cudnn
