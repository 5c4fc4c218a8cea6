// The loss of connectionist temporal classification.
#include <numeric>

#include "dropin/cudnn/descriptors/descriptors.h"
#include "dropin/cudnn/sequence/ctc.h"

namespace km::cudnn {
namespace {

cudnnStatus_t set_ctc(cudnnCTCLossDescriptor_t descriptor, const CtcLossValue& value) {
  if (value.compute != CUDNN_DATA_FLOAT) return invalid("the type %d", value.compute);
  if (value.norm != CUDNN_LOSS_NORMALIZATION_NONE &&
      value.norm != CUDNN_LOSS_NORMALIZATION_SOFTMAX) {
    return invalid("the normalization %d", value.norm);
  }
  if (value.most_labels < 0) return invalid("%d labels", value.most_labels);
  return CtcLosses::update(descriptor, [&](CtcLossValue& to) { to = value; });
}

cudnnStatus_t take_tensors(cudnnCTCLossDescriptor_t descriptor, cudnnTensorDescriptor_t probs_desc,
                           const void* probs, cudnnTensorDescriptor_t gradients_desc,
                           void* gradients, void* costs, CtcCall* out, CtcLossValue* value) {
  LIB_TRY(CtcLosses::read(descriptor, value));
  LIB_TRY(view_of(probs_desc, probs, &out->activations));
  if (out->activations.rank != 3) return invalid("probs of %d dimensions", out->activations.rank);
  if (gradients != nullptr) {
    LIB_TRY(view_of(gradients_desc, gradients, &out->gradients));
    if (!out->gradients.has_dims(out->activations)) return invalid("gradients of other extents");
  }
  LIB_REQUIRE(costs);
  out->costs = costs;
  out->is_normalized = value->norm == CUDNN_LOSS_NORMALIZATION_SOFTMAX;
  out->keeps_padding = value->grad == CUDNN_CTC_SKIP_OOB_GRADIENTS;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t take_labels(const int* labels, const int* label_lengths, const int* input_lengths,
                          CtcCall* out) {
  const auto batch = static_cast<size_t>(out->activations.dims[1]);
  out->label_lengths.resize(batch);
  out->input_lengths.resize(batch);
  LIB_TRY(take(label_lengths, batch, out->label_lengths.data(), "labelLengths"));
  LIB_TRY(take(input_lengths, batch, out->input_lengths.data(), "inputLengths"));
  constexpr int kMostLabels = 1 << 20;
  size_t count = 0;
  for (size_t i = 0; i < batch; ++i) {
    const int own = out->label_lengths[i], steps = out->input_lengths[i];
    if (own < 0 || own > kMostLabels || steps < 0 || steps > out->activations.dims[0]) {
      return invalid("%d labels and %d steps", own, steps);
    }
    count += static_cast<size_t>(own);
  }
  out->labels.resize(count);
  if (count > 0) LIB_TRY(take(labels, count, out->labels.data(), "labels"));
  for (const int label : out->labels) {
    if (label < 1 || label >= out->activations.dims[2]) return invalid("the label %d", label);
  }
  out->most_labels = kMostLabels;
  return CUDNN_STATUS_SUCCESS;
}

/// The labels' count is in device memory, too: their allocation bounds it.
cudnnStatus_t find_label_room(const Driver& driver, CtcCall* call) {
  cu::CUdeviceptr base = 0;
  size_t size_bytes = 0;
  const auto address = reinterpret_cast<uint64_t>(call->device_labels);
  if (driver.cuMemGetAddressRange_v2(&base, &size_bytes, address) != cu::CUDA_SUCCESS) {
    return invalid("labels is %p, which is not device memory",
                   static_cast<const void*>(call->device_labels));
  }
  call->label_room = static_cast<int64_t>((base + size_bytes - address) / sizeof(int));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t give_no_workspace(cudnnHandle_t handle, cudnnCTCLossDescriptor_t descriptor,
                                cudnnTensorDescriptor_t probs, size_t* size) {
  return call(handle, [&](Handle&) -> cudnnStatus_t {
    CtcLossValue value;
    TensorValue tensor;
    LIB_TRY(CtcLosses::read(descriptor, &value));
    LIB_TRY(Tensors::read(probs, &tensor));
    return give(size, size_t{0});
  });
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnCreateCTCLossDescriptor(cudnnCTCLossDescriptor_t* ctcLossDesc) {
  return call([&] { return CtcLosses::create(ctcLossDesc); });
}
cudnnStatus_t cudnnDestroyCTCLossDescriptor(cudnnCTCLossDescriptor_t ctcLossDesc) {
  return call([&] { return CtcLosses::destroy(ctcLossDesc); });
}
cudnnStatus_t cudnnSetCTCLossDescriptor(cudnnCTCLossDescriptor_t ctcLossDesc,
                                        cudnnDataType_t compType) {
  return call([&] {
    return set_ctc(ctcLossDesc,
                   {compType, CUDNN_LOSS_NORMALIZATION_NONE, CUDNN_CTC_ZERO_OOB_GRADIENTS, 0});
  });
}
cudnnStatus_t cudnnSetCTCLossDescriptorEx(cudnnCTCLossDescriptor_t ctcLossDesc,
                                          cudnnDataType_t compType,
                                          cudnnLossNormalizationMode_t normMode,
                                          cudnnNanPropagation_t gradMode) {
  return call([&] {
    return set_ctc(ctcLossDesc, {compType, normMode, static_cast<cudnnCTCGradMode_t>(gradMode), 0});
  });
}
cudnnStatus_t cudnnSetCTCLossDescriptor_v8(cudnnCTCLossDescriptor_t ctcLossDesc,
                                           cudnnDataType_t compType,
                                           cudnnLossNormalizationMode_t normMode,
                                           cudnnNanPropagation_t gradMode, int maxLabelLength) {
  return call([&] {
    return set_ctc(ctcLossDesc,
                   {compType, normMode, static_cast<cudnnCTCGradMode_t>(gradMode), maxLabelLength});
  });
}
cudnnStatus_t cudnnSetCTCLossDescriptor_v9(cudnnCTCLossDescriptor_t ctcLossDesc,
                                           cudnnDataType_t compType,
                                           cudnnLossNormalizationMode_t normMode,
                                           cudnnCTCGradMode_t ctcGradMode, int maxLabelLength) {
  return call(
      [&] { return set_ctc(ctcLossDesc, {compType, normMode, ctcGradMode, maxLabelLength}); });
}
cudnnStatus_t cudnnGetCTCLossDescriptor_v9(cudnnCTCLossDescriptor_t ctcLossDesc,
                                           cudnnDataType_t* compType,
                                           cudnnLossNormalizationMode_t* normMode,
                                           cudnnCTCGradMode_t* ctcGradMode, int* maxLabelLength) {
  return call([&]() -> cudnnStatus_t {
    CtcLossValue value;
    LIB_TRY(CtcLosses::read(ctcLossDesc, &value));
    LIB_TRY(give(compType, value.compute));
    LIB_TRY(give_if_asked(normMode, value.norm));
    LIB_TRY(give_if_asked(ctcGradMode, value.grad));
    return give_if_asked(maxLabelLength, static_cast<int>(value.most_labels));
  });
}
cudnnStatus_t cudnnGetCTCLossDescriptor_v8(cudnnCTCLossDescriptor_t ctcLossDesc,
                                           cudnnDataType_t* compType,
                                           cudnnLossNormalizationMode_t* normMode,
                                           cudnnNanPropagation_t* gradMode, int* maxLabelLength) {
  return cudnnGetCTCLossDescriptor_v9(ctcLossDesc, compType, normMode,
                                      reinterpret_cast<cudnnCTCGradMode_t*>(gradMode),
                                      maxLabelLength);
}
cudnnStatus_t cudnnGetCTCLossDescriptorEx(cudnnCTCLossDescriptor_t ctcLossDesc,
                                          cudnnDataType_t* compType,
                                          cudnnLossNormalizationMode_t* normMode,
                                          cudnnNanPropagation_t* gradMode) {
  return cudnnGetCTCLossDescriptor_v8(ctcLossDesc, compType, normMode, gradMode, nullptr);
}
cudnnStatus_t cudnnGetCTCLossDescriptor(cudnnCTCLossDescriptor_t ctcLossDesc,
                                        cudnnDataType_t* compType) {
  return cudnnGetCTCLossDescriptor_v9(ctcLossDesc, compType, nullptr, nullptr, nullptr);
}

cudnnStatus_t cudnnGetCTCLossWorkspaceSize(cudnnHandle_t handle,
                                           const cudnnTensorDescriptor_t probsDesc,
                                           const cudnnTensorDescriptor_t, const int*, const int*,
                                           const int*, cudnnCTCLossAlgo_t,
                                           cudnnCTCLossDescriptor_t ctcLossDesc,
                                           size_t* sizeInBytes) {
  return give_no_workspace(handle, ctcLossDesc, probsDesc, sizeInBytes);
}
cudnnStatus_t cudnnGetCTCLossWorkspaceSize_v8(cudnnHandle_t handle, cudnnCTCLossAlgo_t,
                                              cudnnCTCLossDescriptor_t ctcLossDesc,
                                              const cudnnTensorDescriptor_t probsDesc,
                                              const cudnnTensorDescriptor_t, size_t* sizeInBytes) {
  return give_no_workspace(handle, ctcLossDesc, probsDesc, sizeInBytes);
}

cudnnStatus_t cudnnCTCLoss(cudnnHandle_t handle, const cudnnTensorDescriptor_t probsDesc,
                           const void* probs, const int* hostLabels, const int* hostLabelLengths,
                           const int* hostInputLengths, void* costs,
                           const cudnnTensorDescriptor_t gradientsDesc, void* gradients,
                           cudnnCTCLossAlgo_t, cudnnCTCLossDescriptor_t ctcLossDesc, void*,
                           size_t) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    CtcCall c;
    CtcLossValue value;
    LIB_TRY(
        take_tensors(ctcLossDesc, probsDesc, probs, gradientsDesc, gradients, costs, &c, &value));
    LIB_TRY(take_labels(hostLabels, hostLabelLengths, hostInputLengths, &c));
    return ctc_loss(h.stream, c);
  });
}
cudnnStatus_t cudnnCTCLoss_v8(cudnnHandle_t handle, cudnnCTCLossAlgo_t,
                              cudnnCTCLossDescriptor_t ctcLossDesc,
                              const cudnnTensorDescriptor_t probsDesc, const void* probs,
                              const int* labels, const int* labelLengths, const int* inputLengths,
                              void* costs, const cudnnTensorDescriptor_t gradientsDesc,
                              void* gradients, size_t, void*) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    CtcCall c;
    CtcLossValue value;
    LIB_TRY(
        take_tensors(ctcLossDesc, probsDesc, probs, gradientsDesc, gradients, costs, &c, &value));
    LIB_REQUIRE(labels);
    LIB_REQUIRE(labelLengths);
    LIB_REQUIRE(inputLengths);
    c.device_labels = labels;
    c.device_label_lengths = labelLengths;
    c.device_input_lengths = inputLengths;
    c.most_labels = value.most_labels;
    LIB_TRY(find_label_room(*h.driver, &c));
    return ctc_loss(h.stream, c);
  });
}

}  // extern "C"
}  // namespace km::cudnn
