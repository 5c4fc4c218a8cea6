#include "dropin/cudnn/graph/finalize.h"

#include <algorithm>

#include "dropin/cudnn/graph/plan.h"

namespace km::cudnn {
namespace {

/// Attributes that a type of descriptors needs.
struct Requirement {
  cudnnBackendDescriptorType_t type;
  std::vector<cudnnBackendAttributeName_t> names;
};
const std::vector<Requirement> requirements{
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR,
     {CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_ATTR_TENSOR_DIMENSIONS,
      CUDNN_ATTR_TENSOR_STRIDES}},
    {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, {CUDNN_ATTR_POINTWISE_MODE}},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
     {CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_ATTR_CONVOLUTION_COMP_TYPE,
      CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_ATTR_CONVOLUTION_DILATIONS,
      CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
      CUDNN_ATTR_CONVOLUTION_POST_PADDINGS}},
    {CUDNN_BACKEND_REDUCTION_DESCRIPTOR, {CUDNN_ATTR_REDUCTION_OPERATOR}},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y}},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY}},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY}},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, {CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR}},
    {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_ATTR_OPERATION_MATMUL_BDESC,
      CUDNN_ATTR_OPERATION_MATMUL_CDESC}},
    {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_REDUCTION_XDESC, CUDNN_ATTR_OPERATION_REDUCTION_YDESC}},
    {CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_GENSTATS_XDESC, CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC,
      CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC}},
    {CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC,
      CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC}},
    {CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC,
      CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC}},
    {CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_ATTR_OPERATION_NORM_FWD_XDESC,
      CUDNN_ATTR_OPERATION_NORM_FWD_YDESC}},
    {CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_NORM_BWD_MODE, CUDNN_ATTR_OPERATION_NORM_BWD_XDESC,
      CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC}},
    {CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_BN_FINALIZE_STATS_MODE}},
    {CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC,
      CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC}},
    {CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_RESHAPE_XDESC, CUDNN_ATTR_OPERATION_RESHAPE_YDESC}},
    {CUDNN_BACKEND_OPERATION_TRANSPOSE_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_TRANSPOSE_XDESC, CUDNN_ATTR_OPERATION_TRANSPOSE_YDESC,
      CUDNN_ATTR_OPERATION_TRANSPOSE_PERMUTATION}},
    {CUDNN_BACKEND_OPERATION_SLICE_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_SLICE_XDESC, CUDNN_ATTR_OPERATION_SLICE_YDESC}},
    {CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_CONCAT_AXIS, CUDNN_ATTR_OPERATION_CONCAT_INPUT_DESCS,
      CUDNN_ATTR_OPERATION_CONCAT_OUTPUT_DESC}},
    {CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_RNG_YDESC, CUDNN_ATTR_OPERATION_RNG_DESC}},
    {CUDNN_BACKEND_OPERATION_PAGED_CACHE_LOAD_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_CONTAINER_DESC,
      CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_PAGE_TABLE_DESC,
      CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_YDESC}},
    {CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_XDESC,
      CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_YDESC}},
    {CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC,
      CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC}},
    {CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR,
     {CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC, CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC,
      CUDNN_ATTR_OPERATION_SDPA_BWD_VDESC, CUDNN_ATTR_OPERATION_SDPA_BWD_ODESC,
      CUDNN_ATTR_OPERATION_SDPA_BWD_STATSDESC, CUDNN_ATTR_OPERATION_SDPA_BWD_DODDESC,
      CUDNN_ATTR_OPERATION_SDPA_BWD_DQDESC, CUDNN_ATTR_OPERATION_SDPA_BWD_DKDESC,
      CUDNN_ATTR_OPERATION_SDPA_BWD_DVDESC}},
    {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, {CUDNN_ATTR_OPERATIONGRAPH_OPS}},
    {CUDNN_BACKEND_ENGINE_DESCRIPTOR, {CUDNN_ATTR_ENGINE_OPERATION_GRAPH}},
    {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, {CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH}},
    {CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, {CUDNN_ATTR_ENGINECFG_ENGINE}},
    {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, {CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG}},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, {CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS}},
};

bool is_descriptor_attribute(cudnnBackendAttributeName_t name) {
  switch (name) {
    case CUDNN_ATTR_ENGINE_OPERATION_GRAPH:
    case CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH:
    case CUDNN_ATTR_ENGINECFG_ENGINE:
    case CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG:
    case CUDNN_ATTR_OPERATIONGRAPH_OPS:
      return true;
    default:
      return false;
  }
}

cudnnStatus_t check_required(const Descriptor& descriptor) {
  for (const Requirement& each : requirements) {
    if (each.type != descriptor.type) continue;
    for (const cudnnBackendAttributeName_t name : each.names) {
      const AttributeValue* const value = descriptor.find(name);
      if (value == nullptr || (is_descriptor_attribute(name) && value->descriptors.empty())) {
        return invalid("attribute %d is missing", name);
      }
    }
  }
  // Tensors and settings of operations are descriptors.
  if (descriptor.type < CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR) {
    return CUDNN_STATUS_SUCCESS;
  }
  for (const Requirement& each : requirements) {
    if (each.type != descriptor.type || descriptor.type == CUDNN_BACKEND_TENSOR_DESCRIPTOR ||
        descriptor.type == CUDNN_BACKEND_REDUCTION_DESCRIPTOR ||
        descriptor.type == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR) {
      continue;
    }
    for (const cudnnBackendAttributeName_t name : each.names) {
      const bool is_number = name == CUDNN_ATTR_OPERATION_NORM_FWD_MODE ||
                             name == CUDNN_ATTR_OPERATION_NORM_BWD_MODE ||
                             name == CUDNN_ATTR_OPERATION_BN_FINALIZE_STATS_MODE ||
                             name == CUDNN_ATTR_OPERATION_CONCAT_AXIS ||
                             name == CUDNN_ATTR_OPERATION_TRANSPOSE_PERMUTATION;
      if (!is_number && descriptor.find(name)->descriptors.empty()) {
        return invalid("attribute %d is not a descriptor", name);
      }
    }
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t check_tensor(const Descriptor& tensor) {
  const std::vector<int64_t> dims = tensor.integers(CUDNN_ATTR_TENSOR_DIMENSIONS);
  const std::vector<int64_t> strides = tensor.integers(CUDNN_ATTR_TENSOR_STRIDES);
  if (dims.empty() || dims.size() > kMostDims || dims.size() != strides.size()) {
    return invalid("%zu extents and %zu strides", dims.size(), strides.size());
  }
  constexpr int64_t kMost = int64_t{1} << 40;
  int64_t count = 1, span = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 1 || dims[i] > kMost || strides[i] < 0 || strides[i] > kMost) {
      return invalid("extent %zu is %lld, with the stride %lld", i, static_cast<long long>(dims[i]),
                     static_cast<long long>(strides[i]));
    }
    if (dims[i] > kMost / count) return invalid("a tensor with too many elements");
    count *= dims[i];
    if (strides[i] != 0 && dims[i] - 1 > (kMost - span) / strides[i]) {
      return invalid("a tensor with too large strides");
    }
    span += (dims[i] - 1) * strides[i];
  }
  return CUDNN_STATUS_SUCCESS;
}

bool is_operation(cudnnBackendDescriptorType_t type) {
  switch (type) {
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
    case CUDNN_BACKEND_MATMUL_DESCRIPTOR:
    case CUDNN_BACKEND_REDUCTION_DESCRIPTOR:
    case CUDNN_BACKEND_RESAMPLE_DESCRIPTOR:
    case CUDNN_BACKEND_RNG_DESCRIPTOR:
    case CUDNN_BACKEND_KERNEL_CACHE_DESCRIPTOR:
    case CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR:
      return false;
    default:
      return type >= CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
  }
}

cudnnStatus_t check_graph(const Descriptor& graph) {
  for (const DescriptorPointer& each : graph.find(CUDNN_ATTR_OPERATIONGRAPH_OPS)->descriptors) {
    if (!is_operation(each->type)) return invalid("a descriptor of type %d in a graph", each->type);
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t check_engine(const Descriptor& engine) {
  if (engine.integer(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0) != 0) {
    return unsupported("there is one engine, with the index 0");
  }
  std::shared_ptr<const Plan> plan;
  return plan_of(*graph_of(engine), &plan);
}

cudnnStatus_t check_pack(const Descriptor& pack) {
  const size_t ids = pack.integers(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS).size();
  const size_t pointers = pack.integers(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).size();
  if (ids != pointers) return invalid("%zu ids and %zu pointers", ids, pointers);
  if (pack.has(CUDNN_ATTR_VARIANT_PACK_OVERRIDE_UNIQUE_IDS)) {
    return unsupported("shapes that override those of the graph");
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t check_type(Descriptor& descriptor) {
  switch (descriptor.type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
      return check_tensor(descriptor);
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      return check_graph(descriptor);
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
      return check_engine(descriptor);
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
      return check_pack(descriptor);
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR: {
      std::shared_ptr<const Plan> plan;
      return plan_of(*graph_of(descriptor), &plan);
    }
    default:
      return CUDNN_STATUS_SUCCESS;
  }
}

/// The type that a descriptor attribute must hold, for the chain from a plan to its graph.
cudnnStatus_t check_chain(const Descriptor& descriptor) {
  const std::pair<cudnnBackendAttributeName_t, cudnnBackendDescriptorType_t> links[] = {
      {CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR},
      {CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR},
      {CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR},
      {CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, CUDNN_BACKEND_POINTWISE_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_REDUCTION_DESC, CUDNN_BACKEND_REDUCTION_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_RNG_DESC, CUDNN_BACKEND_RNG_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_SDPA_BWD_SUBGRAPH, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_SDPA_FWD_SOFTMAX_DESC, CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC, CUDNN_BACKEND_RESAMPLE_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC, CUDNN_BACKEND_RESAMPLE_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_MATMUL_DESC, CUDNN_BACKEND_MATMUL_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR},
  };
  for (const auto& [name, value] : descriptor.attributes) {
    const auto link = std::find_if(std::begin(links), std::end(links),
                                   [&](const auto& each) { return each.first == name; });
    const bool is_plain_operation = is_operation(descriptor.type) && link == std::end(links) &&
                                    descriptor.type != CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR;
    for (const DescriptorPointer& each : value.descriptors) {
      const bool is_wrong =
          link != std::end(links)
              ? each->type != link->second
              : is_plain_operation && each->type != CUDNN_BACKEND_TENSOR_DESCRIPTOR;
      if (is_wrong) return invalid("attribute %d is a descriptor of type %d", name, each->type);
    }
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

DescriptorPointer graph_of(const Descriptor& descriptor) {
  const auto first = [&](cudnnBackendAttributeName_t name) -> DescriptorPointer {
    const AttributeValue* const value = descriptor.find(name);
    return value == nullptr || value->descriptors.empty() ? nullptr : value->descriptors[0];
  };
  switch (descriptor.type) {
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
      return first(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      return first(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
      return graph_of(*first(CUDNN_ATTR_ENGINECFG_ENGINE));
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      return graph_of(*first(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG));
    default:
      return nullptr;
  }
}

cudnnStatus_t plan_of(Descriptor& graph, std::shared_ptr<const Plan>* out) {
  const std::lock_guard lock(graph.mutex);
  if (graph.plan == nullptr) LIB_TRY(make_plan(graph, &graph.plan));
  *out = graph.plan;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalize(Descriptor& descriptor) {
  if (descriptor.is_final) return CUDNN_STATUS_SUCCESS;
  LIB_TRY(check_chain(descriptor));
  LIB_TRY(check_required(descriptor));
  LIB_TRY(check_type(descriptor));
  descriptor.is_final = true;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace km::cudnn
