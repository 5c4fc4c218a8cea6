#include "dropin/cudnn/graph/plan.h"

#include <algorithm>
#include <set>

#include "dropin/cudnn/graph/operation.h"

namespace km::cudnn {
namespace {

constexpr int64_t kAlignment = 256;

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

bool is_output(const OperationKind& kind, cudnnBackendAttributeName_t name) {
  return std::find(kind.outputs.begin(), kind.outputs.end(), name) != kind.outputs.end();
}

/// Adds a tensor, with its place if it is virtual.
cudnnStatus_t add_tensor(const Descriptor& tensor, Plan* plan, int64_t* id) {
  TensorInfo info;
  LIB_TRY(read_tensor(tensor, &info));
  *id = info.id;
  const auto found = plan->tensors.find(info.id);
  if (found != plan->tensors.end()) {
    if (found->second.is_virtual != info.is_virtual) {
      return invalid("two tensors have the id %lld", static_cast<long long>(info.id));
    }
    return CUDNN_STATUS_SUCCESS;
  }
  const bool is_ragged = info.offsets != nullptr;
  if (info.is_virtual || is_ragged) {
    const Shape& shape = info.shape;
    plan->offsets[info.id] = plan->workspace_bytes;
    plan->workspace_bytes +=
        aligned(is_ragged ? shape.count() * type_bytes(shape.type) : shape.span_bytes());
  }
  plan->tensors.emplace(info.id, std::move(info));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t add_tensors(const Descriptor& operation, const OperationKind& kind, Plan* plan,
                          PlannedOperation* out) {
  for (const auto& [name, value] : operation.attributes) {
    for (const DescriptorPointer& each : value.descriptors) {
      // Attention has its softmax as a descriptor of its own.
      if (each->type == CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR) {
        LIB_TRY(add_tensors(*each, *find_operation(each->type), plan, out));
      }
      if (each->type != CUDNN_BACKEND_TENSOR_DESCRIPTOR) continue;
      int64_t id = 0;
      LIB_TRY(add_tensor(*each, plan, &id));
      if (const Descriptor* const offsets = plan->tensors.at(id).offsets) {
        int64_t offsets_id = 0;
        LIB_TRY(add_tensor(*offsets, plan, &offsets_id));
        out->inputs.push_back(offsets_id);
      }
      (is_output(kind, name) ? out->outputs : out->inputs).push_back(id);
    }
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t add_operation(const DescriptorPointer& operation, Plan* plan) {
  const OperationKind* const kind = find_operation(operation->type);
  if (kind == nullptr) return unsupported("operations of the type %d", operation->type);
  if (kind->problem != nullptr) {
    if (const char* const problem = kind->problem(*operation)) return unsupported("%s", problem);
  }
  PlannedOperation planned{operation, {}, {}};
  LIB_TRY(add_tensors(*operation, *kind, plan, &planned));
  plan->operations.push_back(std::move(planned));
  return CUDNN_STATUS_SUCCESS;
}

/// Sorts the operations so that each comes behind those that write its inputs.
cudnnStatus_t sort(Plan* plan) {
  std::set<int64_t> unwritten;
  for (const PlannedOperation& each : plan->operations) {
    unwritten.insert(each.outputs.begin(), each.outputs.end());
  }
  std::vector<PlannedOperation> sorted, rest = std::move(plan->operations);
  while (!rest.empty()) {
    const auto ready = std::find_if(rest.begin(), rest.end(), [&](const PlannedOperation& each) {
      return std::none_of(each.inputs.begin(), each.inputs.end(), [&](int64_t id) {
        const bool is_own = std::count(each.outputs.begin(), each.outputs.end(), id) != 0;
        return unwritten.count(id) != 0 && !is_own;
      });
    });
    if (ready == rest.end()) return invalid("the operations depend on each other in a circle");
    for (const int64_t id : ready->outputs) unwritten.erase(id);
    sorted.push_back(std::move(*ready));
    rest.erase(ready);
  }
  plan->operations = std::move(sorted);
  return CUDNN_STATUS_SUCCESS;
}

/// True if two elements may have one place: programs may invent strides of virtual tensors.
bool has_overlaps(const Shape& shape) {
  std::vector<std::pair<int64_t, int64_t>> steps;
  for (size_t i = 0; i < static_cast<size_t>(shape.rank); ++i) {
    if (shape.dims[i] > 1) steps.emplace_back(shape.strides[i], shape.dims[i]);
  }
  std::sort(steps.begin(), steps.end());
  int64_t end = 1;
  for (const auto& [stride, extent] : steps) {
    if (stride < end) return true;
    end = stride * (extent - 1) + end;
  }
  return false;
}

}  // namespace

namespace {

cudnnStatus_t check_ragged(const TensorInfo& ragged) {
  TensorInfo offsets;
  if (ragged.is_virtual || ragged.is_by_value) {
    return unsupported("ragged tensors that are not the program's memory");
  }
  if (ragged.offsets->type != CUDNN_BACKEND_TENSOR_DESCRIPTOR ||
      ragged.offsets->has(CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC)) {
    return invalid("the offsets of a ragged tensor are no plain tensor");
  }
  LIB_TRY(read_tensor(*ragged.offsets, &offsets));
  if (offsets.shape.type != CUDNN_DATA_INT32 && offsets.shape.type != CUDNN_DATA_INT64) {
    return invalid("the offsets of a ragged tensor have the type %d", offsets.shape.type);
  }
  if (offsets.shape.dims[0] != ragged.shape.dims[0] + 1) {
    return invalid("a ragged tensor of %lld batches has %lld offsets; one more than batches",
                   static_cast<long long>(ragged.shape.dims[0]),
                   static_cast<long long>(offsets.shape.dims[0]));
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

cudnnStatus_t read_tensor(const Descriptor& descriptor, TensorInfo* out) {
  const std::vector<int64_t> dims = descriptor.integers(CUDNN_ATTR_TENSOR_DIMENSIONS);
  const std::vector<int64_t> strides = descriptor.integers(CUDNN_ATTR_TENSOR_STRIDES);
  Shape& shape = out->shape;
  shape.type = static_cast<cudnnDataType_t>(descriptor.integer(CUDNN_ATTR_TENSOR_DATA_TYPE));
  shape.rank = static_cast<int32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), shape.dims.begin());
  std::copy(strides.begin(), strides.end(), shape.strides.begin());
  out->id = descriptor.integer(CUDNN_ATTR_TENSOR_UNIQUE_ID);
  out->is_virtual = descriptor.integer(CUDNN_ATTR_TENSOR_IS_VIRTUAL) != 0;
  out->is_by_value = descriptor.integer(CUDNN_ATTR_TENSOR_IS_BY_VALUE) != 0;
  if (const AttributeValue* const value = descriptor.find(CUDNN_ATTR_TENSOR_CONSTANT_VALUE)) {
    out->constant = value->bytes;
  }
  if (descriptor.integer(CUDNN_ATTR_TENSOR_VECTOR_COUNT, 1) != 1) {
    return unsupported("tensors of vectors");
  }
  if (descriptor.integer(CUDNN_ATTR_TENSOR_REORDERING_MODE) != CUDNN_TENSOR_REORDERING_NONE) {
    return unsupported("reordered tensors");
  }
  out->offsets = descriptor.descriptor(CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC);
  out->multiplier = descriptor.integer(CUDNN_ATTR_TENSOR_RAGGED_OFFSET_MULTIPLIER, 1);
  if (out->offsets != nullptr) LIB_TRY(check_ragged(*out));
  if (type_bits(shape.type) == 0) return unsupported("data type %d", shape.type);
  // Flags between operations take a byte each, so that threads can write them.
  if (out->is_virtual && shape.type == CUDNN_DATA_BOOLEAN) shape.type = CUDNN_DATA_BYTE_BOOLEAN;
  if (out->is_virtual && has_overlaps(shape)) {
    shape = dense_shape(shape.type, shape.rank, dims.data());
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t make_plan(const Descriptor& graph, std::shared_ptr<const Plan>* out) {
  auto plan = std::make_shared<Plan>();
  const AttributeValue* const operations = graph.find(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  if (operations == nullptr) return invalid("the graph has no operations");
  for (const DescriptorPointer& each : operations->descriptors) {
    LIB_TRY(add_operation(each, plan.get()));
  }
  LIB_TRY(sort(plan.get()));
  for (const PlannedOperation& each : plan->operations) {
    const OperationKind* const kind = find_operation(each.descriptor->type);
    plan->scratch.push_back(plan->workspace_bytes);
    if (kind->scratch_bytes != nullptr) {
      plan->workspace_bytes += aligned(kind->scratch_bytes(*each.descriptor));
    }
  }
  *out = std::move(plan);
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace km::cudnn
