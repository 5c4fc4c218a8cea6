#include "dropin/cuda/graph.h"

#include <cstring>
#include <memory>
#include <utility>

#include "core/graph_work.h"
#include "dropin/cuda/place.h"

namespace km::dropin {
namespace {

struct KeptHostFunction {
  CUhostFn function;
  void* user_data;
};

/// The handle of the function that a captured kernel is.
CUfunction find_handle(const km::Function& function) {
  CUfunction found = nullptr;
  table_of<Function>().for_each_live([&](uint64_t id, Object& object) {
    if (static_cast<Function&>(object).core().native() == function.native()) {
      found = reinterpret_cast<CUfunction>(id);
    }
  });
  return found;
}

bool is_device_side(CUmemorytype type, Context& context, CUdeviceptr address) {
  if (type != CU_MEMORYTYPE_UNIFIED) return type == CU_MEMORYTYPE_DEVICE;
  Place place;
  return place.try_find(context, address, 0);
}

}  // namespace

void** GraphNode::arguments_of(const SharedWork& work) {
  const std::lock_guard lock(mutex_);
  kept_ = work;
  const kmb_function_info& info = work->function->info();
  pointers_.clear();
  for (uint32_t i = 0; i < info.param_count; ++i) {
    const std::byte* at = work->arguments.data() + info.params[i].offset_bytes;
    pointers_.push_back(const_cast<std::byte*>(at));
  }
  return pointers_.data();
}

CUgraph Context::publish_captured(Ref<km::Graph> graph) {
  const std::lock_guard lock(mutex_);
  CUgraph& known = captured_[graph.get()];
  if (known == nullptr) {
    known = publish(make_ref<Graph>(*this, std::move(graph)));
  }
  return known;
}

void Context::forget_captured(const km::Graph& graph) {
  const std::lock_guard lock(mutex_);
  captured_.erase(&graph);
}

Graph::~Graph() {
  context_->forget_captured(*core_);
  for (const auto& [id, node] : nodes_) retire<GraphNode>(handle_of(*node));
  for (const auto& [id, child] : children_) retire<Graph>(handle_of(*child));
}

CUgraphNode Graph::handle_of_node(uint64_t node) {
  const std::lock_guard lock(mutex_);
  Ref<GraphNode>& known = nodes_[node];
  if (!known) {
    known = make_ref<GraphNode>(id(), node);
    publish(Ref<GraphNode>(known));
  }
  return handle_of(*known);
}

void Graph::forget_node(uint64_t node) {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  retire<GraphNode>(handle_of(*found->second));
  nodes_.erase(found);
}

CUresult Graph::add(const CUgraphNode* dependencies, size_t count, SharedWork work,
                    CUgraphNode* out) {
  CU_REQUIRE(out);
  if (count != 0) CU_REQUIRE(dependencies);
  std::vector<uint64_t> before;
  for (size_t i = 0; i < count; ++i) {
    const Pin<GraphNode> node(dependencies[i]);
    if (!node || node->graph() != handle_of(*this)) {
      return fail(CUDA_ERROR_INVALID_VALUE, "dependency %zu is no node of the graph", i);
    }
    before.push_back(node->node());
  }
  CU_ASSIGN(const uint64_t added, core_->add(before, std::move(work)));
  *out = handle_of_node(added);
  return CUDA_SUCCESS;
}

CUgraph Graph::child_of(uint64_t node, const SharedWork& work) {
  const std::lock_guard lock(mutex_);
  Ref<Graph>& known = children_[node];
  if (!known) {
    known = make_ref<Graph>(*context_, work->child);
    publish(Ref<Graph>(known));
  }
  return handle_of(*known);
}

CUresult NodeUse::get(CUgraphNode handle) {
  pinned = Pin<GraphNode>(handle);
  if (pinned) graph = Pin<Graph>(pinned->graph());
  if (!pinned || !graph) return fail(CUDA_ERROR_INVALID_VALUE, "the node is no live handle");
  CU_ASSIGN(node, graph->core().node(pinned->node()));
  return CUDA_SUCCESS;
}

void* kept_host_function(CUhostFn function, void* user_data) {
  static std::mutex& mutex = *new std::mutex;
  static auto& all = *new std::map<std::pair<CUhostFn, void*>, std::unique_ptr<KeptHostFunction>>;
  const std::lock_guard lock(mutex);
  auto& kept = all[{function, user_data}];
  if (!kept) kept = std::make_unique<KeptHostFunction>(KeptHostFunction{function, user_data});
  return kept.get();
}

void run_kept_host_function(void* kept, km_status status) {
  const auto* const host = static_cast<const KeptHostFunction*>(kept);
  if (status == KM_SUCCESS) host->function(host->user_data);
}

CUresult kernel_work_of(const CUDA_KERNEL_NODE_PARAMS& params, SharedWork* out) {
  const CUfunction handle =
      params.func != nullptr ? params.func : reinterpret_cast<CUfunction>(params.kern);
  Ref<Function> function;
  CU_TRY(find_function(handle, &function));
  const LaunchShape shape{{params.gridDimX, params.gridDimY, params.gridDimZ},
                          {params.blockDimX, params.blockDimY, params.blockDimZ},
                          params.sharedMemBytes};
  CU_CHECK(check_shape(*function->context().device().device, shape));
  Arguments arguments;
  CU_TRY(arguments.read(*function, params.kernelParams, params.extra));
  CU_ASSIGN(*out,
            kernel_work({function->core(), shape, arguments.data(), arguments.size_bytes(), {}}));
  return CUDA_SUCCESS;
}

CUresult memcpy_work_of(Context& context, const CUDA_MEMCPY3D& copy, SharedWork* out) {
  const bool is_array =
      copy.srcMemoryType == CU_MEMORYTYPE_ARRAY || copy.dstMemoryType == CU_MEMORYTYPE_ARRAY;
  if (is_array || copy.Height * copy.Depth != 1) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "copy nodes have one row, and no arrays");
  }
  const auto at = [](CUmemorytype type, const void* host, CUdeviceptr device, size_t x, size_t y,
                     size_t pitch) {
    const uint64_t base = type == CU_MEMORYTYPE_HOST ? reinterpret_cast<uint64_t>(host) : device;
    return base + x + y * pitch;
  };
  const uint64_t from = at(copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcXInBytes,
                           copy.srcY, copy.srcPitch);
  const uint64_t to = at(copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstXInBytes,
                         copy.dstY, copy.dstPitch);
  const bool from_device = is_device_side(copy.srcMemoryType, context, from);
  const bool to_device = is_device_side(copy.dstMemoryType, context, to);
  const uint64_t bytes = copy.WidthInBytes;
  Place source, destination;
  if (from_device) CU_TRY(source.find(context, from, bytes, "source"));
  if (to_device) CU_TRY(destination.find(context, to, bytes, "destination"));
  if (from_device && to_device) {
    CU_ASSIGN(*out, copy_work(destination.place(), source.place(), bytes));
  } else if (to_device) {
    CU_ASSIGN(*out, upload_work(context.core(), destination.place(),
                                reinterpret_cast<const void*>(from), bytes));
  } else if (from_device) {
    CU_ASSIGN(*out,
              download_work(context.core(), source.place(), reinterpret_cast<void*>(to), bytes));
  } else {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "copies from host to host are no nodes");
  }
  return CUDA_SUCCESS;
}

CUresult memset_work_of(Context& context, const CUDA_MEMSET_NODE_PARAMS& params, SharedWork* out) {
  if (params.height != 1) return fail(CUDA_ERROR_NOT_SUPPORTED, "memset nodes have one row");
  CU_ASSIGN(const uint64_t bytes, fill_size(params.width, params.elementSize));
  Place place;
  CU_TRY(place.find(context, params.dst, bytes, "destination"));
  CU_ASSIGN(*out, fill_work(place.place(), params.value, params.elementSize, params.width));
  return CUDA_SUCCESS;
}

CUresult host_work_of(const CUDA_HOST_NODE_PARAMS& params, SharedWork* out) {
  if (params.fn == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "fn is null");
  *out = host_work(&run_kept_host_function, kept_host_function(params.fn, params.userData));
  return CUDA_SUCCESS;
}

CUresult read_kernel(GraphNode& node, const SharedWork& work, CUDA_KERNEL_NODE_PARAMS* out) {
  if (work->kind != KM_GRAPH_NODE_KERNEL) return CUDA_ERROR_INVALID_VALUE;
  const LaunchShape& shape = work->shape;
  *out = {find_handle(*work->function),
          shape.grid[0],
          shape.grid[1],
          shape.grid[2],
          shape.block[0],
          shape.block[1],
          shape.block[2],
          static_cast<unsigned>(shape.shared_bytes),
          node.arguments_of(work),
          nullptr,
          nullptr,
          nullptr};
  return CUDA_SUCCESS;
}

CUDA_MEMCPY3D read_memcpy(const GraphWork& work) {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = work.source;
  copy.dstDevice = work.destination;
  if (work.kind == KM_GRAPH_NODE_UPLOAD) {
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = reinterpret_cast<const void*>(work.source);
    copy.srcDevice = 0;
  } else if (work.kind == KM_GRAPH_NODE_DOWNLOAD) {
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = reinterpret_cast<void*>(work.destination);
    copy.dstDevice = 0;
  }
  copy.srcPitch = copy.dstPitch = copy.WidthInBytes = work.size_bytes;
  copy.srcHeight = copy.dstHeight = copy.Height = copy.Depth = 1;
  return copy;
}

CUDA_MEMSET_NODE_PARAMS read_memset(const GraphWork& work) {
  const size_t width = work.size_bytes / work.value_size_bytes;
  return {work.destination, work.size_bytes, work.value, work.value_size_bytes, width, 1};
}

CUDA_HOST_NODE_PARAMS read_host(const GraphWork& work) {
  if (work.callback != &run_kept_host_function) return {};
  const auto* const kept = static_cast<const KeptHostFunction*>(work.user_data);
  return {kept->function, kept->user_data};
}

CUgraphNodeType type_of(km_graph_node_kind kind) {
  switch (kind) {
    case KM_GRAPH_NODE_KERNEL:
      return CU_GRAPH_NODE_TYPE_KERNEL;
    case KM_GRAPH_NODE_FILL:
      return CU_GRAPH_NODE_TYPE_MEMSET;
    case KM_GRAPH_NODE_HOST:
      return CU_GRAPH_NODE_TYPE_HOST;
    case KM_GRAPH_NODE_EMPTY:
      return CU_GRAPH_NODE_TYPE_EMPTY;
    case KM_GRAPH_NODE_CHILD:
      return CU_GRAPH_NODE_TYPE_GRAPH;
    default:
      return CU_GRAPH_NODE_TYPE_MEMCPY;
  }
}

}  // namespace km::dropin
