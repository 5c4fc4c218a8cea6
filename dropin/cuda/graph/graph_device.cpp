#include "dropin/cuda/graph/graph_device.h"

#include <algorithm>
#include <atomic>

#include "core/graph/graph_capture.h"
#include "core/graph/graph_work.h"
#include "dropin/cuda/stream/stream.h"

namespace km::dropin {

using namespace cu;  // NOLINT

namespace {

CUresult check_kernel(const KernelOperation& kernel) {
  const kmb_function_info& info = kernel.function->info();
  if (info.launches_grids == 0) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE,
              "kernel '%s' launches others (dynamic parallelism), which no kernel of a graph for "
              "launches by kernels may do",
              info.name);
}

/// Both sides must be device memory or page-locked memory; the work keeps page-locked memory alive.
CUresult check_copy(const GraphWork& work) {
  const CUDA_MEMCPY3D copy = read_memcpy(work);
  if (copy.srcMemoryType == CU_MEMORYTYPE_ARRAY || copy.dstMemoryType == CU_MEMORYTYPE_ARRAY) {
    return fail(CUDA_ERROR_INVALID_VALUE, "graphs that kernels launch copy from or to no arrays");
  }
  const bool has_host_side =
      copy.srcMemoryType == CU_MEMORYTYPE_HOST || copy.dstMemoryType == CU_MEMORYTYPE_HOST;
  if (!has_host_side || work.memories.size() > 1) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE,
              "graphs that kernels launch copy from or to no pageable memory of the host's");
}

CUresult check_work(const GraphWork& work) {
  const CUgraphNodeType type = type_of(work);
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return check_kernel(std::get<KernelOperation>(work.operation));
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return check_copy(work);
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return CUDA_SUCCESS;
    default:
      return fail(CUDA_ERROR_INVALID_VALUE, "graphs that kernels launch have no nodes of type %d",
                  type);
  }
}

CUresult check_nodes(const km::Graph& graph, DeviceLaunchProblem* out, size_t* count);

/// Checks a node and adds its kernels, copies and fills to `count`.
CUresult check_node(const GraphWork& work, CUgraphInstantiateResult* out_why, size_t* count) {
  if (work.as<PeerCopyOperation>() != nullptr) {
    *out_why = CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED;
    return fail(CUDA_ERROR_INVALID_VALUE, "graphs that kernels launch are of one context");
  }
  const CUresult checked = check_work(work);
  if (checked != CUDA_SUCCESS) {
    *out_why = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
    return checked;
  }
  if (const km::Graph* child = work.child()) {
    DeviceLaunchProblem inside;
    const CUresult checked_child = check_nodes(*child, &inside, count);
    *out_why = inside.why;
    return checked_child;
  }
  ++*count;
  return CUDA_SUCCESS;
}

CUresult check_nodes(const km::Graph& graph, DeviceLaunchProblem* out, size_t* count) {
  for (const km::GraphNode& node : graph.nodes()) {
    const CUresult checked = check_node(*node.work, &out->why, count);
    if (checked == CUDA_SUCCESS) continue;
    out->node = node.id;
    return checked;
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult check_device_launch(const GraphWork& work) {
  CUgraphInstantiateResult why = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  size_t count = 0;
  return check_node(work, &why, &count);
}

CUresult check_device_launch(const km::Graph& graph, DeviceLaunchProblem* out) {
  size_t count = 0;
  CU_TRY(check_nodes(graph, out, &count));
  if (count != 0) return CUDA_SUCCESS;
  out->why = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
  return fail(CUDA_ERROR_INVALID_VALUE, "graphs that kernels launch have a kernel, copy or fill");
}

CUresult enable_device_launch(km::GraphExec& graph, CUgraphExec handle) {
  const Status enabled = graph.enable_device_launch(reinterpret_cast<uint64_t>(handle));
  if (enabled) return CUDA_SUCCESS;
  retire<GraphExec>(handle);
  return result_of(enabled.error());
}

CUgraphDeviceNode device_node_of(const GraphWork& work) {
  return reinterpret_cast<CUgraphDeviceNode>(
      std::get<KernelOperation>(work.operation).update_handle);
}

CUresult make_updatable(Graph& graph, uint64_t node, CUgraphDeviceNode* out) {
  static std::atomic<uint64_t> last_handle{0};
  constexpr uint64_t kHandleStep = 0x10;
  if (graph.core().backend().graph_restore == nullptr) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "kernels of this device change no nodes of graphs");
  }
  CU_ASSIGN(const km::GraphNode found, graph.core().node(node));
  *out = device_node_of(*found.work);
  if (*out != nullptr) return CUDA_SUCCESS;
  const auto& old = std::get<KernelOperation>(found.work->operation);
  const uint64_t handle = last_handle.fetch_add(kHandleStep) + kHandleStep;
  CU_ASSIGN(SharedWork work, kernel_work({.function = *old.function,
                                          .shape = old.shape,
                                          .arguments = old.arguments.data(),
                                          .arguments_size_bytes = old.arguments.size(),
                                          .memories = {},
                                          .update_handle = handle}));
  CU_CHECK(graph.core().set(node, std::move(work)));
  *out = reinterpret_cast<CUgraphDeviceNode>(handle);
  return CUDA_SUCCESS;
}

CUresult make_captured_updatable(CUstream handle, CUgraphDeviceNode* out) {
  StreamUse stream;
  CU_TRY(stream.get(handle));
  const CaptureInfo info = capture_info(stream.core());
  if (info.status != KM_CAPTURE_STATUS_ACTIVE || info.nodes.size() != 1) {
    return fail(CUDA_ERROR_INVALID_VALUE, "kernels can change only nodes of graphs");
  }
  const Pin<Graph> graph(publish_captured(stream->context(), info.graph));
  if (!graph) return fail(CUDA_ERROR_INVALID_VALUE, "the graph was destroyed");
  return make_updatable(*graph, info.nodes.front(), out);
}

bool has_updatable(const km::Graph& graph) {
  const std::vector<km::GraphNode> nodes = graph.nodes();
  return std::any_of(nodes.begin(), nodes.end(), [](const km::GraphNode& node) {
    if (node.work->is_updatable()) return true;
    if (const auto* conditional = node.work->as<ConditionalOperation>()) {
      const auto& bodies = conditional->bodies;
      return std::any_of(bodies.begin(), bodies.end(),
                         [](const Ref<km::Graph>& body) { return has_updatable(*body); });
    }
    return node.work->child() != nullptr && has_updatable(*node.work->child());
  });
}

}  // namespace km::dropin
