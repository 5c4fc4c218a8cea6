// The graph API: descriptors, their attributes, and the execution of plans.
#include <cstdlib>
#include <cstring>

#include "dropin/cudnn/graph/finalize.h"
#include "dropin/cudnn/graph/operation.h"

namespace km::cudnn {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 20;

/// Reads the descriptors of an attribute, all of which have to be final.
cudnnStatus_t take_descriptors(AttributeValue* value) {
  for (int64_t i = 0; i < value->count; ++i) {
    cudnnBackendDescriptor_t handle = nullptr;
    std::memcpy(&handle, value->bytes.data() + static_cast<size_t>(i) * sizeof handle,
                sizeof handle);
    DescriptorPointer found = find_descriptor(handle);
    if (found == nullptr) return not_live();
    const std::lock_guard lock(found->mutex);
    if (!found->is_final) {
      invalid("descriptor %lld of the attribute is not final", static_cast<long long>(i));
      return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
    }
    value->descriptors.push_back(found);
  }
  value->bytes.clear();
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t set_attribute(cudnnBackendDescriptor_t handle, cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type, int64_t count, const void* elements) {
  const DescriptorPointer descriptor = find_descriptor(handle);
  if (descriptor == nullptr) return not_live();
  if (!has_attribute(descriptor->type, name)) {
    return invalid("descriptors of type %d have no attribute %d", descriptor->type, name);
  }
  const size_t size = element_bytes(type);
  if (size == 0) return invalid("the attribute type %d", type);
  if (count < 0 || count > kMostElements)
    return invalid("%lld elements", static_cast<long long>(count));
  AttributeValue value;
  value.type = type;
  value.count = count;
  value.bytes.resize(static_cast<size_t>(count) * size);
  if (count != 0 && (elements == nullptr ||
                     !library::read_host(value.bytes.data(), elements, value.bytes.size()))) {
    return invalid("the elements cannot be read at %p", elements);
  }
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) LIB_TRY(take_descriptors(&value));
  const std::lock_guard lock(descriptor->mutex);
  if (descriptor->is_final) {
    invalid("the descriptor is final");
    return CUDNN_STATUS_NOT_INITIALIZED;
  }
  descriptor->attributes[name] = std::move(value);
  return CUDNN_STATUS_SUCCESS;
}

/// The place for the elements of an attribute that a program asks for.
struct Request {
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  int64_t requested;
  int64_t* count;
  void* elements;

  cudnnStatus_t give_bytes(const void* bytes, int64_t found) const {
    LIB_TRY(give_if_asked(count, found));
    const int64_t wanted = std::min(requested, found);
    if (wanted <= 0 || elements == nullptr) return CUDNN_STATUS_SUCCESS;
    if (!library::write_host(elements, bytes, static_cast<size_t>(wanted) * element_bytes(type))) {
      return invalid("the elements cannot be written to %p", elements);
    }
    return CUDNN_STATUS_SUCCESS;
  }
  template <class T>
  cudnnStatus_t give_one(cudnnBackendAttributeType_t expected, T value) const {
    if (type != expected) return invalid("attribute %d has the type %d", name, expected);
    return give_bytes(&value, 1);
  }
};

/// Copies a final descriptor into one that the program has made.
cudnnStatus_t copy_into(cudnnBackendDescriptor_t handle, const Descriptor& from) {
  const DescriptorPointer to = find_descriptor(handle);
  if (to == nullptr) return not_live();
  if (to.get() == &from) return CUDNN_STATUS_SUCCESS;
  if (to->type != from.type) return invalid("a descriptor of type %d, not %d", to->type, from.type);
  const std::lock_guard lock(to->mutex);
  to->attributes = from.attributes;
  to->is_final = true;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t give_descriptors(const Request& request,
                               const std::vector<DescriptorPointer>& descriptors) {
  if (request.type != CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    return invalid("attribute %d holds descriptors", request.name);
  }
  const auto found = static_cast<int64_t>(descriptors.size());
  LIB_TRY(give_if_asked(request.count, found));
  if (request.elements == nullptr) return CUDNN_STATUS_SUCCESS;
  for (int64_t i = 0; i < std::min(found, request.requested); ++i) {
    cudnnBackendDescriptor_t handle = nullptr;
    LIB_TRY(take(static_cast<const cudnnBackendDescriptor_t*>(request.elements) + i, 1, &handle,
                 "a descriptor"));
    LIB_TRY(copy_into(handle, *descriptors[static_cast<size_t>(i)]));
  }
  return CUDNN_STATUS_SUCCESS;
}

/// The configuration of the one engine, for a heuristic's graph.
DescriptorPointer make_configuration(const DescriptorPointer& graph) {
  const auto holding = [](cudnnBackendDescriptorType_t type, cudnnBackendAttributeName_t name,
                          DescriptorPointer inner) {
    auto made = std::make_shared<Descriptor>(type);
    made->attributes[name] = {CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, {}, {std::move(inner)}};
    made->is_final = true;
    return made;
  };
  DescriptorPointer engine =
      holding(CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
  std::vector<std::byte> zero(sizeof(int64_t));
  engine->attributes[CUDNN_ATTR_ENGINE_GLOBAL_INDEX] = {CUDNN_TYPE_INT64, 1, zero, {}};
  return holding(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
}

/// Attributes that the library computes. *is_done stays false if `name` is none.
cudnnStatus_t get_computed(const Descriptor& descriptor, const Request& request, bool* is_done) {
  *is_done = true;
  switch (request.name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
      return give_descriptors(request, {make_configuration(graph_of(descriptor))});
    case CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
      return request.give_one(CUDNN_TYPE_INT64, int64_t{1});
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
    case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
    case CUDNN_ATTR_ENGINE_KNOB_INFO:
    case CUDNN_ATTR_ENGINE_LAYOUT_INFO:
    case CUDNN_ATTR_ENGINECFG_INTERMEDIATE_INFO:
    case CUDNN_ATTR_EXECUTION_PLAN_COMPUTED_INTERMEDIATE_UIDS:
    case CUDNN_ATTR_EXECUTION_PLAN_RUN_ONLY_INTERMEDIATE_UIDS:
      return give_if_asked(request.count, int64_t{0});
    case CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED:
      return request.give_one(CUDNN_TYPE_INT32, int32_t{0});
    case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE:
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
      return request.give_one(CUDNN_TYPE_INT64, int64_t{0});
    case CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION:
      return unsupported("plans as text");
    default:
      *is_done = false;
      return CUDNN_STATUS_SUCCESS;
  }
}

cudnnStatus_t get_attribute(cudnnBackendDescriptor_t handle, const Request& request) {
  const DescriptorPointer descriptor = find_descriptor(handle);
  if (descriptor == nullptr) return not_live();
  if (!has_attribute(descriptor->type, request.name)) {
    return invalid("descriptors of type %d have no attribute %d", descriptor->type, request.name);
  }
  if (element_bytes(request.type) == 0) return invalid("the attribute type %d", request.type);
  if (request.requested < 0)
    return invalid("%lld elements", static_cast<long long>(request.requested));
  {
    const std::lock_guard lock(descriptor->mutex);
    if (!descriptor->is_final) {
      invalid("the descriptor is not final");
      return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
    }
  }
  bool is_done = false;
  LIB_TRY(get_computed(*descriptor, request, &is_done));
  if (is_done) return CUDNN_STATUS_SUCCESS;
  const AttributeValue* const value = descriptor->find(request.name);
  if (value == nullptr) return give_if_asked(request.count, int64_t{0});
  if (value->type != request.type) {
    return invalid("attribute %d has the type %d", request.name, value->type);
  }
  if (value->type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    return give_descriptors(request, value->descriptors);
  }
  return request.give_bytes(value->bytes.data(), value->count);
}

/// A live and final descriptor of a type.
cudnnStatus_t find_final(cudnnBackendDescriptor_t handle, cudnnBackendDescriptorType_t type,
                         DescriptorPointer* out) {
  *out = find_descriptor(handle);
  if (*out == nullptr) return not_live();
  if ((*out)->type != type) return invalid("a descriptor of type %d, not %d", (*out)->type, type);
  const std::lock_guard lock((*out)->mutex);
  if ((*out)->is_final) return CUDNN_STATUS_SUCCESS;
  invalid("a descriptor is not final");
  return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
}

cudnnStatus_t execute(cu::CUstream stream, const Descriptor& plan_descriptor,
                      const Descriptor& pack) {
  std::shared_ptr<const Plan> plan;
  LIB_TRY(plan_of(*graph_of(plan_descriptor), &plan));
  return queue_plan(stream, std::move(plan), pack.integers(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS),
                    pack.integers(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS));
}

cudnnStatus_t create_descriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* out) {
  if (type < CUDNN_BACKEND_POINTWISE_DESCRIPTOR ||
      type > CUDNN_BACKEND_OPERATION_ROPE_BWD_DESCRIPTOR) {
    return unsupported("descriptors of type %d", type);
  }
  const uint64_t id = library::handle_map<Descriptor>().add(
      std::make_shared<Descriptor>(type),
      library::handle_tag(library::HandleKind::kDnnBackend, kMajor));
  const cudnnStatus_t given = give(out, reinterpret_cast<cudnnBackendDescriptor_t>(id));
  if (given != CUDNN_STATUS_SUCCESS) library::handle_map<Descriptor>().remove(id);
  return given;
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t descriptorType,
                                           cudnnBackendDescriptor_t* descriptor) {
  return call([&] { return create_descriptor(descriptorType, descriptor); });
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  return call([&]() -> cudnnStatus_t {
    const auto id = reinterpret_cast<uint64_t>(descriptor);
    if (library::handle_map<Descriptor>().remove(id) == nullptr) return not_live();
    return CUDNN_STATUS_SUCCESS;
  });
}
cudnnStatus_t cudnnBackendInitialize(cudnnBackendDescriptor_t descriptor) {
  return call([&]() -> cudnnStatus_t {
    const DescriptorPointer found = find_descriptor(descriptor);
    if (found == nullptr) return not_live();
    const std::lock_guard lock(found->mutex);
    // Others hold final descriptors, and rely on them.
    if (found->is_final) return invalid("the descriptor is final");
    found->attributes.clear();
    return CUDNN_STATUS_SUCCESS;
  });
}
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  return call([&]() -> cudnnStatus_t {
    const DescriptorPointer found = find_descriptor(descriptor);
    if (found == nullptr) return not_live();
    const std::lock_guard lock(found->mutex);
    return finalize(*found);
  });
}
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t attributeName,
                                       cudnnBackendAttributeType_t attributeType,
                                       int64_t elementCount, const void* arrayOfElements) {
  return call([&] {
    return set_attribute(descriptor, attributeName, attributeType, elementCount, arrayOfElements);
  });
}
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor,
                                       cudnnBackendAttributeName_t attributeName,
                                       cudnnBackendAttributeType_t attributeType,
                                       int64_t requestedElementCount, int64_t* elementCount,
                                       void* arrayOfElements) {
  return call([&] {
    return get_attribute(descriptor, {attributeName, attributeType, requestedElementCount,
                                      elementCount, arrayOfElements});
  });
}
cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t executionPlan,
                                  cudnnBackendDescriptor_t variantPack) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    DescriptorPointer plan, pack;
    LIB_TRY(find_final(executionPlan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &plan));
    LIB_TRY(find_final(variantPack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack));
    return execute(h.stream, *plan, *pack);
  });
}
cudnnStatus_t cudnnGetExecutionPlanWorkspaceSize(cudnnHandle_t handle,
                                                 cudnnBackendDescriptor_t executionPlan,
                                                 cudnnBackendDescriptor_t,
                                                 size_t* workspaceSizeInBytes) {
  return call(handle, [&](Handle&) -> cudnnStatus_t {
    DescriptorPointer descriptor;
    LIB_TRY(find_final(executionPlan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &descriptor));
    return give(workspaceSizeInBytes, size_t{0});
  });
}

}  // extern "C"
}  // namespace km::cudnn
