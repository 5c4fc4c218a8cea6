#include "core/graph/graph_exec.h"

#include <algorithm>
#include <cinttypes>
#include <memory>
#include <tuple>
#include <utility>

#include "base/assert.h"
#include "core/graph/graph_capture.h"
#include "core/graph/graph_work.h"
#include "core/object/backend_call.h"
#include "core/object/callback.h"
#include "core/stream/stream_capture.h"

namespace km {
namespace {

constexpr size_t kRangesOfList = 8;  // ranges of a list and kind before they are merged

/// Sorts uses by list and address, and merges ranges that overlap or exceed kRangesOfList.
void merge_uses(std::vector<MemoryUse>* uses) {
  const auto key = [](const MemoryUse& use) {
    return std::tuple(reinterpret_cast<uintptr_t>(use.accesses), use.range.kind, use.range.begin);
  };
  std::sort(uses->begin(), uses->end(),
            [&](const MemoryUse& one, const MemoryUse& other) { return key(one) < key(other); });
  std::vector<MemoryUse> merged;
  size_t count = 0;  // ranges of the last use's list and kind
  for (const MemoryUse& use : *uses) {
    MemoryUse* last = merged.empty() ? nullptr : &merged.back();
    const bool is_alike =
        last != nullptr && last->accesses == use.accesses && last->range.kind == use.range.kind;
    count = is_alike ? count : 0;
    if (is_alike && (use.range.begin <= last->range.end || count == kRangesOfList)) {
      last->range.end = std::max(last->range.end, use.range.end);
    } else {
      merged.push_back(use);
      ++count;
    }
  }
  uses->swap(merged);
}

/// True for copies and fills, which are replaced by empty nodes if they write no bytes.
bool writes(const GraphWork& work) {
  return work.as<CopyOperation>() || work.as<RowsCopyOperation>() || work.as<PeerCopyOperation>() ||
         work.as<FillOperation>() || work.as<RowsFillOperation>();
}

/// Runs a host node's callback; `user_data` is the SharedWork that the backend keeps.
void run_host_node(void* user_data, km_status status) {
  const SharedWork& work = *static_cast<const SharedWork*>(user_data);
  const auto& host = std::get<HostOperation>(work->operation);
  run_callback([&] { host.callback(host.user_data, status); });
}

void release_host_node(void* user_data) {
  const std::unique_ptr<SharedWork> last(static_cast<SharedWork*>(user_data));
}

Error mismatch(const GraphDifference& difference) {
  const char* why = "has another number of nodes";
  if (difference.kind == KM_GRAPH_DIFFERENCE_NODE_KIND) why = "is of another kind";
  if (difference.kind == KM_GRAPH_DIFFERENCE_DEPENDENCIES) why = "has other dependencies";
  if (difference.kind == KM_GRAPH_DIFFERENCE_CHILD) why = "has a child graph of other topology";
  if (difference.kind == KM_GRAPH_DIFFERENCE_NODE_COUNT) {
    return make_error(KM_ERROR_GRAPH_MISMATCH,
                      "the graph %s than what was instantiated (node %" PRIu64
                      "); instantiate it instead",
                      why, difference.node);
  }
  return make_error(KM_ERROR_GRAPH_MISMATCH,
                    "node %" PRIu64 " %s than what was instantiated; instantiate the graph instead",
                    difference.node, why);
}

}  // namespace

/// Nodes in the form that backends take. It owns the data of host nodes until release().
class GraphExec::NativeNodes {
 public:
  void add(const FlatNode& node, bool enabled = true) {
    if (node.work->is_updatable()) {  // stays a kernel node, because kernels may enable it again
      nodes_.push_back(native_of(node));
      nodes_.back().kernel.is_off = enabled ? 0 : 1;
      enabled = true;
    } else if (enabled && (node.work->written_bytes() != 0 || !writes(*node.work))) {
      nodes_.push_back(native_of(node));
    } else {
      nodes_.push_back({});
      nodes_.back().kind = KM_GRAPH_NODE_EMPTY;
    }
    if (!enabled) return;
    nodes_.back().dependencies = node.dependencies.data();
    nodes_.back().dependency_count = node.dependencies.size();
  }
  const kmb_graph_node* data() const { return nodes_.data(); }
  uint64_t size() const { return nodes_.size(); }
  /// Called when the backend has accepted the nodes and owns the data of host nodes.
  void release() {
    for (std::unique_ptr<SharedWork>& work : host_) static_cast<void>(work.release());
  }

 private:
  kmb_graph_node native_of(const FlatNode& node);

  std::vector<kmb_graph_node> nodes_;
  std::vector<std::unique_ptr<SharedWork>> host_;
};

kmb_graph_node GraphExec::NativeNodes::native_of(const FlatNode& node) {
  kmb_graph_node native{};
  native.kind = node.work->kind();
  match(
      node.work->operation, [](const EmptyOperation&) {},
      [&](const KernelOperation& kernel) {
        native.kernel = {
            kernel.function->native(),
            native_launch(kernel.shape, kernel.arguments.data(), kernel.arguments.size()),
            kernel.update_handle, 0, 0};
      },
      [&](const CopyOperation& copy) {
        native.copy = {copy.destination, copy.source, copy.size_bytes};
      },
      [&](const RowsCopyOperation& copy) { native.rows = copy.rows; },
      [&](const PeerCopyOperation& copy) {
        native.peer = {copy.destination, copy.source, copy.size_bytes, copy.destination_context,
                       copy.source_context};
      },
      [&](const FillOperation& fill) {
        native.fill = {fill.destination, fill.size_bytes, fill.value, fill.value_size_bytes};
      },
      [&](const RowsFillOperation& fill) { native.fill_2d = fill.rows; },
      [&](const HostOperation&) {
        host_.push_back(std::make_unique<SharedWork>(node.work));
        native.host = {run_host_node, host_.back().get(), release_host_node};
      },
      // The list has the child's nodes.
      [&](const ChildOperation&) { native.kind = KM_GRAPH_NODE_EMPTY; },
      [&](const BlasOperation& blas) { native.blas = {blas.engine->native(), blas.call.get()}; },
      [&](const LibraryOperation& library) { native.library = {library.call.get()}; },
      [&](const TaskOperation& task) { native.task = {&*task.task}; },
      [&](const MemoryOpsOperation& memory) {
        native.memory_ops = {memory.ops.data(), memory.ops.size()};
      },
      [&](const OneOf<EventRecordOperation, EventWaitOperation> auto& use) {
        native.event = use.event->native();
      },
      [&](const ConditionalOperation&) { native.branch = node.branch; });
  return native;
}

/// Turns a graph and all graphs within it into one list of nodes.
class GraphExec::Flattening {
 public:
  /// Appends a graph's nodes, whose first ones depend on `entry`; returns the indices of the last
  /// ones.
  std::vector<uint32_t> add(const Graph& graph, const std::vector<uint32_t>& entry, bool is_child);
  /// Adds fills that store the default values of conditions before the graph's nodes.
  void add_defaults(const Graph& graph);
  std::vector<FlatNode> take();

 private:
  void add_conditional(const SharedWork& work);
  void add_switch(const SharedWork& work);
  void add_body(const Ref<Graph>& body) { static_cast<void>(add(*body, {}, true)); }
  /// Returns the branch's index for land(). An `address` of 0 makes an unconditional jump.
  size_t add_branch(const SharedWork& work, uint64_t address, uint32_t value, bool if_equal);
  size_t add_jump(const SharedWork& work) { return add_branch(work, 0, 0, true); }
  /// Sets the branch's target to the next node that is added.
  void land(size_t branch) { nodes_[branch].branch.target = nodes_.size(); }

  std::vector<FlatNode> nodes_;
};

/// Returns the list. If it has branches, each node depends on the one before, because a backend
/// then runs the list in order.
std::vector<GraphExec::FlatNode> GraphExec::Flattening::take() {
  const auto is_branch = [](const FlatNode& node) {
    return node.work->as<ConditionalOperation>() != nullptr;
  };
  if (std::any_of(nodes_.begin(), nodes_.end(), is_branch)) {
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i].dependencies.assign(i == 0 ? 0 : 1, i - 1);
    }
  }
  KM_ASSERT(std::all_of(nodes_.begin(), nodes_.end(),
                        [&](const FlatNode& node) {
                          return node.branch.target <= nodes_.size() &&
                                 std::all_of(node.dependencies.begin(), node.dependencies.end(),
                                             [&](uint32_t before) {
                                               return before <
                                                      static_cast<size_t>(&node - nodes_.data());
                                             });
                        }),
            "a node runs after nodes before it, and a branch leads into the list or to its end");
  return std::move(nodes_);
}

void GraphExec::Flattening::add_defaults(const Graph& graph) {
  for (const GraphNode& node : graph.nodes()) {
    if (const Graph* child = node.work->child()) add_defaults(*child);
    const auto* const conditional = node.work->as<ConditionalOperation>();
    if (conditional == nullptr) continue;
    for (const Ref<Graph>& body : conditional->bodies) add_defaults(*body);
    if (!conditional->has_default) continue;
    constexpr uint32_t kSizeBytes = sizeof conditional->default_value;
    const FillOperation fill{conditional->address, kSizeBytes, conditional->default_value,
                             kSizeBytes};
    nodes_.push_back({std::make_shared<GraphWork>(
                          GraphWork{fill, node.work->memories, node.work->uses, nullptr}),
                      {},
                      0,
                      {}});
  }
}

size_t GraphExec::Flattening::add_branch(const SharedWork& work, uint64_t address, uint32_t value,
                                         bool if_equal) {
  nodes_.push_back({work, {}, 0, {address, value, if_equal, 0}});
  return nodes_.size() - 1;
}

void GraphExec::Flattening::add_conditional(const SharedWork& work) {
  const auto& conditional = std::get<ConditionalOperation>(work->operation);
  KM_ASSERT(!conditional.bodies.empty(), "a conditional node has a body");
  if (conditional.condition == ConditionalOperation::Kind::kSwitch) return add_switch(work);
  const size_t begin = nodes_.size();
  const size_t otherwise = add_branch(work, conditional.address, 0, true);
  add_body(conditional.bodies[0]);
  if (conditional.condition == ConditionalOperation::Kind::kWhile) {
    nodes_[add_jump(work)].branch.target = begin;
    land(otherwise);
  } else if (conditional.bodies.size() == 2) {
    const size_t end = add_jump(work);
    land(otherwise);
    add_body(conditional.bodies[1]);
    land(end);
  } else {
    land(otherwise);
  }
}

void GraphExec::Flattening::add_switch(const SharedWork& work) {
  const auto& conditional = std::get<ConditionalOperation>(work->operation);
  std::vector<size_t> ends;
  for (uint32_t i = 0; i < conditional.bodies.size(); ++i) {
    const size_t next = add_branch(work, conditional.address, i, false);
    add_body(conditional.bodies[i]);
    ends.push_back(add_jump(work));
    land(next);
  }
  for (const size_t end : ends) land(end);
}

std::vector<uint32_t> GraphExec::Flattening::add(const Graph& graph,
                                                 const std::vector<uint32_t>& entry,
                                                 bool is_child) {
  const std::vector<GraphNode> nodes = graph.nodes();
  std::vector<uint32_t> index_of(nodes.size());
  std::vector<bool> has_dependents(nodes.size());
  for (size_t position : topological_order(nodes)) {
    const GraphNode& node = nodes[position];
    std::vector<uint32_t> dependencies =
        node.dependencies.empty() ? entry : std::vector<uint32_t>();
    for (uint64_t id : node.dependencies) {
      const size_t index = position_of(nodes, id);
      dependencies.push_back(index_of[index]);
      has_dependents[index] = true;
    }
    SharedWork work = node.work;
    // The child's nodes join the list, followed by an empty node.
    if (const Graph* child = work->child()) {
      std::vector<uint32_t> exits = add(*child, dependencies, true);
      if (!exits.empty()) dependencies = std::move(exits);
    } else if (work->as<ConditionalOperation>() != nullptr) {
      add_conditional(work);
      work = empty_work();
    }
    index_of[position] = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back({std::move(work), std::move(dependencies), is_child ? 0 : node.id, {}});
  }
  std::vector<uint32_t> exits;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!has_dependents[i]) exits.push_back(index_of[i]);
  }
  return exits;
}
std::vector<GraphExec::FlatNode> GraphExec::flatten(const Graph& graph) {
  Flattening list;
  list.add_defaults(graph);
  static_cast<void>(list.add(graph, {}, false));
  return list.take();
}

Result<Ref<GraphExec>> GraphExec::create(const Graph& graph) {
  const kmb_backend& backend = graph.backend();
  if (backend.graph_create == nullptr) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "device %s has no graphs",
                      graph.context().device().info().uri);
  }
  Ref<GraphExec> exec = Ref<GraphExec>::adopt(new GraphExec(graph, graph.clone()));
  exec->nodes_ = flatten(*exec->graph_);
  NativeNodes native;
  for (const FlatNode& node : exec->nodes_) {
    native.add(node);
    exec->has_events_ = exec->has_events_ || node.work->as<EventRecordOperation>() != nullptr;
  }
  Uses uses = exec->uses_of(exec->nodes_);
  KM_TRY(call_backend(backend.graph_create, graph.context().native(), native.data(), native.size(),
                      &exec->native_));
  native.release();
  KM_ASSERT(exec->native_ != nullptr, "a backend that succeeds has made a graph");
  exec->of_nodes_ = std::move(uses);
  return exec;
}

/// Keeps the node's memory and module alive until all launches so far are over.
void GraphExec::retire(const GraphWork& work) {
  const std::span<const kmb_use> uses = uses_.uses();
  for (size_t i = 0; i < uses.size(); ++i) {
    Stream& stream = *uses_.streams()[i];
    for (const Ref<Memory>& memory : work.memories) memory->record_use(stream, uses[i].ticket);
    if (const auto* kernel = work.as<KernelOperation>()) {
      kernel->function->module().uses().record(stream, uses[i].ticket);
    }
  }
}

GraphExec::~GraphExec() {
  for (const FlatNode& node : nodes_) retire(*node.work);
  if (native_ != nullptr) backend().graph_destroy(native_);
  if (order_ != nullptr) backend().event_destroy(order_);
}

Status GraphExec::wait_for_other_stream(Stream& stream) {
  if (last_stream_->is_idle()) return {};
  if (order_ == nullptr) {
    KM_TRY(call_backend(backend().event_create, context().native(),
                        km_event_flags{KM_EVENT_DISABLE_TIMING}, &order_));
  }
  KM_TRY(call_backend(backend().event_record, order_, last_stream_->native()));
  return call_backend(backend().stream_wait_event, stream.native(), order_);
}

Status GraphExec::enable_device_launch(uint64_t handle) {
  if (backend().graph_upload == nullptr) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "kernels of device %s cannot launch graphs",
                      context().device().info().uri);
  }
  const std::lock_guard lock(mutex_);
  device_handle_ = handle;
  return {};
}

Status GraphExec::upload_if_changed() {
  if (device_handle_ == 0 || is_uploaded_) return {};
  NativeNodes native;
  std::vector<SharedWork> uploaded;
  for (const FlatNode& node : nodes_) {
    native.add(node, !disabled_.contains(node.id));
    uploaded.push_back(node.work);
  }
  KM_TRY(
      call_backend(backend().graph_upload, native_, device_handle_, native.data(), native.size()));
  uploaded_.swap(uploaded);
  is_uploaded_ = true;
  return {};
}

Status GraphExec::upload(Stream& stream) {
  KM_TRY(require_same_context(context(), stream.context(), "stream"));
  const std::lock_guard lock(mutex_);
  KM_TRY(upload_if_changed());
  if (is_restored_) return {};
  const bool has_updatable = std::any_of(
      nodes_.begin(), nodes_.end(), [](const FlatNode& node) { return node.work->is_updatable(); });
  if (!has_updatable) return {};
  if (stream.is_capturing()) return refuse_capture(stream, "uploading a graph");
  return submit_run(stream, backend().graph_restore);
}

Status GraphExec::launch(Stream& stream) {
  KM_TRY(require_same_context(context(), stream.context(), "stream"));
  const std::lock_guard lock(mutex_);
  if (stream.is_capturing()) [[unlikely]]
    return capture_work(stream, child_work(graph_->clone_as_child(), of_nodes_.memory));
  if (device_handle_ != 0) [[unlikely]]
    KM_TRY(upload_if_changed());
  KM_TRY(submit_run(stream, backend().graph_launch));
  if (has_events_) [[unlikely]]
    note_records();
  return {};
}

/// Queues a launch or an upload on the stream, after all earlier launches of the graph.
Status GraphExec::submit_run(Stream& stream, RunEntry entry) {
  if (last_stream_.get() != &stream) {
    if (last_stream_ && last_stream_->native() != stream.native()) {
      KM_TRY(wait_for_other_stream(stream));
    }
    last_stream_ = Ref<Stream>::share(stream);
  }
  if (has_new_variables()) [[unlikely]]
    of_nodes_ = uses_of(nodes_);
  uint64_t ticket = 0;
  KM_TRY(submit(stream, of_nodes_.memory, [&](Submission&, uint64_t* out_ticket) {
    Status launched = call_backend(entry, native_, stream.native(), &ticket);
    *out_ticket = ticket;
    return launched;
  }));
  is_restored_ = true;
  uses_.record(stream, ticket);
  for (const Uses::UsedModule& used : of_nodes_.modules) {
    used.module->note_launch(stream, ticket, used.variables);
  }
  return {};
}

/// True if a module got its access list of variables after uses_of().
bool GraphExec::has_new_variables() const {
  return std::any_of(
      of_nodes_.modules.begin(), of_nodes_.modules.end(),
      [](const Uses::UsedModule& used) { return used.variables != used.module->variables(); });
}

GraphExec::Uses GraphExec::uses_of(const std::vector<FlatNode>& nodes) const {
  Uses all;
  std::set<Module*> modules;
  for (const FlatNode& node : nodes) {
    const GraphWork& work = *node.work;
    if (work.child() != nullptr) continue;  // the list has the child's nodes
    all.memory.insert(all.memory.end(), work.uses.begin(), work.uses.end());
    const auto* const kernel = work.as<KernelOperation>();
    if (context().is_ordered() && kernel != nullptr) modules.insert(&kernel->function->module());
  }
  for (Module* module : modules) {
    AccessList* const variables = module->variables();
    all.modules.push_back({module, variables});
    if (variables != nullptr) all.memory.push_back(MemoryUse::of_variables(variables));
  }
  merge_uses(&all.memory);
  return all;
}

void GraphExec::note_records() {
  for (const FlatNode& node : nodes_) {
    if (const auto* record = node.work->as<EventRecordOperation>()) record->event->note_recorded();
  }
}

GraphDifference GraphExec::compare(const Graph& graph) const {
  const std::lock_guard lock(mutex_);
  return compare_graphs(*graph_, graph);
}

/// `changed` must have this graph's topology and no other user that could change it.
Status GraphExec::take_over(Ref<Graph> changed) {
  const GraphDifference difference = compare_graphs(*graph_, *changed);
  if (difference.kind != KM_GRAPH_DIFFERENCE_NONE) return mismatch(difference);
  std::vector<FlatNode> nodes = flatten(*changed);
  KM_ASSERT(nodes.size() == nodes_.size(), "graphs of one topology have lists of one length");
  std::vector<uint32_t> indices;
  NativeNodes native;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].work == nodes_[i].work) continue;
    indices.push_back(i);
    native.add(nodes[i], !disabled_.contains(nodes[i].id));
  }
  Uses uses = uses_of(nodes);
  KM_TRY(
      call_backend(backend().graph_update, native_, indices.data(), native.data(), native.size()));
  native.release();
  for (uint32_t i : indices) retire(*nodes_[i].work);
  nodes_.swap(nodes);
  of_nodes_ = std::move(uses);
  graph_ = std::move(changed);
  is_uploaded_ = is_restored_ = false;
  return {};
}

Result<uint32_t> GraphExec::index_to_switch(uint64_t node) const {
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].id != node || node == 0) continue;
    const GraphWork& work = *nodes_[i].work;
    if (work.as<KernelOperation>() != nullptr || work.written_bytes() != 0) return i;
    return make_error(KM_ERROR_INVALID_ARGUMENT, "node %" PRIu64 " of kind %s cannot be switched",
                      node, graph_node_kind_name(work.kind()));
  }
  return make_error(KM_ERROR_INVALID_ARGUMENT, "node %" PRIu64 " was not instantiated", node);
}

Status GraphExec::set_enabled(uint64_t node, bool enabled) {
  const std::lock_guard lock(mutex_);
  KM_ASSIGN(const uint32_t index, index_to_switch(node));
  NativeNodes native;
  native.add(nodes_[index], enabled);
  KM_TRY(call_backend(backend().graph_update, native_, &index, native.data(), native.size()));
  is_uploaded_ = is_restored_ = false;
  if (enabled) {
    disabled_.erase(node);
  } else {
    disabled_.insert(node);
  }
  return {};
}

Result<bool> GraphExec::is_enabled(uint64_t node) const {
  const std::lock_guard lock(mutex_);
  KM_TRY(index_to_switch(node));
  return !disabled_.contains(node);
}

Status GraphExec::update(const Graph& graph) {
  KM_TRY(require_same_context(context(), graph.context(), "graph"));
  const std::lock_guard lock(mutex_);
  return take_over(graph.clone());
}

Status GraphExec::update_node(const Graph& graph, uint64_t node) {
  KM_TRY(require_same_context(context(), graph.context(), "graph"));
  KM_ASSIGN(const GraphNode theirs, graph.node(node));
  const std::lock_guard lock(mutex_);
  Ref<Graph> changed = graph_->clone();
  Graph* const copy = changed->find_copy(graph);
  Graph& own = copy != nullptr ? *copy : *changed;  // others correspond by the ids of their nodes
  const Result<GraphNode> ours = own.node(node);
  if (!ours || ours->work->kind() != theirs.work->kind()) {
    return mismatch({KM_GRAPH_DIFFERENCE_NODE_KIND, node});
  }
  if (!std::is_permutation(ours->dependencies.begin(), ours->dependencies.end(),
                           theirs.dependencies.begin(), theirs.dependencies.end())) {
    return mismatch({KM_GRAPH_DIFFERENCE_DEPENDENCIES, node});
  }
  KM_TRY(own.set(node, theirs.work));
  return take_over(std::move(changed));
}

}  // namespace km
