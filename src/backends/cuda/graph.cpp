#include "backends/cuda/graph.h"

#include <cinttypes>

#include "backends/cuda/copy.h"
#include "backends/cuda/launch.h"
#include "backends/cuda/memory_ops.h"
#include "backends/cuda/module.h"
#include "base/host_allocator.h"
#include "base/log.h"

namespace km::cuda {
namespace {

cu::CUDA_KERNEL_NODE_PARAMS_v1 kernel_node(const kmb_graph_node& node, LaunchBuffer* buffer) {
  cu::CUDA_KERNEL_NODE_PARAMS_v1 native{};
  const kmb_launch& launch = node.launch;
  native.func = from(node.function)->handle();
  native.gridDimX = launch.grid[0];
  native.gridDimY = launch.grid[1];
  native.gridDimZ = launch.grid[2];
  native.blockDimX = launch.block[0];
  native.blockDimY = launch.block[1];
  native.blockDimZ = launch.block[2];
  native.sharedMemBytes = static_cast<unsigned>(launch.shared_bytes);
  native.extra = buffer->extra();
  return native;
}

bool has_rows(km_graph_node_kind kind) {
  return kind == KM_GRAPH_NODE_COPY_3D || kind == KM_GRAPH_NODE_UPLOAD_3D ||
         kind == KM_GRAPH_NODE_DOWNLOAD_3D;
}

cu::CUDA_MEMCPY3D copy_node(const kmb_graph_node& node) {
  if (has_rows(node.kind)) return native_copy(node.rows);
  kmb_copy_3d copy{};
  copy.destination = node.destination;
  copy.source = node.source;
  copy.destination_space = node.kind == KM_GRAPH_NODE_DOWNLOAD ? KMB_SPACE_HOST : KMB_SPACE_DEVICE;
  copy.source_space = node.kind == KM_GRAPH_NODE_UPLOAD ? KMB_SPACE_HOST : KMB_SPACE_DEVICE;
  copy.width_bytes = node.size_bytes;
  copy.height = copy.depth = 1;
  copy.destination_pitch_bytes = copy.source_pitch_bytes = node.size_bytes;
  copy.destination_layer_rows = copy.source_layer_rows = 1;
  return native_copy(copy);
}

cu::CUDA_MEMSET_NODE_PARAMS fill_node(const kmb_graph_node& node) {
  cu::CUDA_MEMSET_NODE_PARAMS native{};
  native.dst = node.destination;
  native.value = node.value;
  native.elementSize = node.value_size_bytes;
  const bool is_line = node.kind == KM_GRAPH_NODE_FILL;
  native.pitch = is_line ? 0 : node.rows.destination_pitch_bytes;
  native.width = (is_line ? node.size_bytes : node.rows.width_bytes) / node.value_size_bytes;
  native.height = is_line ? 1 : node.rows.height;
  return native;
}

/// A node of a kind that is not known must not become one that does nothing.
Status require_known(const kmb_graph_node& node, uint64_t index) {
  if (node.kind >= KM_GRAPH_NODE_KERNEL && node.kind <= KM_GRAPH_NODE_BLAS &&
      node.kind != KM_GRAPH_NODE_CHILD) {
    return {};
  }
  if (node.kind == KM_GRAPH_NODE_MEMORY_OPS) return {};
  const char* const name = node.kind == KMB_GRAPH_NODE_EVENT_RECORD ? "record of an event"
                           : node.kind == KMB_GRAPH_NODE_EVENT_WAIT ? "wait for an event"
                           : node.kind == KMB_GRAPH_NODE_BRANCH     ? "conditional"
                                                                    : "unknown";
  return make_error(KM_ERROR_NOT_SUPPORTED,
                    "the cuda backend has no graph nodes of kind %d (%s), as node %" PRIu64 " is",
                    static_cast<int>(node.kind), name, index);
}

/// Refuses nodes that a node of an instantiated graph cannot become.
Status require_same_kind(const kmb_graph_node& before, const kmb_graph_node& after,
                         uint32_t index) {
  if (before.kind != after.kind) {
    return make_error(KM_ERROR_GRAPH_MISMATCH,
                      "node %u of kind %d cannot become one of kind %d (%d is one without effect); "
                      "instantiate the graph instead",
                      index, static_cast<int>(before.kind), static_cast<int>(after.kind),
                      static_cast<int>(KM_GRAPH_NODE_EMPTY));
  }
  if (have_same_attributes(before.launch, after.launch)) return {};
  return make_error(KM_ERROR_NOT_SUPPORTED,
                    "clusters and cooperation of a node cannot change once the graph is made");
}

cu::CUDA_BATCH_MEM_OP_NODE_PARAMS ops_node(cu::CUcontext context,
                                           std::vector<cu::CUstreamBatchMemOpParams>& ops) {
  return {context, static_cast<unsigned>(ops.size()), ops.data(), 0};
}

}  // namespace

Graph::Form::Form(const std::shared_ptr<Epoch>& epoch, const kmb_graph_node& given) : node(given) {
  node.dependencies = nullptr;
  node.dependency_count = 0;
  if (node.kind == KM_GRAPH_NODE_KERNEL && node.launch.arguments != nullptr) {
    arguments.assign(static_cast<const char*>(node.launch.arguments),
                     node.launch.arguments_size_bytes);
  }
  if (node.kind == KM_GRAPH_NODE_HOST) {
    call = std::make_shared<HostCall>(epoch, node.callback, node.user_data, node.release);
  }
  if (node.kind == KM_GRAPH_NODE_BLAS) blas_call = *node.blas_call;
  memory_ops.assign(node.memory_ops, node.memory_ops + node.memory_op_count);
}

Called Graph::add(const Form& form, const std::vector<cu::CUgraphNode>& dependencies,
                  cu::CUgraphNode* out_node) {
  Driver& d = driver();
  const cu::CUgraphNode* after = dependencies.data();
  const size_t count = dependencies.size();
  switch (form.node.kind) {
    case KM_GRAPH_NODE_KERNEL: {
      LaunchBuffer buffer(form.arguments.data(), form.arguments.size());
      const auto native = kernel_node(form.node, &buffer);
      Called called = d.cuGraphAddKernelNode(out_node, graph_, after, count, &native);
      LaunchAttributes attributes(form.node.launch);
      for (unsigned i = 0; called.ok() && i < attributes.count(); ++i) {
        const cu::CUlaunchAttribute& one = attributes.data()[i];
        called = d.cuGraphKernelNodeSetAttribute(*out_node, one.id, &one.value);
      }
      return called;
    }
    case KM_GRAPH_NODE_COPY:
    case KM_GRAPH_NODE_UPLOAD:
    case KM_GRAPH_NODE_DOWNLOAD:
    case KM_GRAPH_NODE_COPY_3D:
    case KM_GRAPH_NODE_UPLOAD_3D:
    case KM_GRAPH_NODE_DOWNLOAD_3D:
    case KM_GRAPH_NODE_COPY_PEER: {
      const auto native = copy_node(form.node);
      return d.cuGraphAddMemcpyNode(out_node, graph_, after, count, &native, epoch_->handle());
    }
    case KM_GRAPH_NODE_FILL:
    case KM_GRAPH_NODE_FILL_2D: {
      const auto native = fill_node(form.node);
      return d.cuGraphAddMemsetNode(out_node, graph_, after, count, &native, epoch_->handle());
    }
    case KM_GRAPH_NODE_HOST: {
      const cu::CUDA_HOST_NODE_PARAMS native{&HostCall::entry, form.call.get()};
      return d.cuGraphAddHostNode(out_node, graph_, after, count, &native);
    }
    case KM_GRAPH_NODE_MEMORY_OPS: {
      auto ops = native_ops(form.memory_ops);
      const auto native = ops_node(epoch_->handle(), ops);
      return d.cuGraphAddBatchMemOpNode(out_node, graph_, after, count, &native);
    }
    default:
      return d.cuGraphAddEmptyNode(out_node, graph_, after, count);
  }
}

Called Graph::set(cu::CUgraphNode node, const Form& form) {
  Driver& d = driver();
  switch (form.node.kind) {
    case KM_GRAPH_NODE_KERNEL: {
      LaunchBuffer buffer(form.arguments.data(), form.arguments.size());
      const auto native = kernel_node(form.node, &buffer);
      return d.cuGraphExecKernelNodeSetParams(exec_, node, &native);
    }
    case KM_GRAPH_NODE_COPY:
    case KM_GRAPH_NODE_UPLOAD:
    case KM_GRAPH_NODE_DOWNLOAD:
    case KM_GRAPH_NODE_COPY_3D:
    case KM_GRAPH_NODE_UPLOAD_3D:
    case KM_GRAPH_NODE_DOWNLOAD_3D:
    case KM_GRAPH_NODE_COPY_PEER: {
      const auto native = copy_node(form.node);
      return d.cuGraphExecMemcpyNodeSetParams(exec_, node, &native, epoch_->handle());
    }
    case KM_GRAPH_NODE_FILL:
    case KM_GRAPH_NODE_FILL_2D: {
      const auto native = fill_node(form.node);
      return d.cuGraphExecMemsetNodeSetParams(exec_, node, &native, epoch_->handle());
    }
    case KM_GRAPH_NODE_HOST: {
      const cu::CUDA_HOST_NODE_PARAMS native{&HostCall::entry, form.call.get()};
      return d.cuGraphExecHostNodeSetParams(exec_, node, &native);
    }
    case KM_GRAPH_NODE_MEMORY_OPS: {
      auto ops = native_ops(form.memory_ops);
      const auto native = ops_node(epoch_->handle(), ops);
      return d.cuGraphExecBatchMemOpNodeSetParams(exec_, node, &native);
    }
    default:
      return {cu::CUDA_SUCCESS, nullptr};
  }
}

/// The last node, as a graph of what cuBLAS queues.
Status Graph::add_blas(const kmb_graph_node& given,
                       const std::vector<cu::CUgraphNode>& dependencies) {
  const uint64_t index = nodes_.size() - 1;
  KM_TRY(blas_.add_node(index, std::span(given.dependencies, given.dependency_count),
                        given.kind == KM_GRAPH_NODE_BLAS));
  if (given.kind != KM_GRAPH_NODE_BLAS) return {};
  cu::CUgraph child = nullptr;
  KM_TRY(blas_.capture(index, nodes_[index].form.blas_call, &child));
  const Called called = driver().cuGraphAddChildGraphNode(
      &nodes_[index].handle, graph_, dependencies.data(), dependencies.size(), child);
  Status done = epoch_->check(called);
  if (!epoch_->has_failed()) check_destroyed(driver().cuGraphDestroy(child));  // it was copied
  return done;
}

Status Graph::set_node(uint32_t index, const Form& form) {
  const cu::CUgraphNode node = nodes_[index].handle;
  if (form.node.kind != KM_GRAPH_NODE_BLAS) return epoch_->check(set(node, form));
  cu::CUgraph child = nullptr;
  KM_TRY(blas_.capture(index, form.blas_call, &child));
  const Called called = driver().cuGraphExecChildGraphNodeSetParams(exec_, node, child);
  Status done = epoch_->check(called);
  if (!done && called.result == cu::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) {
    Error error = make_error(KM_ERROR_GRAPH_MISMATCH,
                             "cuBLAS does the call of node %u by other kernels than before; "
                             "instantiate the graph instead",
                             index);
    error.native_code = called.result;
    done = std::move(error);
  }
  if (!epoch_->has_failed()) check_destroyed(driver().cuGraphDestroy(child));
  return done;
}

Status Graph::build_nodes(const kmb_graph_node* nodes, uint64_t count) {
  KM_TRY(epoch_->check(driver().cuGraphCreate(&graph_, 0)));
  std::vector<cu::CUgraphNode> dependencies;
  for (uint64_t i = 0; i < count; ++i) {
    KM_TRY(require_known(nodes[i], i));
    dependencies.clear();
    for (uint64_t k = 0; k < nodes[i].dependency_count; ++k) {
      dependencies.push_back(nodes_[nodes[i].dependencies[k]].handle);
    }
    nodes_.push_back({nullptr, Form(epoch_, nodes[i])});
    KM_TRY(add_blas(nodes[i], dependencies));
    if (nodes_.back().handle != nullptr) continue;
    KM_TRY(epoch_->check(add(nodes_.back().form, dependencies, &nodes_.back().handle)));
  }
  return epoch_->check(driver().cuGraphInstantiateWithFlags(&exec_, graph_, 0));
}

Status Graph::build(const kmb_graph_node* nodes, uint64_t count) {
  nodes_.reserve(count);
  Status built = build_nodes(nodes, count);
  if (built) return built;
  for (Node& node : nodes_) {
    if (node.form.call) node.form.call->give_up();
  }
  return built;
}

Graph::~Graph() {
  const Alive alive(*epoch_);
  if (!alive) return;
  const Current current(*epoch_);
  if (exec_ != nullptr) check_destroyed(driver().cuGraphExecDestroy(exec_));
  if (graph_ != nullptr) check_destroyed(driver().cuGraphDestroy(graph_));
}

Status Graph::update(const uint32_t* indices, const kmb_graph_node* nodes, uint64_t count) {
  const std::lock_guard lock(mutex_);
  std::vector<Form> forms;
  forms.reserve(count);
  for (uint64_t i = 0; i < count; ++i) forms.emplace_back(epoch_, nodes[i]);
  Status done;
  uint64_t changed = 0;
  for (uint64_t i = 0; i < count && done; ++i) {
    done = require_same_kind(nodes_[indices[i]].form.node, forms[i].node, indices[i]);
  }
  for (; done && changed < count; ++changed) {
    done = set_node(indices[changed], forms[changed]);
  }
  if (done) {
    for (uint64_t i = 0; i < count; ++i) nodes_[indices[i]].form = std::move(forms[i]);
    return done;
  }
  for (uint64_t i = 0; i < changed; ++i) {  // all or nothing
    if (epoch_->has_failed()) break;
    const Status back = set_node(indices[i], nodes_[indices[i]].form);
    if (!back) log(LogLevel::kWarn, "cuda", "%s", back.error().message.c_str());
  }
  for (Form& form : forms) {
    if (form.call) form.call->give_up();
  }
  return done;
}

Status Graph::expect_calls() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].form.call) continue;
    Status expected = epoch_->expect(nodes_[i].form.call);
    if (expected) continue;
    while (i-- > 0) {
      if (nodes_[i].form.call) epoch_->claim(nodes_[i].form.call.get());
    }
    return expected;
  }
  return {};
}

/// False when some were told of a failure already; then the others are now.
bool Graph::take_calls_back() {
  std::vector<std::shared_ptr<HostCall>> taken;
  bool are_all = true;
  for (const Node& node : nodes_) {
    if (!node.form.call) continue;
    std::shared_ptr<HostCall> call = epoch_->claim(node.form.call.get());
    are_all = are_all && call != nullptr;
    if (call) taken.push_back(std::move(call));
  }
  if (are_all) return true;
  for (const auto& call : taken) call->run(epoch_->failure().status);
  return false;
}

Status Graph::launch(Stream& stream) {
  const std::lock_guard lock(mutex_);
  KM_TRY(expect_calls());
  const Called called = driver().cuGraphLaunch(exec_, stream.handle());
  if (!called.ok() && take_calls_back()) return epoch_->check(called);
  last_stream_ = stream.shared_from_this();
  last_ticket_ = stream.last_ticket() + 1;
  return {};
}

km_status graph_create(kmb_context* context, const kmb_graph_node* nodes, uint64_t node_count,
                       kmb_graph** out_graph, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(const std::shared_ptr<Epoch> epoch, live_epoch(context));
    const Current current(*epoch);
    KM_TRY(require_current(*epoch, current));
    auto graph = std::make_unique<Graph>(epoch);
    KM_TRY(graph->build(nodes, node_count));
    *out_graph = to(graph.release());
    return {};
  });
}

void graph_destroy(kmb_graph* handle) {
  const HostMemoryNeeded needed;  // nobody can be told that there is none
  std::shared_ptr<Graph> graph = share(std::unique_ptr<Graph>(from(handle)));
  const kmb_use last{to(graph->last_stream().get()), graph->last_ticket()};
  when_over(std::span(&last, last.stream != nullptr ? 1 : 0), [graph]() mutable { graph.reset(); });
}

km_status graph_update(kmb_graph* handle, const uint32_t* indices, const kmb_graph_node* nodes,
                       uint64_t count, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Graph& graph = *from(handle);
    KM_TRY(graph.epoch().require_alive());
    const Current current(graph.epoch());
    KM_TRY(require_current(graph.epoch(), current));
    return graph.update(indices, nodes, count);
  });
}

km_status graph_launch(kmb_graph* graph, kmb_stream* stream, uint64_t* out_ticket,
                       kmb_error* error) {
  return enqueue(stream, out_ticket, error, [&](Stream& target) {
    const ProfiledOperation operation(target.profile(), target.epoch(), target.handle(),
                                      KM_PROFILE_KIND_KERNEL, to(&target), 0, "(graph)");
    return from(graph)->launch(target);
  });
}

}  // namespace km::cuda
