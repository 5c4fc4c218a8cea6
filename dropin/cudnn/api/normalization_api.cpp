// Batch normalization, and the functions of the same kind with the name Normalization.
#include "dropin/cudnn/descriptors/descriptors.h"
#include "dropin/cudnn/engine/layers/normalization.h"

namespace km::cudnn {
namespace {

/// The least epsilon that the functions take (CUDNN_BN_MIN_EPSILON).
constexpr double kLeastEpsilon = 0;

/// The extents of the parameters for a tensor: of each channel, or of each activation.
Shape parameters_for(const Shape& x, bool is_per_activation) {
  int64_t dims[kMostDims];
  for (int i = 0; i < x.rank; ++i) dims[i] = i == 1 || (is_per_activation && i > 1) ? x.dims[i] : 1;
  const cudnnDataType_t type = x.type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  return dense_shape(type, x.rank, dims);
}

cudnnStatus_t check_mode(cudnnBatchNormMode_t mode, bool* is_per_activation) {
  if (mode < CUDNN_BATCHNORM_PER_ACTIVATION || mode > CUDNN_BATCHNORM_SPATIAL_PERSISTENT) {
    return invalid("the mode %d", mode);
  }
  *is_per_activation = mode == CUDNN_BATCHNORM_PER_ACTIVATION;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t check_mode(cudnnNormMode_t mode, bool* is_per_activation) {
  if (mode != CUDNN_NORM_PER_ACTIVATION && mode != CUDNN_NORM_PER_CHANNEL) {
    return invalid("the mode %d", mode);
  }
  *is_per_activation = mode == CUDNN_NORM_PER_ACTIVATION;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t check_groups(int count) {
  if (count != 1) return unsupported("%d groups of a normalization", count);
  return CUDNN_STATUS_SUCCESS;
}

/// The addresses of a call's parameters, all of which have one descriptor.
struct Parameters {
  Shape shape;
  cudnnStatus_t take(cudnnTensorDescriptor_t descriptor, const View& x, bool is_per_activation) {
    TensorValue value;
    LIB_TRY(Tensors::read(descriptor, &value));
    shape = value.shape;
    const Shape expected = parameters_for(x, is_per_activation);
    // Programs may leave out dimensions of extent 1 at the end.
    while (shape.rank > 0 && shape.rank < expected.rank && !is_per_activation) {
      shape.dims[shape.rank] = 1;
      shape.strides[shape.rank++] = 1;
    }
    if (!shape.has_dims(expected))
      return invalid("the parameters have other extents than x asks for");
    return CUDNN_STATUS_SUCCESS;
  }
  View at(const void* address) const { return {shape, address}; }
};

/// The operation that follows a normalization.
struct Training {
  int operation = 0;  // 0: normalization, 1: with activation, 2: with sum and activation
  cudnnTensorDescriptor_t z_desc = nullptr;
  const void* z = nullptr;
  cudnnActivationDescriptor_t activation = nullptr;

  cudnnStatus_t apply(NormForward* norm) const {
    if (operation < 0 || operation > 2) return invalid("the operation %d", operation);
    if (operation == 2) LIB_TRY(view_of(z_desc, z, &norm->z));
    if (operation == 0) return CUDNN_STATUS_SUCCESS;
    norm->has_activation = true;
    return activation_of(activation, false, &norm->activation);
  }
};

cudnnStatus_t take_data_scaling(const View& y, const void* alpha, const void* beta,
                                NormForward* norm) {
  LIB_TRY(take_scalar(y.type, alpha, &norm->alpha));
  return take_scalar(y.type, beta, &norm->beta);
}

struct TrainingCall {
  bool is_per_activation;
  const void *alpha, *beta;
  cudnnTensorDescriptor_t x_desc;
  const void* x;
  cudnnTensorDescriptor_t y_desc;
  void* y;
  cudnnTensorDescriptor_t scale_desc, stats_desc;
  const void *scale, *bias;
  double factor;
  void *running_mean, *running_variance;
  double epsilon;
  void *saved_mean, *saved_deviation;
};

cudnnStatus_t train(Handle& h, const TrainingCall& c, const Training& training) {
  NormForward norm;
  LIB_TRY(view_of(c.x_desc, c.x, &norm.x));
  LIB_TRY(view_of(c.y_desc, c.y, &norm.y));
  LIB_TRY(take_data_scaling(norm.y, c.alpha, c.beta, &norm));
  if (c.epsilon < kLeastEpsilon) return invalid("an epsilon of %g", c.epsilon);
  Parameters parameters, stats;
  LIB_TRY(parameters.take(c.scale_desc, norm.x, c.is_per_activation));
  LIB_TRY(stats.take(c.stats_desc, norm.x, c.is_per_activation));
  LIB_REQUIRE(c.scale);
  LIB_REQUIRE(c.bias);
  if ((c.running_mean == nullptr) != (c.running_variance == nullptr) ||
      (c.saved_mean == nullptr) != (c.saved_deviation == nullptr)) {
    return invalid("one of two results is null");
  }
  norm.scale = parameters.at(c.scale);
  norm.bias = parameters.at(c.bias);
  norm.stats = stats.shape;
  norm.mean = stats.at(c.saved_mean);
  norm.inverse = stats.at(c.saved_deviation);
  norm.old_mean = norm.new_mean = stats.at(c.running_mean);
  norm.old_variance = norm.new_variance = stats.at(c.running_variance);
  norm.epsilon.value = c.epsilon;
  norm.factor.value = c.factor;
  LIB_TRY(training.apply(&norm));
  return normalize(h.stream, std::move(norm));
}

struct InferenceCall {
  bool is_per_activation;
  const void *alpha, *beta;
  cudnnTensorDescriptor_t x_desc;
  const void* x;
  cudnnTensorDescriptor_t y_desc;
  void* y;
  cudnnTensorDescriptor_t scale_desc, stats_desc;
  const void *scale, *bias, *mean, *variance;
  double epsilon;
};

cudnnStatus_t infer(Handle& h, const InferenceCall& c, const Training& extras) {
  NormForward norm;
  LIB_TRY(view_of(c.x_desc, c.x, &norm.x));
  LIB_TRY(view_of(c.y_desc, c.y, &norm.y));
  LIB_TRY(take_data_scaling(norm.y, c.alpha, c.beta, &norm));
  if (c.epsilon < kLeastEpsilon) return invalid("an epsilon of %g", c.epsilon);
  Parameters parameters, stats;
  LIB_TRY(parameters.take(c.scale_desc, norm.x, c.is_per_activation));
  LIB_TRY(stats.take(c.stats_desc, norm.x, c.is_per_activation));
  for (const void* each : {c.scale, c.bias, c.mean, c.variance}) {
    if (each == nullptr) return invalid("a parameter's address is null");
  }
  norm.scale = parameters.at(c.scale);
  norm.bias = parameters.at(c.bias);
  norm.stats = stats.shape;
  norm.mean = stats.at(c.mean);
  norm.inverse = stats.at(c.variance);
  norm.is_inference = norm.has_variance = true;
  norm.epsilon.value = c.epsilon;
  LIB_TRY(extras.apply(&norm));
  return normalize(h.stream, std::move(norm));
}

struct BackwardCall {
  bool is_per_activation;
  int operation;
  const void *alpha_data, *beta_data, *alpha_parameters, *beta_parameters;
  cudnnTensorDescriptor_t x_desc;
  const void* x;
  cudnnTensorDescriptor_t y_desc;
  const void* y;
  cudnnTensorDescriptor_t dy_desc;
  const void* dy;
  cudnnTensorDescriptor_t dz_desc;
  void* dz;
  cudnnTensorDescriptor_t dx_desc;
  void* dx;
  cudnnTensorDescriptor_t scale_desc, stats_desc;
  const void* scale;
  void *dscale, *dbias;
  double epsilon;
  const void *mean, *deviation;
  cudnnActivationDescriptor_t activation;
};

cudnnStatus_t go_back(Handle& h, const BackwardCall& c) {
  NormBackward norm;
  LIB_TRY(view_of(c.x_desc, c.x, &norm.x));
  LIB_TRY(view_of(c.dy_desc, c.dy, &norm.dy));
  LIB_TRY(view_of(c.dx_desc, c.dx, &norm.dx));
  if (c.operation < 0 || c.operation > 2) return invalid("the operation %d", c.operation);
  if (c.operation != 0) {
    LIB_TRY(view_of(c.y_desc, c.y, &norm.y));
    LIB_TRY(activation_of(c.activation, true, &norm.activation));
    norm.has_activation = norm.activation.mode != CUDNN_POINTWISE_IDENTITY;
  }
  if (c.operation == 2) LIB_TRY(view_of(c.dz_desc, c.dz, &norm.dz));
  const cudnnDataType_t type = norm.x.type;
  LIB_TRY(take_scalar(type, c.alpha_data, &norm.alpha_data));
  LIB_TRY(take_scalar(type, c.beta_data, &norm.beta_data));
  LIB_TRY(take_scalar(type, c.alpha_parameters, &norm.alpha_parameters));
  LIB_TRY(take_scalar(type, c.beta_parameters, &norm.beta_parameters));
  Parameters parameters, stats;
  LIB_TRY(parameters.take(c.scale_desc, norm.x, c.is_per_activation));
  LIB_TRY(stats.take(c.stats_desc, norm.x, c.is_per_activation));
  LIB_REQUIRE(c.scale);
  LIB_REQUIRE(c.dscale);
  LIB_REQUIRE(c.dbias);
  if ((c.mean == nullptr) != (c.deviation == nullptr))
    return invalid("one of two statistics is null");
  norm.stats = stats.shape;
  norm.scale = parameters.at(c.scale);
  norm.dscale = parameters.at(c.dscale);
  norm.dbias = parameters.at(c.dbias);
  norm.mean = stats.at(c.mean);
  norm.inverse = stats.at(c.deviation);
  norm.epsilon.value = c.epsilon;
  return normalize_backward(h.stream, std::move(norm));
}

cudnnStatus_t derive(cudnnTensorDescriptor_t derived, cudnnTensorDescriptor_t x_desc,
                     bool is_per_activation) {
  TensorValue x;
  LIB_TRY(Tensors::read(x_desc, &x));
  if (x.shape.rank == 0) return invalid("x has not been set");
  const Shape shape = parameters_for(x.shape, is_per_activation);
  return Tensors::update(derived, [&](TensorValue& value) { value.shape = shape; });
}

cudnnStatus_t give_no_size(cudnnHandle_t handle, cudnnTensorDescriptor_t x, size_t* size) {
  return call(handle, [&](Handle&) -> cudnnStatus_t {
    TensorValue value;
    LIB_TRY(Tensors::read(x, &value));
    return give(size, size_t{0});
  });
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnDeriveBNTensorDescriptor(cudnnTensorDescriptor_t derivedBnDesc,
                                            const cudnnTensorDescriptor_t xDesc,
                                            cudnnBatchNormMode_t mode) {
  return call([&]() -> cudnnStatus_t {
    bool is_per_activation = false;
    LIB_TRY(check_mode(mode, &is_per_activation));
    return derive(derivedBnDesc, xDesc, is_per_activation);
  });
}
cudnnStatus_t cudnnDeriveNormTensorDescriptor(cudnnTensorDescriptor_t derivedNormScaleBiasDesc,
                                              cudnnTensorDescriptor_t derivedNormMeanVarDesc,
                                              const cudnnTensorDescriptor_t xDesc,
                                              cudnnNormMode_t mode, int groupCnt) {
  return call([&]() -> cudnnStatus_t {
    bool is_per_activation = false;
    LIB_TRY(check_groups(groupCnt));
    LIB_TRY(check_mode(mode, &is_per_activation));
    LIB_TRY(derive(derivedNormScaleBiasDesc, xDesc, is_per_activation));
    return derive(derivedNormMeanVarDesc, xDesc, is_per_activation);
  });
}

cudnnStatus_t cudnnBatchNormalizationForwardInference(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha, const void* beta,
    const cudnnTensorDescriptor_t xDesc, const void* x, const cudnnTensorDescriptor_t yDesc,
    void* y, const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void* bnScale,
    const void* bnBias, const void* estimatedMean, const void* estimatedVariance, double epsilon) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    bool is_per_activation = false;
    LIB_TRY(check_mode(mode, &is_per_activation));
    return infer(
        h,
        {is_per_activation, alpha, beta, xDesc, x, yDesc, y, bnScaleBiasMeanVarDesc,
         bnScaleBiasMeanVarDesc, bnScale, bnBias, estimatedMean, estimatedVariance, epsilon},
        {});
  });
}

cudnnStatus_t cudnnBatchNormalizationForwardTraining(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha, const void* beta,
    const cudnnTensorDescriptor_t xDesc, const void* x, const cudnnTensorDescriptor_t yDesc,
    void* y, const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void* bnScale,
    const void* bnBias, double exponentialAverageFactor, void* resultRunningMean,
    void* resultRunningVariance, double epsilon, void* resultSaveMean,
    void* resultSaveInvVariance) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    bool is_per_activation = false;
    LIB_TRY(check_mode(mode, &is_per_activation));
    return train(
        h,
        {is_per_activation, alpha, beta, xDesc, x, yDesc, y, bnScaleBiasMeanVarDesc,
         bnScaleBiasMeanVarDesc, bnScale, bnBias, exponentialAverageFactor, resultRunningMean,
         resultRunningVariance, epsilon, resultSaveMean, resultSaveInvVariance},
        {});
  });
}

cudnnStatus_t cudnnBatchNormalizationForwardTrainingEx(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps, const void* alpha,
    const void* beta, const cudnnTensorDescriptor_t xDesc, const void* xData,
    const cudnnTensorDescriptor_t zDesc, const void* zData, const cudnnTensorDescriptor_t yDesc,
    void* yData, const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void* bnScale,
    const void* bnBias, double exponentialAverageFactor, void* resultRunningMean,
    void* resultRunningVariance, double epsilon, void* resultSaveMean, void* resultSaveInvVariance,
    cudnnActivationDescriptor_t activationDesc, void*, size_t, void*, size_t) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    bool is_per_activation = false;
    LIB_TRY(check_mode(mode, &is_per_activation));
    return train(
        h,
        {is_per_activation, alpha, beta, xDesc, xData, yDesc, yData, bnScaleBiasMeanVarDesc,
         bnScaleBiasMeanVarDesc, bnScale, bnBias, exponentialAverageFactor, resultRunningMean,
         resultRunningVariance, epsilon, resultSaveMean, resultSaveInvVariance},
        {bnOps, zDesc, zData, activationDesc});
  });
}

cudnnStatus_t cudnnBatchNormalizationBackward(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alphaDataDiff,
    const void* betaDataDiff, const void* alphaParamDiff, const void* betaParamDiff,
    const cudnnTensorDescriptor_t xDesc, const void* x, const cudnnTensorDescriptor_t dyDesc,
    const void* dy, const cudnnTensorDescriptor_t dxDesc, void* dx,
    const cudnnTensorDescriptor_t dBnScaleBiasDesc, const void* bnScale, void* dBnScaleResult,
    void* dBnBiasResult, double epsilon, const void* savedMean, const void* savedInvVariance) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    bool is_per_activation = false;
    LIB_TRY(check_mode(mode, &is_per_activation));
    return go_back(h, {is_per_activation,
                       0,
                       alphaDataDiff,
                       betaDataDiff,
                       alphaParamDiff,
                       betaParamDiff,
                       xDesc,
                       x,
                       nullptr,
                       nullptr,
                       dyDesc,
                       dy,
                       nullptr,
                       nullptr,
                       dxDesc,
                       dx,
                       dBnScaleBiasDesc,
                       dBnScaleBiasDesc,
                       bnScale,
                       dBnScaleResult,
                       dBnBiasResult,
                       epsilon,
                       savedMean,
                       savedInvVariance,
                       nullptr});
  });
}

cudnnStatus_t cudnnBatchNormalizationBackwardEx(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps,
    const void* alphaDataDiff, const void* betaDataDiff, const void* alphaParamDiff,
    const void* betaParamDiff, const cudnnTensorDescriptor_t xDesc, const void* xData,
    const cudnnTensorDescriptor_t yDesc, const void* yData, const cudnnTensorDescriptor_t dyDesc,
    const void* dyData, const cudnnTensorDescriptor_t dzDesc, void* dzData,
    const cudnnTensorDescriptor_t dxDesc, void* dxData,
    const cudnnTensorDescriptor_t dBnScaleBiasDesc, const void* bnScaleData, const void*,
    void* dBnScaleData, void* dBnBiasData, double epsilon, const void* savedMean,
    const void* savedInvVariance, cudnnActivationDescriptor_t activationDesc, void*, size_t, void*,
    size_t) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    bool is_per_activation = false;
    LIB_TRY(check_mode(mode, &is_per_activation));
    return go_back(h, {is_per_activation,
                       bnOps,
                       alphaDataDiff,
                       betaDataDiff,
                       alphaParamDiff,
                       betaParamDiff,
                       xDesc,
                       xData,
                       yDesc,
                       yData,
                       dyDesc,
                       dyData,
                       dzDesc,
                       dzData,
                       dxDesc,
                       dxData,
                       dBnScaleBiasDesc,
                       dBnScaleBiasDesc,
                       bnScaleData,
                       dBnScaleData,
                       dBnBiasData,
                       epsilon,
                       savedMean,
                       savedInvVariance,
                       activationDesc});
  });
}

cudnnStatus_t cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    cudnnHandle_t handle, cudnnBatchNormMode_t, cudnnBatchNormOps_t,
    const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t, const cudnnActivationDescriptor_t,
    size_t* sizeInBytes) {
  return give_no_size(handle, xDesc, sizeInBytes);
}
cudnnStatus_t cudnnGetBatchNormalizationBackwardExWorkspaceSize(
    cudnnHandle_t handle, cudnnBatchNormMode_t, cudnnBatchNormOps_t,
    const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t, const cudnnActivationDescriptor_t, size_t* sizeInBytes) {
  return give_no_size(handle, xDesc, sizeInBytes);
}
cudnnStatus_t cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
    cudnnHandle_t handle, cudnnBatchNormMode_t, cudnnBatchNormOps_t,
    const cudnnActivationDescriptor_t, const cudnnTensorDescriptor_t xDesc, size_t* sizeInBytes) {
  return give_no_size(handle, xDesc, sizeInBytes);
}

cudnnStatus_t cudnnGetNormalizationForwardTrainingWorkspaceSize(
    cudnnHandle_t handle, cudnnNormMode_t, cudnnNormOps_t, cudnnNormAlgo_t,
    const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t, const cudnnActivationDescriptor_t,
    const cudnnTensorDescriptor_t, size_t* sizeInBytes, int) {
  return give_no_size(handle, xDesc, sizeInBytes);
}
cudnnStatus_t cudnnGetNormalizationBackwardWorkspaceSize(
    cudnnHandle_t handle, cudnnNormMode_t, cudnnNormOps_t, cudnnNormAlgo_t,
    const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t, const cudnnActivationDescriptor_t, const cudnnTensorDescriptor_t,
    size_t* sizeInBytes, int) {
  return give_no_size(handle, xDesc, sizeInBytes);
}
cudnnStatus_t cudnnGetNormalizationTrainingReserveSpaceSize(cudnnHandle_t handle, cudnnNormMode_t,
                                                            cudnnNormOps_t, cudnnNormAlgo_t,
                                                            const cudnnActivationDescriptor_t,
                                                            const cudnnTensorDescriptor_t xDesc,
                                                            size_t* sizeInBytes, int) {
  return give_no_size(handle, xDesc, sizeInBytes);
}

cudnnStatus_t cudnnNormalizationForwardInference(
    cudnnHandle_t handle, cudnnNormMode_t mode, cudnnNormOps_t normOps, cudnnNormAlgo_t,
    const void* alpha, const void* beta, const cudnnTensorDescriptor_t xDesc, const void* x,
    const cudnnTensorDescriptor_t normScaleBiasDesc, const void* normScale, const void* normBias,
    const cudnnTensorDescriptor_t normMeanVarDesc, const void* estimatedMean,
    const void* estimatedVariance, const cudnnTensorDescriptor_t zDesc, const void* z,
    cudnnActivationDescriptor_t activationDesc, const cudnnTensorDescriptor_t yDesc, void* y,
    double epsilon, int groupCnt) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    bool is_per_activation = false;
    LIB_TRY(check_groups(groupCnt));
    LIB_TRY(check_mode(mode, &is_per_activation));
    return infer(h,
                 {is_per_activation, alpha, beta, xDesc, x, yDesc, y, normScaleBiasDesc,
                  normMeanVarDesc, normScale, normBias, estimatedMean, estimatedVariance, epsilon},
                 {normOps, zDesc, z, activationDesc});
  });
}

cudnnStatus_t cudnnNormalizationForwardTraining(
    cudnnHandle_t handle, cudnnNormMode_t mode, cudnnNormOps_t normOps, cudnnNormAlgo_t,
    const void* alpha, const void* beta, const cudnnTensorDescriptor_t xDesc, const void* xData,
    const cudnnTensorDescriptor_t normScaleBiasDesc, const void* normScale, const void* normBias,
    double exponentialAverageFactor, const cudnnTensorDescriptor_t normMeanVarDesc,
    void* resultRunningMean, void* resultRunningVariance, double epsilon, void* resultSaveMean,
    void* resultSaveInvVariance, cudnnActivationDescriptor_t activationDesc,
    const cudnnTensorDescriptor_t zDesc, const void* zData, const cudnnTensorDescriptor_t yDesc,
    void* yData, void*, size_t, void*, size_t, int groupCnt) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    bool is_per_activation = false;
    LIB_TRY(check_groups(groupCnt));
    LIB_TRY(check_mode(mode, &is_per_activation));
    return train(h,
                 {is_per_activation, alpha, beta, xDesc, xData, yDesc, yData, normScaleBiasDesc,
                  normMeanVarDesc, normScale, normBias, exponentialAverageFactor, resultRunningMean,
                  resultRunningVariance, epsilon, resultSaveMean, resultSaveInvVariance},
                 {normOps, zDesc, zData, activationDesc});
  });
}

cudnnStatus_t cudnnNormalizationBackward(
    cudnnHandle_t handle, cudnnNormMode_t mode, cudnnNormOps_t normOps, cudnnNormAlgo_t,
    const void* alphaDataDiff, const void* betaDataDiff, const void* alphaParamDiff,
    const void* betaParamDiff, const cudnnTensorDescriptor_t xDesc, const void* xData,
    const cudnnTensorDescriptor_t yDesc, const void* yData, const cudnnTensorDescriptor_t dyDesc,
    const void* dyData, const cudnnTensorDescriptor_t dzDesc, void* dzData,
    const cudnnTensorDescriptor_t dxDesc, void* dxData,
    const cudnnTensorDescriptor_t dNormScaleBiasDesc, const void* normScaleData, const void*,
    void* dNormScaleData, void* dNormBiasData, double epsilon,
    const cudnnTensorDescriptor_t normMeanVarDesc, const void* savedMean,
    const void* savedInvVariance, cudnnActivationDescriptor_t activationDesc, void*, size_t, void*,
    size_t, int groupCnt) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    bool is_per_activation = false;
    LIB_TRY(check_groups(groupCnt));
    LIB_TRY(check_mode(mode, &is_per_activation));
    return go_back(h, {is_per_activation,
                       normOps,
                       alphaDataDiff,
                       betaDataDiff,
                       alphaParamDiff,
                       betaParamDiff,
                       xDesc,
                       xData,
                       yDesc,
                       yData,
                       dyDesc,
                       dyData,
                       dzDesc,
                       dzData,
                       dxDesc,
                       dxData,
                       dNormScaleBiasDesc,
                       normMeanVarDesc,
                       normScaleData,
                       dNormScaleData,
                       dNormBiasData,
                       epsilon,
                       savedMean,
                       savedInvVariance,
                       activationDesc});
  });
}

}  // extern "C"
}  // namespace km::cudnn
