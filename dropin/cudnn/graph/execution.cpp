#include <algorithm>
#include <cstring>

#include "dropin/cudnn/engine/layout/ragged.h"
#include "dropin/cudnn/graph/operation.h"

namespace km::cudnn {
namespace {

/// A view of a copy of a value that the host has.
View copied(const Shape& shape, const void* bytes, size_t size) {
  auto room = std::make_shared<std::vector<std::byte>>(size);
  std::memcpy(room->data(), bytes, size);
  View found(shape, room->data());
  found.owner = std::move(room);
  return found;
}

}  // namespace

cudnnStatus_t Execution::lend(const Plan& inner, Execution* to) const {
  for (const auto& [id, info] : inner.tensors) {
    const auto found = addresses_.find(id);
    if (info.is_virtual || found == addresses_.end()) continue;
    const auto value = lent_values_->find(id);
    if (value != lent_values_->end()) {
      to->bound_[id] = value->second;
      continue;
    }
    LIB_TRY(to->bind(id, found->second));
    if (info.is_by_value) (*lent_values_)[id] = to->bound_[id];
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t run_plan(Execution& execution, const Plan& plan) {
  for (const PlannedOperation& each : plan.operations) {
    LIB_TRY(execution.copy_ragged(*each.descriptor, true));
    LIB_TRY(find_operation(each.descriptor->type)->run(execution, *each.descriptor));
    LIB_TRY(execution.copy_ragged(*each.descriptor, false));
    ++execution.current;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t Execution::bind(int64_t id, void* address) {
  addresses_[id] = address;
  const auto found = plan_.tensors.find(id);
  if (found == plan_.tensors.end()) return CUDNN_STATUS_SUCCESS;  // programs may pass further ones
  const TensorInfo& info = found->second;
  if (info.is_by_value) {
    std::vector<std::byte> room(static_cast<size_t>(info.shape.span_bytes()));
    if (address == nullptr || !library::read_host(room.data(), address, room.size())) {
      return invalid("the value of tensor %lld cannot be read at %p", static_cast<long long>(id),
                     address);
    }
    bound_[id] = copied(info.shape, room.data(), room.size());
    return CUDNN_STATUS_SUCCESS;
  }
  bound_[id] = View(info.shape, address);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t Execution::view_of_tensor(const Descriptor& tensor, View* out) const {
  const int64_t id = tensor.integer(CUDNN_ATTR_TENSOR_UNIQUE_ID);
  TensorInfo info;  // two descriptors of one tensor may differ in their extents
  LIB_TRY(read_tensor(tensor, &info));
  if (info.is_virtual) {
    *out = own_view(info.shape, workspace_ + plan_.offsets.at(id));
    return CUDNN_STATUS_SUCCESS;
  }
  if (!info.constant.empty()) {
    *out = copied(info.shape, info.constant.data(), info.constant.size());
    return CUDNN_STATUS_SUCCESS;
  }
  if (info.offsets == nullptr) return bound_view(info, out);
  const Shape& shape = info.shape;
  *out = own_view(dense_shape(shape.type, shape.rank, shape.dims.data()),
                  workspace_ + plan_.offsets.at(id));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t Execution::bound_view(const TensorInfo& info, View* out) const {
  const auto found = bound_.find(info.id);
  if (found == bound_.end() || found->second.data == nullptr) {
    return invalid("the variant pack has no memory for tensor %lld",
                   static_cast<long long>(info.id));
  }
  *out = found->second;
  static_cast<Shape&>(*out) = info.shape;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t Execution::copy_ragged_tensor(const Descriptor& tensor, bool is_read) const {
  TensorInfo info;
  LIB_TRY(read_tensor(tensor, &info));
  if (info.offsets == nullptr) return CUDNN_STATUS_SUCCESS;
  View dense;
  RaggedTensor ragged;
  ragged.multiplier = info.multiplier;
  LIB_TRY(view_of_tensor(tensor, &dense));
  LIB_TRY(bound_view(info, &ragged.elements));
  LIB_TRY(view_of_tensor(*info.offsets, &ragged.offsets));
  return is_read ? unpack_ragged(stream, ragged, dense) : pack_ragged(stream, dense, ragged);
}

cudnnStatus_t Execution::copy_ragged(const Descriptor& operation, bool is_read) const {
  const std::vector<cudnnBackendAttributeName_t>& outputs = find_operation(operation.type)->outputs;
  for (const auto& [name, value] : operation.attributes) {
    const bool is_output = std::find(outputs.begin(), outputs.end(), name) != outputs.end();
    for (const DescriptorPointer& each : value.descriptors) {
      if (each->type == CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR) {
        LIB_TRY(copy_ragged(*each, is_read));
      }
      if (each->type != CUDNN_BACKEND_TENSOR_DESCRIPTOR || is_output == is_read) continue;
      LIB_TRY(copy_ragged_tensor(*each, is_read));
    }
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t Execution::view(const Descriptor& operation, cudnnBackendAttributeName_t name,
                              View* out) const {
  const Descriptor* const tensor = operation.descriptor(name);
  *out = View();
  return tensor == nullptr ? CUDNN_STATUS_SUCCESS : view_of_tensor(*tensor, out);
}

cudnnStatus_t Execution::scalar(const Descriptor& operation, cudnnBackendAttributeName_t name,
                                Scalar* out, double otherwise) const {
  out->value = operation.number(name, otherwise);
  const Descriptor* const tensor = operation.descriptor(name);
  if (tensor == nullptr) return CUDNN_STATUS_SUCCESS;
  return view_of_tensor(*tensor, &out->view);
}

namespace {

/// All operations.
const std::vector<OperationKind> kinds{
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
     run_convolution,
     {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y}},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     run_convolution,
     {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX}},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     run_convolution,
     {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW}},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
     run_pointwise,
     {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, CUDNN_ATTR_OPERATION_POINTWISE_DXDESC},
     nullptr,
     pointwise_problem},
    {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, run_matmul, {CUDNN_ATTR_OPERATION_MATMUL_CDESC}},
    {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
     run_reduction,
     {CUDNN_ATTR_OPERATION_REDUCTION_YDESC},
     nullptr,
     reduction_problem},
    {CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR,
     run_statistics,
     {CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC}},
    {CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR,
     run_resample,
     {CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC}},
    {CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR,
     run_resample_backward,
     {CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC}},
    {CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR,
     run_norm,
     {CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC,
      CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC,
      CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC, CUDNN_ATTR_OPERATION_NORM_FWD_YDESC},
     nullptr,
     norm_problem},
    {CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR,
     run_norm_backward,
     {CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC,
      CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC},
     nullptr,
     norm_problem},
    {CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR,
     run_bn_finalize,
     {CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_MEAN_DESC,
      CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_VAR_DESC,
      CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_MEAN_DESC,
      CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_INV_STD_DESC,
      CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_SCALE_DESC,
      CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_BIAS_DESC}},
    {CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR,
     run_bn_weights,
     {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC,
      CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC,
      CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC,
      CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC,
      CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS}},
    {CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, run_reshape, {CUDNN_ATTR_OPERATION_RESHAPE_YDESC}},
    {CUDNN_BACKEND_OPERATION_TRANSPOSE_DESCRIPTOR,
     run_transpose,
     {CUDNN_ATTR_OPERATION_TRANSPOSE_YDESC}},
    {CUDNN_BACKEND_OPERATION_SLICE_DESCRIPTOR, run_slice, {CUDNN_ATTR_OPERATION_SLICE_YDESC}},
    {CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR,
     run_concat,
     {CUDNN_ATTR_OPERATION_CONCAT_OUTPUT_DESC}},
    {CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR, run_rng, {CUDNN_ATTR_OPERATION_RNG_YDESC}},
    {CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR,
     run_softmax,
     {CUDNN_ATTR_OPERATION_SOFTMAX_YDESC, CUDNN_ATTR_OPERATION_SOFTMAX_STATS_DESC,
      CUDNN_ATTR_OPERATION_SOFTMAX_MAX_DESC, CUDNN_ATTR_OPERATION_SOFTMAX_SUM_EXP_DESC},
     nullptr,
     softmax_problem},
    {CUDNN_BACKEND_OPERATION_PAGED_CACHE_LOAD_DESCRIPTOR,
     run_page_load,
     {CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_YDESC},
     nullptr,
     page_load_problem},
    {CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR,
     run_band_mask,
     {CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_YDESC},
     nullptr,
     band_mask_problem},
    {CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR,
     run_attention,
     {CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC},
     attention_scratch,
     attention_problem},
    {CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR,
     run_attention_backward,
     {CUDNN_ATTR_OPERATION_SDPA_BWD_DQDESC, CUDNN_ATTR_OPERATION_SDPA_BWD_DKDESC,
      CUDNN_ATTR_OPERATION_SDPA_BWD_DVDESC, CUDNN_ATTR_OPERATION_SDPA_BWD_DBIAS_DESC},
     attention_backward_scratch,
     attention_backward_problem},
};

}  // namespace

const OperationKind* find_operation(cudnnBackendDescriptorType_t type) {
  for (const OperationKind& each : kinds) {
    if (each.type == type) return &each;
  }
  return nullptr;
}

}  // namespace km::cudnn
