#include "backends/cuda/graph/graph.h"

#include <cinttypes>

#include "backend/graph_node.h"
#include "backends/cuda/driver/let_go.h"
#include "backends/cuda/memory/copy.h"
#include "backends/cuda/memory/memory_ops.h"
#include "backends/cuda/module/launch.h"
#include "backends/cuda/module/module.h"
#include "base/log.h"
#include "base/memory/host_allocator.h"

namespace km::cuda {
namespace {

cu::CUDA_KERNEL_NODE_PARAMS_v1 kernel_node(const kmb_kernel_node& node, LaunchBuffer* buffer) {
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

/// A copy of one contiguous range; one of the sides may be host memory.
cu::CUDA_MEMCPY3D copy_node(km_graph_node_kind kind, uint64_t destination, uint64_t source,
                            uint64_t size_bytes) {
  kmb_copy_3d copy{};
  copy.destination = destination;
  copy.source = source;
  copy.destination_space = kind == KM_GRAPH_NODE_DOWNLOAD ? KMB_SPACE_HOST : KMB_SPACE_DEVICE;
  copy.source_space = kind == KM_GRAPH_NODE_UPLOAD ? KMB_SPACE_HOST : KMB_SPACE_DEVICE;
  copy.width_bytes = size_bytes;
  copy.height = copy.depth = 1;
  copy.destination_pitch_bytes = copy.source_pitch_bytes = size_bytes;
  copy.destination_layer_rows = copy.source_layer_rows = 1;
  return native_copy(copy);
}

cu::CUDA_MEMSET_NODE_PARAMS fill_node(const kmb_fill_2d& fill) {
  cu::CUDA_MEMSET_NODE_PARAMS native{};
  native.dst = fill.destination;
  native.value = fill.value;
  native.elementSize = fill.value_size_bytes;
  native.pitch = fill.pitch_bytes;
  native.width = fill.width_bytes / fill.value_size_bytes;
  native.height = fill.height;
  return native;
}

/// The error for a node of unknown kind, which must not become an empty node.
Error no_such_kind(km_graph_node_kind kind, const char* name, uint64_t index) {
  return make_error(KM_ERROR_NOT_SUPPORTED,
                    "the cuda backend has no graph nodes of kind %d (%s), as node %" PRIu64 " is",
                    static_cast<int>(kind), name, index);
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

Result<Graph::Form> Graph::make_form(const std::shared_ptr<Epoch>& epoch,
                                     const kmb_graph_node& given, uint64_t index) {
  const km_graph_node_kind kind = given.kind;
  KM_ASSIGN(
      Operation operation,
      match_node(
          given, [](const EmptyNode&) -> Result<Operation> { return Operation(Empty{}); },
          [](const kmb_kernel_node& node) -> Result<Operation> {
            const auto* const bytes = static_cast<const char*>(node.launch.arguments);
            Kernel kernel{node, {}};
            if (bytes != nullptr) kernel.arguments.assign(bytes, node.launch.arguments_size_bytes);
            return Operation(std::move(kernel));
          },
          [&](const kmb_copy_node& node) -> Result<Operation> {
            return Operation(Copy{copy_node(kind, node.destination, node.source, node.size_bytes)});
          },
          [&](const kmb_copy_peer_node& node) -> Result<Operation> {
            return Operation(Copy{copy_node(kind, node.destination, node.source, node.size_bytes)});
          },
          [](const kmb_copy_3d& rows) -> Result<Operation> {
            return Operation(Copy{native_copy(rows)});
          },
          [](const kmb_fill_node& node) -> Result<Operation> {
            return Operation(Fill{fill_node(
                {node.destination, 0, node.size_bytes, 1, node.value, node.value_size_bytes})});
          },
          [](const kmb_fill_2d& rows) -> Result<Operation> {
            return Operation(Fill{fill_node(rows)});
          },
          [&](const kmb_host_node& node) -> Result<Operation> {
            return Operation(Host{
                std::make_shared<HostCall>(epoch, node.callback, node.user_data, node.release)});
          },
          [](const kmb_blas_node& node) -> Result<Operation> {
            return Operation(Blas{*node.call});
          },
          [](const kmb_library_node& node) -> Result<Operation> {
            return Operation(Library{*node.call});
          },
          [&](const kmb_task_node&) -> Result<Operation> {
            return no_such_kind(kind, "task of the host", index);
          },
          [](const kmb_memory_ops_node& node) -> Result<Operation> {
            return Operation(MemoryOps{{node.ops, node.ops + node.count}, nullptr});
          },
          [&](const EventRecordNode&) -> Result<Operation> {
            return no_such_kind(kind, "record of an event", index);
          },
          [&](const EventWaitNode&) -> Result<Operation> {
            return no_such_kind(kind, "wait for an event", index);
          },
          [&](const kmb_branch&) -> Result<Operation> {
            return no_such_kind(kind, "conditional", index);
          },
          [&](const UnknownNode&) -> Result<Operation> {
            return no_such_kind(kind, "unknown", index);
          }));
  return Form{kind, std::move(operation)};
}

/// Fails if an instantiated node cannot become the new one.
Status Graph::require_same_kind(const Form& before, const Form& after, uint32_t index) {
  if (before.kind != after.kind) {
    return make_error(KM_ERROR_GRAPH_MISMATCH,
                      "node %u of kind %d cannot become one of kind %d (%d is one without effect); "
                      "instantiate the graph instead",
                      index, static_cast<int>(before.kind), static_cast<int>(after.kind),
                      static_cast<int>(KM_GRAPH_NODE_EMPTY));
  }
  const auto* const kernel = std::get_if<Kernel>(&after.operation);
  if (kernel == nullptr ||
      have_same_attributes(std::get<Kernel>(before.operation).node.launch, kernel->node.launch)) {
    return {};
  }
  return make_error(KM_ERROR_NOT_SUPPORTED,
                    "clusters and cooperation of a node cannot change once the graph is made");
}

/// True for contiguous copies and fills of at least one byte: the driver changes only those in an
/// instance (cuGraphExecMemcpyNodeSetParams, cuGraphExecMemsetNodeSetParams).
bool Graph::is_line(const Form& form) {
  return match(
      form.operation,
      [](const Fill& fill) { return fill.native.height == 1 && fill.native.width != 0; },
      [](const Copy& copy) {
        return copy.native.Height == 1 && copy.native.Depth == 1 && copy.native.WidthInBytes != 0;
      },
      [](const OneOf<Empty, Kernel, Host, Blas, Library, MemoryOps> auto&) { return true; });
}

/// True if the driver refuses a change that needs another instance.
bool Graph::is_refused_change(const Form& form, Called called) {
  if (called.result == cu::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) return true;
  // The driver has more reasons than the conditions above: for example, where the memory lies.
  return called.result == cu::CUDA_ERROR_INVALID_VALUE &&
         (std::holds_alternative<Copy>(form.operation) ||
          std::holds_alternative<Fill>(form.operation));
}

/// Calls the driver function that adds a node, by the type of its operation.
class Graph::NodeAdder {
 public:
  NodeAdder(cu::CUcontext context, cu::CUgraph graph,
            const std::vector<cu::CUgraphNode>& dependencies, cu::CUgraphNode* out_node)
      : context_(context),
        graph_(graph),
        after_(dependencies.data()),
        count_(dependencies.size()),
        out_node_(out_node) {}

  Called operator()(const Empty&) const {
    return driver().cuGraphAddEmptyNode(out_node_, graph_, after_, count_);
  }
  Called operator()(const Kernel& kernel) const {
    LaunchBuffer buffer(kernel.arguments.data(), kernel.arguments.size());
    const auto native = kernel_node(kernel.node, &buffer);
    Called called = driver().cuGraphAddKernelNode(out_node_, graph_, after_, count_, &native);
    LaunchAttributes attributes(kernel.node.launch);
    for (unsigned i = 0; called.ok() && i < attributes.count(); ++i) {
      const cu::CUlaunchAttribute& one = attributes.data()[i];
      called = driver().cuGraphKernelNodeSetAttribute(*out_node_, one.id, &one.value);
    }
    return called;
  }
  Called operator()(const Copy& copy) const {
    return driver().cuGraphAddMemcpyNode(out_node_, graph_, after_, count_, &copy.native, context_);
  }
  Called operator()(const Fill& fill) const {
    return driver().cuGraphAddMemsetNode(out_node_, graph_, after_, count_, &fill.native, context_);
  }
  Called operator()(const Host& host) const {
    const cu::CUDA_HOST_NODE_PARAMS native{&HostCall::entry, host.call.get()};
    return driver().cuGraphAddHostNode(out_node_, graph_, after_, count_, &native);
  }
  Called operator()(const MemoryOps& memory) const {
    if (memory.kernel != nullptr) {
      const MemoryOpArguments arguments = arguments_of(memory.ops[0]);
      LaunchBuffer buffer(&arguments, sizeof arguments);
      const auto kernel = op_kernel_node(memory.kernel, &buffer);
      return driver().cuGraphAddKernelNode(out_node_, graph_, after_, count_, &kernel);
    }
    auto ops = native_ops(memory.ops);
    const auto native = ops_node(context_, ops);
    return driver().cuGraphAddBatchMemOpNode(out_node_, graph_, after_, count_, &native);
  }

 private:
  const cu::CUcontext context_;
  const cu::CUgraph graph_;
  const cu::CUgraphNode* const after_;
  const size_t count_;
  cu::CUgraphNode* const out_node_;
};

/// Calls the driver function that changes a node of an instance, by the type of its operation.
class Graph::NodeSetter {
 public:
  NodeSetter(cu::CUcontext context, cu::CUgraphExec exec, cu::CUgraphNode node)
      : context_(context), exec_(exec), node_(node) {}

  Called operator()(const Empty&) const { return {cu::CUDA_SUCCESS, nullptr}; }
  Called operator()(const Kernel& kernel) const {
    LaunchBuffer buffer(kernel.arguments.data(), kernel.arguments.size());
    const auto native = kernel_node(kernel.node, &buffer);
    return driver().cuGraphExecKernelNodeSetParams(exec_, node_, &native);
  }
  Called operator()(const Copy& copy) const {
    return driver().cuGraphExecMemcpyNodeSetParams(exec_, node_, &copy.native, context_);
  }
  Called operator()(const Fill& fill) const {
    return driver().cuGraphExecMemsetNodeSetParams(exec_, node_, &fill.native, context_);
  }
  Called operator()(const Host& host) const {
    const cu::CUDA_HOST_NODE_PARAMS native{&HostCall::entry, host.call.get()};
    return driver().cuGraphExecHostNodeSetParams(exec_, node_, &native);
  }
  Called operator()(const MemoryOps& memory) const {
    if (memory.kernel != nullptr) {
      const MemoryOpArguments arguments = arguments_of(memory.ops[0]);
      LaunchBuffer buffer(&arguments, sizeof arguments);
      const auto kernel = op_kernel_node(memory.kernel, &buffer);
      return driver().cuGraphExecKernelNodeSetParams(exec_, node_, &kernel);
    }
    auto ops = native_ops(memory.ops);
    const auto native = ops_node(context_, ops);
    return driver().cuGraphExecBatchMemOpNodeSetParams(exec_, node_, &native);
  }

 private:
  const cu::CUcontext context_;
  const cu::CUgraphExec exec_;
  const cu::CUgraphNode node_;
};

Status Graph::add_blas(Instance& instance, uint64_t index, const kmb_blas_call& call,
                       const std::vector<cu::CUgraphNode>& dependencies) {
  cu::CUgraph child = nullptr;
  KM_TRY(blas_.capture(index, call, &child));
  return add_child(instance, index, child, dependencies);
}

Status Graph::add_library(Instance& instance, uint64_t index, const kmb_library_call& call,
                          const std::vector<cu::CUgraphNode>& dependencies) {
  cu::CUgraph child = nullptr;
  KM_TRY(libraries_.capture(call, &child));
  return add_child(instance, index, child, dependencies);
}

Status Graph::add_child(Instance& instance, uint64_t index, cu::CUgraph child,
                        const std::vector<cu::CUgraphNode>& dependencies) {
  const Called called = driver().cuGraphAddChildGraphNode(
      &instance.nodes[index], instance.graph, dependencies.data(), dependencies.size(), child);
  Status done = epoch_->check(called);
  // The node has its own copy of the child graph.
  if (!epoch_->has_failed()) check_destroyed(driver().cuGraphDestroy(child));
  return done;
}

Status Graph::choose_op_kernel(Form* form) {
  auto* const memory = std::get_if<MemoryOps>(&form->operation);
  if (memory == nullptr) return {};
  KM_ASSIGN(const bool is_native, can_be_native(*epoch_, memory->ops));
  if (is_native) return {};
  if (memory->ops.size() != 1) {
    return make_error(
        KM_ERROR_NOT_SUPPORTED,
        "a graph node of %zu memory operations on memory of a pool, on managed memory "
        "or with a condition that %s has not: use a node for each",
        memory->ops.size(), device_uri(epoch_->gpu().ordinal()).c_str());
  }
  KM_ASSIGN(memory->kernel, epoch_->own_kernel(OwnKernel::memory_op));
  return {};
}

/// True if the node's memory operations now need another kernel.
bool Graph::has_other_op_kernel(const Form& before, const Form& after) {
  const auto* const one = std::get_if<MemoryOps>(&before.operation);
  const auto* const other = std::get_if<MemoryOps>(&after.operation);
  return one != nullptr && other != nullptr && one->kernel != other->kernel;
}

Result<bool> Graph::set_node(uint32_t index, const Form& form) {
  const Form& before = nodes_[index].form;
  if (!is_line(before) || !is_line(form) || has_other_op_kernel(before, form)) return false;
  return match(
      form.operation, [&](const Blas& blas) { return set_blas(index, form, blas.call); },
      [&](const Library& library) { return set_library(index, form, library.call); },
      [&](const OneOf<Empty, Kernel, Copy, Fill, Host, MemoryOps> auto& operation) -> Result<bool> {
        const NodeSetter setter(epoch_->handle(), instance_->exec, instance_->nodes[index]);
        const Called called = setter(operation);
        if (is_refused_change(form, called)) return false;
        KM_TRY(epoch_->check(called));
        return true;
      });
}

Result<bool> Graph::set_blas(uint32_t index, const Form& form, const kmb_blas_call& call) {
  cu::CUgraph child = nullptr;
  KM_TRY(blas_.capture(index, call, &child));
  return set_child(index, form, child);
}

Result<bool> Graph::set_library(uint32_t index, const Form& form, const kmb_library_call& call) {
  cu::CUgraph child = nullptr;
  KM_TRY(libraries_.capture(call, &child));
  return set_child(index, form, child);
}

Result<bool> Graph::set_child(uint32_t index, const Form& form, cu::CUgraph child) {
  const Called called =
      driver().cuGraphExecChildGraphNodeSetParams(instance_->exec, instance_->nodes[index], child);
  const Status done = epoch_->check(called);
  if (!epoch_->has_failed()) check_destroyed(driver().cuGraphDestroy(child));
  // A library may use other kernels than before, which an instance cannot change to.
  if (!done && is_refused_change(form, called)) return false;
  if (!done) return done.error();
  return true;
}

Status Graph::add_node(Instance& instance, uint64_t index, const Form& form) {
  std::vector<cu::CUgraphNode> dependencies;
  for (const uint32_t before : nodes_[index].dependencies) {
    dependencies.push_back(instance.nodes[before]);
  }
  return match(
      form.operation,
      [&](const Blas& blas) { return add_blas(instance, index, blas.call, dependencies); },
      [&](const Library& library) {
        return add_library(instance, index, library.call, dependencies);
      },
      [&](const OneOf<Empty, Kernel, Copy, Fill, Host, MemoryOps> auto& operation) {
        const NodeAdder adder(epoch_->handle(), instance.graph, dependencies,
                              &instance.nodes[index]);
        return epoch_->check(adder(operation));
      });
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
    KM_ASSIGN(Form form, make_form(epoch_, given, i));
    const std::span dependencies(given.dependencies, given.dependency_count);
    nodes_.push_back(
        {std::vector<uint32_t>(dependencies.begin(), dependencies.end()), std::move(form)});
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
    if (const auto call = node.form.call()) call->give_up();
  }
}

Graph::Instance::~Instance() {
  const Alive alive(*epoch);
  if (!alive) return;
  const Current current(*epoch);
  if (exec != nullptr) check_destroyed(driver().cuGraphExecDestroy(exec));
  if (graph != nullptr) check_destroyed(driver().cuGraphDestroy(graph));
}

/// Changes all of the nodes or none.
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

/// Instantiates the graph again. Running launches keep their instance.
Status Graph::replace_instance(const uint32_t* indices, const std::vector<Form>& forms) {
  std::vector<const Form*> all;
  for (const Node& node : nodes_) all.push_back(&node.form);
  for (size_t i = 0; i < forms.size(); ++i) all[indices[i]] = &forms[i];
  KM_ASSIGN(std::shared_ptr<Instance> made, instantiate(all));
  instance_.swap(made);
  const HostMemoryNeeded needed;  // the caller cannot handle a lack of memory
  const kmb_use last{to(last_stream_.get()), last_ticket_};
  when_over(std::span(&last, last.stream != nullptr ? 1 : 0),
            [old = std::move(made)]() mutable { old.reset(); });
  return {};
}

Status Graph::update(const uint32_t* indices, const kmb_graph_node* nodes, uint64_t count) {
  const std::lock_guard lock(mutex_);
  std::vector<Form> forms;
  forms.reserve(count);
  Status done;
  for (uint64_t i = 0; i < count && done; ++i) {
    Result<Form> form = make_form(epoch_, nodes[i], indices[i]);
    if (!form) {
      done = form.error();
      break;
    }
    forms.push_back(std::move(*form));
    done = require_same_kind(nodes_[indices[i]].form, forms[i], indices[i]);
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
  for (const Form& form : forms) {
    if (const auto call = form.call()) call->give_up();
  }
  return done;
}

Status Graph::expect_calls() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const std::shared_ptr<HostCall> call = nodes_[i].form.call();
    if (!call) continue;
    Status expected = epoch_->expect(call);
    if (expected) continue;
    while (i-- > 0) {
      if (const auto before = nodes_[i].form.call()) epoch_->claim(before.get());
    }
    return expected;
  }
  return {};
}

/// Returns false if some calls were already made with a failure; in that case the other calls get
/// the failure too.
bool Graph::take_calls_back() {
  std::vector<std::shared_ptr<HostCall>> taken;
  bool are_all = true;
  for (const Node& node : nodes_) {
    const std::shared_ptr<HostCall> expected = node.form.call();
    if (!expected) continue;
    std::shared_ptr<HostCall> call = epoch_->claim(expected.get());
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
  const HostMemoryNeeded needed;  // the caller cannot handle a lack of memory
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
