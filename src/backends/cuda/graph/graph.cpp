#include "backends/cuda/graph/graph.h"

#include <cinttypes>

#include "backends/cuda/device.h"
#include "backends/cuda/memory/copy.h"
#include "backends/cuda/memory/memory_ops.h"
#include "backends/cuda/module/launch.h"
#include "backends/cuda/module/module.h"
#include "base/log.h"
#include "base/memory/host_allocator.h"

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

bool is_copy(km_graph_node_kind kind) {
  return kind == KM_GRAPH_NODE_COPY || kind == KM_GRAPH_NODE_UPLOAD ||
         kind == KM_GRAPH_NODE_DOWNLOAD || kind == KM_GRAPH_NODE_COPY_PEER || has_rows(kind);
}
bool is_fill(km_graph_node_kind kind) {
  return kind == KM_GRAPH_NODE_FILL || kind == KM_GRAPH_NODE_FILL_2D;
}

/// In an instance the driver changes copies and fills of one dimension only, and none of nothing
/// (cuGraphExecMemcpyNodeSetParams, cuGraphExecMemsetNodeSetParams).
bool is_line(const kmb_graph_node& node) {
  if (is_fill(node.kind)) {
    const auto native = fill_node(node);
    return native.height == 1 && native.width != 0;
  }
  if (!is_copy(node.kind)) return true;
  const auto native = copy_node(node);
  return native.Height == 1 && native.Depth == 1 && native.WidthInBytes != 0;
}

/// The driver's word for a change that an instance cannot take.
bool is_refused_change(const kmb_graph_node& node, Called called) {
  if (called.result == cu::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) return true;
  // Its reasons are more than the ones above: where the memory lies, for example.
  return called.result == cu::CUDA_ERROR_INVALID_VALUE &&
         (is_copy(node.kind) || is_fill(node.kind));
}

cu::CUDA_KERNEL_NODE_PARAMS_v1 op_kernel_node(cu::CUfunction kernel, LaunchBuffer* buffer) {
  cu::CUDA_KERNEL_NODE_PARAMS_v1 native{};
  native.func = kernel;
  native.gridDimX = native.gridDimY = native.gridDimZ = 1;
  native.blockDimX = native.blockDimY = native.blockDimZ = 1;
  native.extra = buffer->extra();
  return native;
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

Called Graph::add(Instance& instance, const Form& form,
                  const std::vector<cu::CUgraphNode>& dependencies, cu::CUgraphNode* out_node) {
  Driver& d = driver();
  const cu::CUgraph graph = instance.graph;
  const cu::CUgraphNode* after = dependencies.data();
  const size_t count = dependencies.size();
  switch (form.node.kind) {
    case KM_GRAPH_NODE_KERNEL: {
      LaunchBuffer buffer(form.arguments.data(), form.arguments.size());
      const auto native = kernel_node(form.node, &buffer);
      Called called = d.cuGraphAddKernelNode(out_node, graph, after, count, &native);
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
      return d.cuGraphAddMemcpyNode(out_node, graph, after, count, &native, epoch_->handle());
    }
    case KM_GRAPH_NODE_FILL:
    case KM_GRAPH_NODE_FILL_2D: {
      const auto native = fill_node(form.node);
      return d.cuGraphAddMemsetNode(out_node, graph, after, count, &native, epoch_->handle());
    }
    case KM_GRAPH_NODE_HOST: {
      const cu::CUDA_HOST_NODE_PARAMS native{&HostCall::entry, form.call.get()};
      return d.cuGraphAddHostNode(out_node, graph, after, count, &native);
    }
    case KM_GRAPH_NODE_MEMORY_OPS: {
      if (form.op_kernel != nullptr) {
        const MemoryOpArguments arguments = arguments_of(form.memory_ops[0]);
        LaunchBuffer buffer(&arguments, sizeof arguments);
        const auto kernel = op_kernel_node(form.op_kernel, &buffer);
        return d.cuGraphAddKernelNode(out_node, graph, after, count, &kernel);
      }
      auto ops = native_ops(form.memory_ops);
      const auto native = ops_node(epoch_->handle(), ops);
      return d.cuGraphAddBatchMemOpNode(out_node, graph, after, count, &native);
    }
    default:
      return d.cuGraphAddEmptyNode(out_node, graph, after, count);
  }
}

Called Graph::set(cu::CUgraphNode node, const Form& form) {
  Driver& d = driver();
  const cu::CUgraphExec exec = instance_->exec;
  switch (form.node.kind) {
    case KM_GRAPH_NODE_KERNEL: {
      LaunchBuffer buffer(form.arguments.data(), form.arguments.size());
      const auto native = kernel_node(form.node, &buffer);
      return d.cuGraphExecKernelNodeSetParams(exec, node, &native);
    }
    case KM_GRAPH_NODE_COPY:
    case KM_GRAPH_NODE_UPLOAD:
    case KM_GRAPH_NODE_DOWNLOAD:
    case KM_GRAPH_NODE_COPY_3D:
    case KM_GRAPH_NODE_UPLOAD_3D:
    case KM_GRAPH_NODE_DOWNLOAD_3D:
    case KM_GRAPH_NODE_COPY_PEER: {
      const auto native = copy_node(form.node);
      return d.cuGraphExecMemcpyNodeSetParams(exec, node, &native, epoch_->handle());
    }
    case KM_GRAPH_NODE_FILL:
    case KM_GRAPH_NODE_FILL_2D: {
      const auto native = fill_node(form.node);
      return d.cuGraphExecMemsetNodeSetParams(exec, node, &native, epoch_->handle());
    }
    case KM_GRAPH_NODE_HOST: {
      const cu::CUDA_HOST_NODE_PARAMS native{&HostCall::entry, form.call.get()};
      return d.cuGraphExecHostNodeSetParams(exec, node, &native);
    }
    case KM_GRAPH_NODE_MEMORY_OPS: {
      if (form.op_kernel != nullptr) {
        const MemoryOpArguments arguments = arguments_of(form.memory_ops[0]);
        LaunchBuffer buffer(&arguments, sizeof arguments);
        const auto kernel = op_kernel_node(form.op_kernel, &buffer);
        return d.cuGraphExecKernelNodeSetParams(exec, node, &kernel);
      }
      auto ops = native_ops(form.memory_ops);
      const auto native = ops_node(epoch_->handle(), ops);
      return d.cuGraphExecBatchMemOpNodeSetParams(exec, node, &native);
    }
    default:
      return {cu::CUDA_SUCCESS, nullptr};
  }
}

/// A graph of what cuBLAS queues.
Status Graph::add_blas(Instance& instance, uint64_t index, const Form& form,
                       const std::vector<cu::CUgraphNode>& dependencies) {
  cu::CUgraph child = nullptr;
  KM_TRY(blas_.capture(index, form.blas_call, &child));
  const Called called = driver().cuGraphAddChildGraphNode(
      &instance.nodes[index], instance.graph, dependencies.data(), dependencies.size(), child);
  Status done = epoch_->check(called);
  if (!epoch_->has_failed()) check_destroyed(driver().cuGraphDestroy(child));  // it was copied
  return done;
}

Status Graph::choose_op_kernel(Form* form) {
  if (form->node.kind != KM_GRAPH_NODE_MEMORY_OPS) return {};
  KM_ASSIGN(const bool is_native, can_be_native(*epoch_, form->memory_ops));
  if (is_native) return {};
  if (form->memory_ops.size() != 1) {
    return make_error(
        KM_ERROR_NOT_SUPPORTED,
        "a graph node of %zu memory operations on memory of a pool, on managed memory "
        "or with a condition that %s has not: use a node for each",
        form->memory_ops.size(), device_uri(epoch_->gpu().ordinal()).c_str());
  }
  KM_ASSIGN(form->op_kernel, epoch_->own_kernel(OwnKernel::memory_op));
  return {};
}

Result<bool> Graph::set_node(uint32_t index, const Form& form) {
  const kmb_graph_node& before = nodes_[index].form.node;
  if (!is_line(before) || !is_line(form.node)) return false;
  if (form.op_kernel != nodes_[index].form.op_kernel) return false;
  const cu::CUgraphNode node = instance_->nodes[index];
  if (form.node.kind != KM_GRAPH_NODE_BLAS) {
    const Called called = set(node, form);
    if (is_refused_change(form.node, called)) return false;
    KM_TRY(epoch_->check(called));
    return true;
  }
  cu::CUgraph child = nullptr;
  KM_TRY(blas_.capture(index, form.blas_call, &child));
  const Called called = driver().cuGraphExecChildGraphNodeSetParams(instance_->exec, node, child);
  const Status done = epoch_->check(called);
  if (!epoch_->has_failed()) check_destroyed(driver().cuGraphDestroy(child));
  // cuBLAS may do the call by other kernels than before.
  if (!done && is_refused_change(form.node, called)) return false;
  if (!done) return done.error();
  return true;
}

Status Graph::add_node(Instance& instance, uint64_t index, const Form& form) {
  std::vector<cu::CUgraphNode> dependencies;
  for (const uint32_t before : nodes_[index].dependencies) {
    dependencies.push_back(instance.nodes[before]);
  }
  if (form.node.kind == KM_GRAPH_NODE_BLAS) return add_blas(instance, index, form, dependencies);
  return epoch_->check(add(instance, form, dependencies, &instance.nodes[index]));
}

Result<std::shared_ptr<Graph::Instance>> Graph::instantiate(const std::vector<const Form*>& forms) {
  auto made = std::make_shared<Instance>(epoch_);
  made->nodes.resize(forms.size());
  KM_TRY(epoch_->check(driver().cuGraphCreate(&made->graph, 0)));
  for (uint64_t i = 0; i < forms.size(); ++i) KM_TRY(add_node(*made, i, *forms[i]));
  KM_TRY(epoch_->check(driver().cuGraphInstantiateWithFlags(&made->exec, made->graph, 0)));
  return made;
}

Status Graph::build(const kmb_graph_node* nodes, uint64_t count) {
  nodes_.reserve(count);
  std::vector<const Form*> forms;
  for (uint64_t i = 0; i < count; ++i) {
    const kmb_graph_node& given = nodes[i];
    KM_TRY(require_known(given, i));
    const std::span dependencies(given.dependencies, given.dependency_count);
    nodes_.push_back(
        {std::vector<uint32_t>(dependencies.begin(), dependencies.end()), Form(epoch_, given)});
    forms.push_back(&nodes_.back().form);
    KM_TRY(choose_op_kernel(&nodes_.back().form));
    KM_TRY(blas_.add_node(i, dependencies, given.kind == KM_GRAPH_NODE_BLAS));
  }
  Result<std::shared_ptr<Instance>> made = instantiate(forms);
  if (!made) return made.error();
  instance_ = std::move(*made);
  return {};
}

void Graph::give_calls_up() {
  for (Node& node : nodes_) {
    if (node.form.call) node.form.call->give_up();
  }
}

Graph::Instance::~Instance() {
  const Alive alive(*epoch);
  if (!alive) return;
  const Current current(*epoch);
  if (exec != nullptr) check_destroyed(driver().cuGraphExecDestroy(exec));
  if (graph != nullptr) check_destroyed(driver().cuGraphDestroy(graph));
}

/// All nodes, or none of them.
Result<bool> Graph::set_all(const uint32_t* indices, const std::vector<Form>& forms) {
  Result<bool> done = true;
  uint64_t changed = 0;
  for (; changed < forms.size(); ++changed) {
    done = set_node(indices[changed], forms[changed]);
    if (!done || !*done) break;
  }
  if (done && *done) return done;
  for (uint64_t i = 0; i < changed; ++i) {
    if (epoch_->has_failed()) break;
    const Result<bool> back = set_node(indices[i], nodes_[indices[i]].form);
    if (!back) log(LogLevel::kWarn, "cuda", "%s", back.error().message.c_str());
  }
  return done;
}

/// The driver instantiates all nodes anew. Launches under way keep the instance that they have.
Status Graph::replace_instance(const uint32_t* indices, const std::vector<Form>& forms) {
  std::vector<const Form*> all;
  for (const Node& node : nodes_) all.push_back(&node.form);
  for (size_t i = 0; i < forms.size(); ++i) all[indices[i]] = &forms[i];
  KM_ASSIGN(std::shared_ptr<Instance> made, instantiate(all));
  instance_.swap(made);
  const HostMemoryNeeded needed;  // nobody can be told that there is none
  const kmb_use last{to(last_stream_.get()), last_ticket_};
  when_over(std::span(&last, last.stream != nullptr ? 1 : 0),
            [old = std::move(made)]() mutable { old.reset(); });
  return {};
}

Status Graph::update(const uint32_t* indices, const kmb_graph_node* nodes, uint64_t count) {
  const std::lock_guard lock(mutex_);
  std::vector<Form> forms;
  forms.reserve(count);
  for (uint64_t i = 0; i < count; ++i) forms.emplace_back(epoch_, nodes[i]);
  Status done;
  for (uint64_t i = 0; i < count && done; ++i) {
    done = require_same_kind(nodes_[indices[i]].form.node, forms[i].node, indices[i]);
    if (done) done = choose_op_kernel(&forms[i]);
  }
  if (done) {
    const Result<bool> set = set_all(indices, forms);
    if (!set) done = set.error();
    if (set && !*set) done = replace_instance(indices, forms);
  }
  if (done) {
    for (uint64_t i = 0; i < count; ++i) nodes_[indices[i]].form = std::move(forms[i]);
    return done;
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
  const Called called = driver().cuGraphLaunch(instance_->exec, stream.handle());
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
    if (Status built = graph->build(nodes, node_count); !built) {
      graph->give_calls_up();
      return built;
    }
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
    ProfiledOperation operation(target.profile(), target.epoch(), target.handle(),
                                KM_PROFILE_KIND_KERNEL, to(&target), 0, "(graph)");
    operation.set_of_graph();
    return from(graph)->launch(target);
  });
}

}  // namespace km::cuda
