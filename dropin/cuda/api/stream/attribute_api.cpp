// Attributes of streams and kernel nodes; ids of graphs and nodes.
#include <initializer_list>

#include "core/graph/graph_work.h"
#include "dropin/cuda/graph/graph_device.h"
#include "dropin/cuda/stream/stream.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

CUresult check_id(CUlaunchAttributeID id, std::initializer_list<CUlaunchAttributeID> known) {
  for (const CUlaunchAttributeID each : known) {
    if (each == id) return CUDA_SUCCESS;
  }
  return fail(CUDA_ERROR_INVALID_VALUE, "attribute %d does not apply to this object", id);
}

CUresult check_of_stream(CUlaunchAttributeID id) {
  return check_id(
      id, {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
           CU_LAUNCH_ATTRIBUTE_PRIORITY, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
           CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN});
}

CUresult check_of_node(CUlaunchAttributeID id) {
  return check_id(
      id, {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
           CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
           CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, CU_LAUNCH_ATTRIBUTE_PRIORITY,
           CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
           CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
           CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE});
}

CUresult get_kernel_node(CUgraphNode handle, NodeUse* out) {
  CU_TRY(out->get(handle));
  if (out->node.work->as<KernelOperation>() != nullptr) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "the node is not a kernel node");
}

/// The kernel operation of a node from get_kernel_node().
const KernelOperation& kernel_of(const NodeUse& use) {
  return std::get<KernelOperation>(use.node.work->operation);
}

/// Reads attributes that are part of the launch shape.
bool read_shape(const LaunchShape& shape, CUlaunchAttributeID id, CUkernelNodeAttrValue* out) {
  if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
    out->clusterDim = {shape.cluster[0], shape.cluster[1], shape.cluster[2]};
  } else if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
    out->cooperative = shape.is_cooperative ? 1 : 0;
  } else {
    return false;
  }
  return true;
}

CUresult write_shape(const NodeUse& use, CUlaunchAttributeID id,
                     const CUkernelNodeAttrValue& value) {
  const KernelOperation& old = kernel_of(use);
  LaunchShape shape = old.shape;
  if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
    shape.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
    CU_TRY(check_cluster(*old.function, shape));
  } else {
    shape.is_cooperative = value.cooperative != 0;
  }
  CU_ASSIGN(SharedWork work, kernel_work({.function = *old.function,
                                          .shape = shape,
                                          .arguments = old.arguments.data(),
                                          .arguments_size_bytes = old.arguments.size(),
                                          .memories = {},
                                          .update_handle = old.update_handle}));
  CU_CHECK(use.graph->core().set(use.node.id, std::move(work)));
  return CUDA_SUCCESS;
}

/// Makes a node updatable by kernels; this cannot be undone. The handle is written into the value,
/// as CUDA does.
CUresult write_updatable(const NodeUse& use, const CUkernelNodeAttrValue& value) {
  const int wanted = value.deviceUpdatableKernelNode.deviceUpdatable;
  if (wanted != 0 && wanted != 1) {
    return fail(CUDA_ERROR_INVALID_VALUE, "deviceUpdatable is %d; it must be 0 or 1", wanted);
  }
  if (wanted == 1) {
    auto& out = const_cast<CUkernelNodeAttrValue&>(value).deviceUpdatableKernelNode;
    return make_updatable(*use.graph, use.node.id, &out.devNode);
  }
  if (device_node_of(*use.node.work) == nullptr) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "a node that kernels change stays one");
}

CUresult give_number(uint64_t id, unsigned* out) {
  *out = static_cast<unsigned>(id & UINT32_MAX);
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuStreamGetAttribute(CUstream handle, CUstreamAttrID id, CUstreamAttrValue* value) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(value);
    CU_TRY(check_of_stream(id));
    StreamUse stream;
    CU_TRY(stream.get(handle));
    CUstreamAttrValue read{};
    if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
      read.priority = stream.core().priority();
    } else if (!stream->attributes().get(id, &read) &&
               id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY) {
      read.priority = CU_SYNC_POLICY_AUTO;  // the same size and place in the union
    }
    *value = read;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetAttribute_ptsz(CUstream stream, CUstreamAttrID id, CUstreamAttrValue* value) {
  return cuStreamGetAttribute(per_thread(stream), id, value);
}

CUresult cuStreamSetAttribute(CUstream handle, CUstreamAttrID id, const CUstreamAttrValue* value) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(value);
    CU_TRY(check_of_stream(id));
    if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
      return fail(CUDA_ERROR_INVALID_VALUE, "a stream keeps the priority that it was created with");
    }
    StreamUse stream;
    CU_TRY(stream.get(handle));
    stream->attributes().set(id, *value);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamSetAttribute_ptsz(CUstream stream, CUstreamAttrID id,
                                   const CUstreamAttrValue* value) {
  return cuStreamSetAttribute(per_thread(stream), id, value);
}

CUresult cuStreamCopyAttributes(CUstream to_handle, CUstream from_handle) {
  return guard(__func__, [&]() -> CUresult {
    StreamUse to, from;
    CU_TRY(to.get(to_handle));
    CU_TRY(from.get(from_handle));
    if (&to->context() != &from->context()) {
      return fail(CUDA_ERROR_INVALID_VALUE, "the streams are of different contexts");
    }
    to->attributes().copy_from(from->attributes());
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamCopyAttributes_ptsz(CUstream to, CUstream from) {
  return cuStreamCopyAttributes(per_thread(to), per_thread(from));
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                       CUkernelNodeAttrValue* value) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(value);
    CU_TRY(check_of_node(id));
    NodeUse use;
    CU_TRY(get_kernel_node(handle, &use));
    CUkernelNodeAttrValue read{};
    if (id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE) {
      const CUgraphDeviceNode device_node = device_node_of(*use.node.work);
      read.deviceUpdatableKernelNode = {device_node != nullptr ? 1 : 0, device_node};
    } else if (!read_shape(kernel_of(use).shape, id, &read)) {
      static_cast<void>(use.pinned->attributes().get(id, &read));
    }
    *value = read;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                       const CUkernelNodeAttrValue* value) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(value);
    CU_TRY(check_of_node(id));
    NodeUse use;
    CU_TRY(get_kernel_node(handle, &use));
    if (id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE) {
      return write_updatable(use, *value);
    }
    CUkernelNodeAttrValue old{};
    if (read_shape(kernel_of(use).shape, id, &old)) return write_shape(use, id, *value);
    use.pinned->attributes().set(id, *value);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to_handle, CUgraphNode from_handle) {
  return guard(__func__, [&]() -> CUresult {
    NodeUse to, from;
    CU_TRY(get_kernel_node(to_handle, &to));
    CU_TRY(get_kernel_node(from_handle, &from));
    if (device_node_of(*to.node.work) != nullptr || device_node_of(*from.node.work) != nullptr) {
      return fail(CUDA_ERROR_INVALID_VALUE, "a node that kernels change shares no attributes");
    }
    to.pinned->attributes().copy_from(from.pinned->attributes());
    for (const CUlaunchAttributeID id :
         {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, CU_LAUNCH_ATTRIBUTE_COOPERATIVE}) {
      CUkernelNodeAttrValue value{};
      read_shape(kernel_of(from).shape, id, &value);
      CU_TRY(to.get(to_handle));
      CU_TRY(write_shape(to, id, value));
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphGetId(CUgraph handle, unsigned int* id) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(id);
    CU_GET(Graph, graph, handle);
    return give_number(graph->id(), id);
  });
}

CUresult cuGraphExecGetId(CUgraphExec handle, unsigned int* id) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(id);
    CU_GET(GraphExec, exec, handle);
    return give_number(exec->id(), id);
  });
}

CUresult cuGraphNodeGetToolsId(CUgraphNode handle, unsigned long long* id) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(id);
    NodeUse use;
    CU_TRY(use.get(handle));
    *id = use.pinned->id();
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

}  // namespace km::cu
