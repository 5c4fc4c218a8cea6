// Executable graphs: launches, and the user objects that they keep.
#include "base/assert.h"
#include "core/graph/graph_capture.h"
#include "core/object/callback.h"
#include "dropin/cuda/graph/graph_device.h"
#include "dropin/cuda/graph/graph_memory.h"

namespace km::dropin {

using namespace cu;  // NOLINT

namespace {

void collect_memory_nodes(const km::Graph& graph, std::vector<SharedWork>* out) {
  for (const km::GraphNode& node : graph.nodes()) {
    if (memory_note_of(*node.work) != nullptr) out->push_back(node.work);
    if (const km::Graph* child = node.work->child()) collect_memory_nodes(*child, out);
  }
}

/// Releases a graph's user objects when its running launches have completed.
void drop_after(km::Stream* last_stream, UserReferences references) {
  if (references.empty() || last_stream == nullptr || last_stream->is_idle()) return;
  auto last = std::make_unique<UserReferences>(std::move(references));
  const auto drop = +[](void* kept, km_status) {
    const std::unique_ptr<UserReferences> own(static_cast<UserReferences*>(kept));
  };
  if (!last_stream->queue_callback(drop, last.get())) {
    static_cast<void>(last_stream->drain());
    return;
  }
  static_cast<void>(last.release());  // run once
}

/// When a launch is captured, the new graph also references the launched graph's user objects.
CUresult keep_in_captured(Stream& stream, const UserReferences& references) {
  const CaptureInfo info = capture_info(stream.core());
  if (info.status != KM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
  const Pin<Graph> graph(publish_captured(stream.context(), info.graph));
  if (graph) graph->keep_all(references);
  return CUDA_SUCCESS;
}

}  // namespace

GraphExec::GraphExec(Graph& graph, Ref<km::GraphExec> core, uint64_t flags,
                     std::shared_ptr<void> claim)
    : context_(Ref<Context>::share(graph.context())),
      core_(std::move(core)),
      flags_(flags),
      is_updatable_(has_updatable(graph.core())),
      claim_(std::move(claim)),
      references_(graph.references()) {
  KM_ASSERT(core_, "an executable graph has a core graph");
  KM_ASSERT(claim_ == nullptr || graph.is_claimed(), "the claim is on this graph");
  collect_memory_nodes(graph.core(), &memory_nodes_);
}

GraphExec::~GraphExec() {
  KM_ASSERT(core_, "an executable graph keeps its core graph until its end");
  core_ = nullptr;
  drop_after(last_stream_.get(), std::move(references_));
}

Status GraphExec::update(Graph& graph) {
  UserReferences former = graph.references();
  Ref<km::Stream> last_stream;
  {
    const std::lock_guard lock(mutex_);
    KM_TRY(core_->update(graph.core()));
    references_.swap(former);
    last_stream = last_stream_;
  }
  drop_after(last_stream.get(), std::move(former));
  return {};
}

CUresult GraphExec::launch(Stream& stream) {
  if (is_updatable_ && stream.core().is_capturing()) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "a graph that kernels change cannot be a part of others");
  }
  const std::lock_guard lock(mutex_);
  const bool is_captured = stream.core().is_capturing();
  if (!memory_nodes_.empty() && !is_captured) {
    CU_TRY(begin_memory_of_launch(*this));
  }
  CU_CHECK(core_->launch(stream.core()));
  if (references_.empty()) return CUDA_SUCCESS;
  if (is_captured) return keep_in_captured(stream, references_);
  last_stream_ = Ref<km::Stream>::share(stream.core());
  return CUDA_SUCCESS;
}

/// Replaces the work of a node in an executable graph; the graph it was made from is unchanged.
CUresult update_node(CUgraphExec exec_handle, CUgraphNode node_handle, SharedWork work) {
  CU_GET(GraphExec, exec, exec_handle);
  NodeUse use;
  CU_TRY(use.get(node_handle));
  if (exec->launches_by_kernels()) CU_TRY(check_device_launch(*work));
  const Ref<km::Graph> changed = use.graph->core().clone();
  CU_CHECK(changed->set(use.node.id, std::move(work)));
  CU_CHECK(exec->core().update_node(*changed, use.node.id));
  return CUDA_SUCCESS;
}

}  // namespace km::dropin
