#include "dropin/cuda/graph/graph.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/assert.h"
#include "core/graph/graph_capture.h"
#include "core/graph/graph_work.h"
#include "dropin/cuda/frame/find_or_make.h"
#include "dropin/cuda/graph/graph_conditional.h"
#include "dropin/cuda/graph/graph_memory.h"
#include "dropin/cuda/graph/library_call.h"
#include "dropin/cuda/memory/array.h"
#include "dropin/cuda/memory/copy.h"

namespace km::dropin {
namespace {

struct HostNote : NodeNote {
  CUhostFn function;
  void* user_data;
};

void run_host_function(void* note, km_status status) {
  const auto* const host = static_cast<const HostNote*>(note);
  if (status == KM_SUCCESS) call_contained([&] { host->function(host->user_data); });
}

/// The handle of a captured kernel's function.
CUfunction find_handle(const km::Function& function) {
  CUfunction found = nullptr;
  table_of<Function>().for_each_live([&](uint64_t id, Object& object) {
    if (static_cast<Function&>(object).core().native() == function.native()) {
      found = reinterpret_cast<CUfunction>(id);
    }
  });
  return found;
}

/// True for a copy or fill of rows with a nonzero size.
bool has_rows(const GraphWork* work) {
  if (work == nullptr) return false;
  if (const auto* copy = work->as<RowsCopyOperation>()) return copy->rows.width_bytes != 0;
  const auto* const fill = work->as<RowsFillOperation>();
  return fill != nullptr && fill->rows.width_bytes != 0;
}

}  // namespace

void** GraphNode::arguments_of(const SharedWork& work) {
  const std::lock_guard lock(mutex_);
  kept_ = work;
  const auto& kernel = std::get<KernelOperation>(work->operation);
  const kmb_function_info& info = kernel.function->info();
  pointers_.clear();
  for (uint32_t i = 0; i < info.param_count; ++i) {
    KM_ASSERT(info.params[i].offset_bytes + info.params[i].size_bytes <= kernel.arguments.size(),
              "a node's arguments are laid out by its kernel's signature");
    const std::byte* at = kernel.arguments.data() + info.params[i].offset_bytes;
    pointers_.push_back(const_cast<std::byte*>(at));
  }
  return pointers_.data();
}

namespace {

/// Handles of the graphs into which streams are captured.
struct CapturedGraphs {
  std::mutex mutex;
  std::map<const km::Graph*, CUgraph> handles;
};
CapturedGraphs& captured_graphs() {
  static CapturedGraphs& all = *new CapturedGraphs;  // never destroyed: calls may come during exit
  return all;
}

void forget_captured(const km::Graph& graph) {
  CapturedGraphs& all = captured_graphs();
  const std::lock_guard lock(all.mutex);
  all.handles.erase(&graph);
}

}  // namespace

CUgraph publish_captured(Context& context, Ref<km::Graph> graph) {
  CapturedGraphs& all = captured_graphs();
  const std::lock_guard lock(all.mutex);
  CUgraph* known = nullptr;
  static_cast<void>(find_or_make(all.handles, graph.get(), &known, [&](CUgraph* made) -> CUresult {
    *made = publish(make_ref<Graph>(context, std::move(graph)));
    return CUDA_SUCCESS;
  }));
  return *known;
}

void note_captured(const Graph& graph) {
  CapturedGraphs& all = captured_graphs();
  const std::lock_guard lock(all.mutex);
  all.handles[&graph.core()] = handle_of(graph);
}

bool knows_captured(const km::Graph& graph) {
  CapturedGraphs& all = captured_graphs();
  const std::lock_guard lock(all.mutex);
  return all.handles.contains(&graph);
}

Graph::~Graph() {
  // Without a handle, the graph was never published, and publish_captured() may hold the lock.
  if (id() != 0) {
    invalidate_captures(*core_);
    forget_captured(*core_);
  }
  for (const auto& [id, node] : nodes_) retire<GraphNode>(handle_of(*node));
  for (const auto& [id, child] : children_) retire<Graph>(handle_of(*child));
}

Graph::Bodies::~Bodies() {
  for (const CUgraph body : handles) retire<Graph>(body);
}

CUgraphNode Graph::handle_of_node(uint64_t node) {
  const std::lock_guard lock(mutex_);
  Ref<GraphNode>* known = nullptr;
  static_cast<void>(find_or_make(nodes_, node, &known, [&](Ref<GraphNode>* made) -> CUresult {
    *made = make_ref<GraphNode>(id(), node);
    publish(Ref<GraphNode>(*made));
    return CUDA_SUCCESS;
  }));
  return handle_of(**known);
}

void Graph::forget_node(uint64_t node) {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  retire<GraphNode>(handle_of(*found->second));
  nodes_.erase(found);
  if (const auto child = children_.find(node); child != children_.end()) {
    retire<Graph>(handle_of(*child->second));
    children_.erase(child);
  }
  bodies_.erase(node);
}

CUresult Graph::numbers_of(const CUgraphNode* nodes, size_t count,
                           std::vector<uint64_t>* out) const {
  if (count != 0) CU_REQUIRE(nodes);
  for (size_t i = 0; i < count; ++i) {
    const Pin<GraphNode> node(nodes[i]);
    if (!node || node->graph() != handle_of(*this)) {
      return fail(CUDA_ERROR_INVALID_VALUE, "dependency %zu is not a node of the graph", i);
    }
    out->push_back(node->node());
  }
  return CUDA_SUCCESS;
}

CUresult Graph::add(const CUgraphNode* dependencies, size_t count, SharedWork work,
                    CUgraphNode* out) {
  CU_REQUIRE(out);
  if (is_part() && memory_note_of(*work) != nullptr) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the graph is a part of another and allocates no more");
  }
  std::vector<uint64_t> before;
  CU_TRY(numbers_of(dependencies, count, &before));
  CU_ASSIGN(const uint64_t added, core_->add(before, std::move(work)));
  *out = handle_of_node(added);
  return CUDA_SUCCESS;
}

CUgraph Graph::child_of(uint64_t node, const SharedWork& work) {
  const std::lock_guard lock(mutex_);
  Ref<Graph>* known = nullptr;
  static_cast<void>(find_or_make(children_, node, &known, [&](Ref<Graph>* made) -> CUresult {
    *made = make_ref<Graph>(*context_, std::get<ChildOperation>(work->operation).graph, true);
    publish(Ref<Graph>(*made));
    return CUDA_SUCCESS;
  }));
  return handle_of(**known);
}

CUgraph* Graph::bodies_of(uint64_t node, const SharedWork& work) {
  const std::lock_guard lock(mutex_);
  Bodies* known = nullptr;
  static_cast<void>(find_or_make(bodies_, node, &known, [&](Bodies* made) -> CUresult {
    const auto& bodies = std::get<ConditionalOperation>(work->operation).bodies;
    made->handles.reserve(bodies.size());
    for (const Ref<km::Graph>& body : bodies) {
      made->graphs.push_back(make_ref<Graph>(*context_, body, true));
      made->handles.push_back(publish(Ref<Graph>(made->graphs.back())));
    }
    return CUDA_SUCCESS;
  }));
  KM_ASSERT(known->handles.size() == known->graphs.size(), "each body has a handle");
  return known->handles.data();
}

void Graph::take_child(uint64_t node, Graph& child) {
  KM_ASSERT(&child != this, "a graph is not its own child");
  keep_all_of(child);
  child.is_part_.store(true);
  const std::lock_guard lock(mutex_);
  children_[node] = Ref<Graph>::share(child);
}

void Graph::keep_value(std::shared_ptr<ConditionalValue> value) {
  const std::lock_guard lock(mutex_);
  values_.push_back(std::move(value));
}

bool Graph::has_unused_value() {
  const std::lock_guard lock(mutex_);
  const auto is_unused = [](const auto& value) { return !value->is_used().load(); };
  const auto has_one = [](const Ref<Graph>& graph) { return graph->has_unused_value(); };
  return std::any_of(values_.begin(), values_.end(), is_unused) ||
         std::any_of(bodies_.begin(), bodies_.end(), [&](const auto& entry) {
           const std::vector<Ref<Graph>>& graphs = entry.second.graphs;
           return std::any_of(graphs.begin(), graphs.end(), has_one);
         });
}

std::shared_ptr<void> Graph::claim() {
  const std::lock_guard lock(mutex_);
  if (!claim_.expired()) return nullptr;
  auto made = std::make_shared<char>();
  claim_ = made;
  return made;
}

bool Graph::is_claimed() {
  const std::lock_guard lock(mutex_);
  return !claim_.expired();
}

void Graph::keep(UserObject& object, uint64_t count) {
  const std::lock_guard lock(mutex_);
  references_.add(object, count);
}

UserReferences Graph::references() {
  const std::lock_guard lock(mutex_);
  return references_;
}

void Graph::keep_all(const UserReferences& references) {
  const std::lock_guard lock(mutex_);
  references_.add_all_of(references);
}

bool Graph::take(UserObject& object, uint64_t count) {
  const std::lock_guard lock(mutex_);
  return references_.take(object, count);
}

CUresult NodeUse::get(CUgraphNode handle) {
  pinned = Pin<GraphNode>(handle);
  if (pinned) graph = Pin<Graph>(pinned->graph());
  if (!pinned || !graph) return fail(CUDA_ERROR_INVALID_VALUE, "the node is not a live handle");
  CU_ASSIGN(node, graph->core().node(pinned->node()));
  return CUDA_SUCCESS;
}

CUDA_KERNEL_NODE_PARAMS newer(const CUDA_KERNEL_NODE_PARAMS_v1& old) {
  return {old.func,         old.gridDimX,  old.gridDimY,  old.gridDimZ,
          old.blockDimX,    old.blockDimY, old.blockDimZ, old.sharedMemBytes,
          old.kernelParams, old.extra,     nullptr,       nullptr};
}

CUresult kernel_work_of(const CUDA_KERNEL_NODE_PARAMS& params, const GraphWork* old,
                        SharedWork* out) {
  const CUfunction handle =
      params.func != nullptr ? params.func : reinterpret_cast<CUfunction>(params.kern);
  Ref<Function> function;
  CU_TRY(find_function(handle, &function));
  const auto* const before = old != nullptr ? old->as<KernelOperation>() : nullptr;
  const LaunchShape attributes = before != nullptr ? before->shape : LaunchShape();
  const LaunchShape shape{{params.gridDimX, params.gridDimY, params.gridDimZ},
                          {params.blockDimX, params.blockDimY, params.blockDimZ},
                          params.sharedMemBytes,
                          attributes.cluster,
                          attributes.is_cooperative};
  CU_CHECK(check_shape(*function->context().device().device, shape));
  Arguments arguments;
  CU_TRY(arguments.read(*function, params.kernelParams, params.extra));
  CU_ASSIGN(*out, kernel_work({.function = function->core(),
                               .shape = shape,
                               .arguments = arguments.data(),
                               .arguments_size_bytes = arguments.size_bytes(),
                               .memories = {},
                               .update_handle = before != nullptr ? before->update_handle : 0}));
  return CUDA_SUCCESS;
}

CUresult memcpy_work_of(Context& context, const CUDA_MEMCPY3D& copy, const GraphWork* old,
                        SharedWork* out) {
  Sides3d sides;
  CU_TRY(sides.read(context, copy));
  if (sides.shape.is_empty()) {
    return fail(CUDA_ERROR_INVALID_VALUE, "a node copies %zu x %zu x %zu bytes, which is nothing",
                copy.WidthInBytes, copy.Height, copy.Depth);
  }
  if (sides.to.side == Side::kHost && sides.from.side == Side::kHost) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "a copy from host to host cannot be a node");
  }
  const auto host = [](const Side3d& side) { return reinterpret_cast<void*>(side.address); };
  const bool is_flat = sides.shape.is_flat() && !has_rows(old);
  const uint64_t bytes = sides.shape.size_bytes();
  const DevicePlace& to = sides.to_place.place();
  const DevicePlace& from = sides.from_place.place();
  Result<SharedWork> work = SharedWork();
  if (sides.from.side == Side::kHost) {
    work = is_flat ? upload_work(*context.core(), to, host(sides.from), bytes)
                   : upload_3d_work(*context.core(), to, host(sides.from), sides.shape);
  } else if (sides.to.side == Side::kHost) {
    work = is_flat ? download_work(*context.core(), from, host(sides.to), bytes)
                   : download_3d_work(*context.core(), from, host(sides.to), sides.shape);
  } else if (&to.memory->context() != &from.memory->context()) {
    if (!is_flat) return fail(CUDA_ERROR_NOT_SUPPORTED, "copies of rows have one context");
    work = copy_peer_work(*context.core(), to, from, bytes);
  } else {
    work = is_flat ? copy_work(to, from, bytes) : copy_3d_work(to, from, sides.shape);
  }
  CU_ASSIGN(*out, std::move(work));
  return CUDA_SUCCESS;
}

CUresult memset_work_of(Context& context, const CUDA_MEMSET_NODE_PARAMS& params,
                        const GraphWork* old, SharedWork* out) {
  const uint64_t pitch = params.height <= 1 ? 0 : params.pitch;
  CU_ASSIGN(const Fill2d shape,
            Fill2d::make(pitch, params.value, params.elementSize, params.width, params.height));
  if (shape.extent_bytes == 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "a node fills %zu x %zu values, which is nothing",
                params.width, params.height);
  }
  Place place;
  CU_TRY(place.find(context, params.dst, shape.extent_bytes, "destination"));
  Result<SharedWork> work =
      params.height <= 1 && !has_rows(old)
          ? fill_work(place.place(), params.value, params.elementSize, params.width)
          : fill_2d_work(place.place(), shape);
  CU_ASSIGN(*out, std::move(work));
  return CUDA_SUCCESS;
}

namespace {

/// The work owns function and argument as a pair, to which the core passes a pointer each time a
/// graph runs.
SharedWork host_function_work(CUhostFn function, void* user_data) {
  auto note = std::make_shared<HostNote>();
  note->type = CU_GRAPH_NODE_TYPE_HOST;
  note->function = function;
  note->user_data = user_data;
  void* const passed = note.get();
  return host_work(&run_host_function, passed, as_note<HostNote>(std::move(note)));
}

}  // namespace

CUresult host_work_of(const Context& context, const CUDA_HOST_NODE_PARAMS& params,
                      SharedWork* out) {
  if (params.fn == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "fn is null");
  if (is_library_call(params.fn)) return library_call_of(context, params.userData, out);
  *out = host_function_work(params.fn, params.userData);
  return CUDA_SUCCESS;
}

CUresult read_kernel(GraphNode& node, const SharedWork& work, CUDA_KERNEL_NODE_PARAMS* out) {
  const auto* const kernel = work->as<KernelOperation>();
  if (kernel == nullptr) return other_type();
  const LaunchShape& shape = kernel->shape;
  *out = {find_handle(*kernel->function),
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

namespace {

/// Restores the array's rows and layers in a copy that was recorded as one run of bytes but covers
/// several rows.
void divide_by_rows(CUarray handle, size_t x, size_t y, CUDA_MEMCPY3D* copy) {
  const Pin<Array> array(handle);
  if (!array || copy->Height != 1 || copy->Depth != 1) return;
  const kmb_image_level& place = array->place();
  if (copy->WidthInBytes <= place.row_bytes - x) return;
  const size_t rows = copy->WidthInBytes / place.row_bytes;
  const size_t in_layer = place.layer_bytes / place.row_bytes;
  copy->WidthInBytes = copy->srcPitch = copy->dstPitch = place.row_bytes;
  copy->Height = copy->srcHeight = copy->dstHeight = rows <= in_layer - y ? rows : in_layer;
  copy->Depth = rows / copy->Height;
}

/// Names arrays instead of addresses for sides that are in arrays.
CUDA_MEMCPY3D with_arrays(CUDA_MEMCPY3D copy) {
  size_t at[3] = {};
  if (copy.srcMemoryType == CU_MEMORYTYPE_DEVICE &&
      find_array(copy.srcDevice, &copy.srcArray, at)) {
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcDevice = 0;
    copy.srcXInBytes = at[0];
    copy.srcY = at[1];
    copy.srcZ = at[2];
    divide_by_rows(copy.srcArray, at[0], at[1], &copy);
  }
  if (copy.dstMemoryType == CU_MEMORYTYPE_DEVICE &&
      find_array(copy.dstDevice, &copy.dstArray, at)) {
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstDevice = 0;
    copy.dstXInBytes = at[0];
    copy.dstY = at[1];
    copy.dstZ = at[2];
    divide_by_rows(copy.dstArray, at[0], at[1], &copy);
  }
  return copy;
}

}  // namespace

namespace {

/// A copy between device or host addresses, without extents.
CUDA_MEMCPY3D between(CopySides sides, uint64_t destination, uint64_t source) {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  if (sides == CopySides::kFromHost) {
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = reinterpret_cast<const void*>(source);
  } else {
    copy.srcDevice = source;
  }
  if (sides == CopySides::kToHost) {
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = reinterpret_cast<void*>(destination);
  } else {
    copy.dstDevice = destination;
  }
  return copy;
}

/// Sets the extents of one run of bytes.
CUDA_MEMCPY3D with_line(CUDA_MEMCPY3D copy, uint64_t size_bytes) {
  copy.srcPitch = copy.dstPitch = copy.WidthInBytes = size_bytes;
  copy.srcHeight = copy.dstHeight = copy.Height = copy.Depth = 1;
  return with_arrays(copy);
}

CUDA_MEMCPY3D read_rows(const RowsCopyOperation& operation) {
  const kmb_copy_3d& rows = operation.rows;
  CUDA_MEMCPY3D copy = between(operation.sides, rows.destination, rows.source);
  if (rows.width_bytes == 0) return with_line(copy, operation.size_bytes);
  copy.srcPitch = rows.source_pitch_bytes;
  copy.srcHeight = rows.source_layer_rows;
  copy.dstPitch = rows.destination_pitch_bytes;
  copy.dstHeight = rows.destination_layer_rows;
  copy.WidthInBytes = rows.width_bytes;
  copy.Height = rows.height;
  copy.Depth = rows.depth;
  return with_arrays(copy);
}

}  // namespace

CUDA_MEMCPY3D read_memcpy(const GraphWork& work) {
  if (const auto* rows = work.as<RowsCopyOperation>()) return read_rows(*rows);
  if (const auto* copy = work.as<CopyOperation>()) {
    return with_line(between(copy->sides, copy->destination, copy->source), copy->size_bytes);
  }
  if (const auto* peer = work.as<PeerCopyOperation>()) {
    return with_line(between(CopySides::kDevice, peer->destination, peer->source),
                     peer->size_bytes);
  }
  return with_line(between(CopySides::kDevice, 0, 0), 0);
}

CUDA_MEMSET_NODE_PARAMS read_memset(const GraphWork& work) {
  if (const auto* fill = work.as<RowsFillOperation>()) {
    const kmb_fill_2d& rows = fill->rows;
    return {rows.destination,
            rows.pitch_bytes,
            rows.value,
            rows.value_size_bytes,
            rows.width_bytes / rows.value_size_bytes,
            rows.height};
  }
  const auto& fill = std::get<FillOperation>(work.operation);
  const size_t width = fill.size_bytes / fill.value_size_bytes;
  return {fill.destination, fill.size_bytes, fill.value, fill.value_size_bytes, width, 1};
}

CUDA_HOST_NODE_PARAMS read_host(const SharedWork& work) {
  if (is_library_work(*work)) return read_library_call(work);
  const auto* const operation = work->as<HostOperation>();
  if (operation == nullptr || operation->callback != &run_host_function) return {};
  const auto* const host = static_cast<const HostNote*>(note_of(*work));
  return {host->function, host->user_data};
}

CUgraphNodeType type_of(const GraphWork& work) {
  if (const NodeNote* note = note_of(work)) return note->type;
  return match(
      work.operation,
      [](const KernelOperation&) -> CUgraphNodeType { return CU_GRAPH_NODE_TYPE_KERNEL; },
      [](const OneOf<FillOperation, RowsFillOperation> auto&) -> CUgraphNodeType {
        return CU_GRAPH_NODE_TYPE_MEMSET;
      },
      [](const OneOf<HostOperation, BlasOperation, LibraryOperation, TaskOperation> auto&)
          -> CUgraphNodeType { return CU_GRAPH_NODE_TYPE_HOST; },
      [](const EmptyOperation&) -> CUgraphNodeType { return CU_GRAPH_NODE_TYPE_EMPTY; },
      [](const ChildOperation&) -> CUgraphNodeType { return CU_GRAPH_NODE_TYPE_GRAPH; },
      // Only copies get here: nodes of the other types have a note that gives the type.
      [](const OneOf<CopyOperation, RowsCopyOperation, PeerCopyOperation, MemoryOpsOperation,
                     EventRecordOperation, EventWaitOperation, ConditionalOperation> auto&)
          -> CUgraphNodeType { return CU_GRAPH_NODE_TYPE_MEMCPY; });
}

}  // namespace km::dropin
