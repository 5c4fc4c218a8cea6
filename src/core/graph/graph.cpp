#include "core/graph/graph.h"

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <functional>
#include <queue>

#include "base/assert.h"
#include "core/graph/graph_operation.h"

namespace km {
namespace {

auto by_id(const std::vector<GraphNode>& nodes, uint64_t id) {
  return std::lower_bound(nodes.begin(), nodes.end(), id,
                          [](const GraphNode& node, uint64_t value) { return node.id < value; });
}

/// A node's dependencies as sorted positions, which unlike ids are comparable between graphs.
std::vector<size_t> positions(const std::vector<GraphNode>& nodes, const GraphNode& node) {
  std::vector<size_t> found;
  found.reserve(node.dependencies.size());
  for (uint64_t id : node.dependencies) found.push_back(position_of(nodes, id));
  std::sort(found.begin(), found.end());
  return found;
}

/// A copy of the work with another operation.
SharedWork with_operation(const GraphWork& work, GraphOperation operation) {
  return std::make_shared<GraphWork>(
      GraphWork{std::move(operation), work.memories, work.uses, work.note});
}

uint64_t new_origin() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// Calls `visit` with each graph that a node's work has within it.
template <typename Visit>
void for_each_part(const GraphWork& work, const Visit& visit) {
  if (const auto* child = work.as<ChildOperation>()) visit(*child->graph);
  if (const auto* conditional = work.as<ConditionalOperation>()) {
    for (const Ref<Graph>& body : conditional->bodies) visit(*body);
  }
}

/// The work with its child graphs cloned; the same object if it has none.
SharedWork copy_of(const SharedWork& work) {
  if (const Graph* child = work->child()) {
    return with_operation(*work, ChildOperation{child->clone()});
  }
  if (const auto* conditional = work->as<ConditionalOperation>()) {
    ConditionalOperation copy = *conditional;
    for (Ref<Graph>& body : copy.bodies) body = body->clone();
    return with_operation(*work, std::move(copy));
  }
  return work;
}

/// True if the child graphs of two nodes of one kind differ.
bool children_differ(const GraphWork& ours, const GraphWork& theirs) {
  const Graph* const own = ours.child();
  return own != nullptr && compare_graphs(*own, *theirs.child()).kind != KM_GRAPH_DIFFERENCE_NONE;
}

/// True if the conditions of two nodes of one kind, or their graphs, differ.
bool bodies_differ(const GraphWork& our_work, const GraphWork& their_work) {
  const auto* const ours = our_work.as<ConditionalOperation>();
  if (ours == nullptr || &our_work == &their_work) return false;
  const ConditionalOperation &own = *ours, &other = *their_work.as<ConditionalOperation>();
  return own.condition != other.condition ||
         !std::equal(own.bodies.begin(), own.bodies.end(), other.bodies.begin(), other.bodies.end(),
                     [](const Ref<Graph>& body, const Ref<Graph>& their_body) {
                       return compare_graphs(*body, *their_body).kind == KM_GRAPH_DIFFERENCE_NONE;
                     });
}

}  // namespace

size_t position_of(const std::vector<GraphNode>& nodes, uint64_t id) {
  const auto found = by_id(nodes, id);
  KM_ASSERT(found != nodes.end() && found->id == id, "a dependency is a node of the same graph");
  return static_cast<size_t>(found - nodes.begin());
}

const char* graph_node_kind_name(km_graph_node_kind kind) {
  constexpr const char* kNames[] = {"invalid",        "kernel",
                                    "copy",           "upload",
                                    "download",       "fill",
                                    "host",           "empty",
                                    "child",          "copy of rows",
                                    "upload of rows", "download of rows",
                                    "fill of rows",   "copy between contexts",
                                    "blas",           "library"};
  if (kind == KM_GRAPH_NODE_MEMORY_OPS) return "operations on memory";
  if (kind == KMB_GRAPH_NODE_EVENT_RECORD) return "record of an event";
  if (kind == KMB_GRAPH_NODE_EVENT_WAIT) return "wait for an event";
  if (kind == KMB_GRAPH_NODE_TASK) return "task of a library";
  if (kind == KMB_GRAPH_NODE_BRANCH) return "conditional";
  KM_ASSERT(static_cast<size_t>(kind) < std::size(kNames), "each kind of node has its name");
  return kNames[kind];
}

GraphNode* Graph::find(uint64_t id) {
  const auto found = by_id(nodes_, id);
  if (found == nodes_.end() || found->id != id) return nullptr;
  return &nodes_[static_cast<size_t>(found - nodes_.begin())];
}

Error Graph::no_such_node(uint64_t id, const char* what) const {
  return make_error(KM_ERROR_INVALID_ARGUMENT,
                    "%s is %" PRIu64
                    ", which is not a node of the graph; it has %zu, up to %" PRIu64,
                    what, id, nodes_.size(), nodes_.empty() ? 0 : nodes_.back().id);
}

Graph::Graph(Context& context) : ContextChild(context), origin_(new_origin()) {}

Ref<Graph> Graph::clone_as_child() const {
  Ref<Graph> copy = clone();
  copy->renew_origins();
  return copy;
}

void Graph::renew_origins() {
  origin_ = new_origin();
  for (const GraphNode& node : nodes_) {
    for_each_part(*node.work, [](Graph& part) { part.renew_origins(); });
  }
}

Graph* Graph::find_copy(const Graph& other) {
  if (origin_ == other.origin_) return this;
  Graph* found = nullptr;
  for (const GraphNode& node : nodes_) {
    for_each_part(*node.work, [&](Graph& part) {
      if (found == nullptr) found = part.find_copy(other);
    });
  }
  return found;
}

Ref<Graph> Graph::clone() const {
  Ref<Graph> copy = Ref<Graph>::adopt(new Graph(PartOf{*this}));
  const std::lock_guard lock(mutex_);
  copy->nodes_ = nodes_;
  for (GraphNode& node : copy->nodes_) node.work = copy_of(node.work);
  copy->last_id_ = last_id_;
  copy->origin_ = origin_;
  KM_ASSERT(nodes_.empty() || nodes_.back().id <= last_id_,
            "no node has a number beyond the last one assigned");
  return copy;
}

Result<uint64_t> Graph::add(std::span<const uint64_t> dependencies, SharedWork work) {
  const std::lock_guard lock(mutex_);
  // A list longer than the number of nodes has a duplicate or a wrong id within its first nodes + 1
  // entries, so a wrong count never reads further.
  const auto read = dependencies.first(std::min(dependencies.size(), nodes_.size() + 1));
  for (uint64_t id : read) {
    if (find(id) == nullptr) return no_such_node(id, "a dependency");
  }
  std::vector<uint64_t> sorted(read.begin(), read.end());
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "dependencies name node %" PRIu64 " twice",
                      *twice);
  }
  KM_ASSERT(work != nullptr, "a node has work");
  KM_ASSERT(nodes_.empty() || nodes_.back().id <= last_id_, "nodes are sorted by their ids");
  nodes_.push_back({last_id_ + 1, {read.begin(), read.end()}, std::move(work)});
  return ++last_id_;
}

Status Graph::set(uint64_t id, SharedWork work) {
  const std::lock_guard lock(mutex_);
  KM_ASSERT(work != nullptr, "a node has work");
  GraphNode* node = find(id);
  if (node == nullptr) return no_such_node(id, "node");
  if (node->work->kind() != work->kind()) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "node %" PRIu64 " is of kind %s, not %s", id,
                      graph_node_kind_name(node->work->kind()), graph_node_kind_name(work->kind()));
  }
  node->work.swap(work);
  return {};
}

Status Graph::remove(uint64_t id) {
  const std::lock_guard lock(mutex_);
  if (find(id) == nullptr) return no_such_node(id, "node");
  for (GraphNode& node : nodes_) std::erase(node.dependencies, id);
  nodes_.erase(by_id(nodes_, id));
  KM_ASSERT(find(id) == nullptr, "an id names one node");
  return {};
}

/// Flags by position: true for the heads and all nodes that they depend on.
std::vector<bool> Graph::ancestors_of(std::span<const uint64_t> heads) const {
  std::vector<bool> seen(nodes_.size());
  std::vector<uint64_t> open(heads.begin(), heads.end());
  while (!open.empty()) {
    const uint64_t id = open.back();
    open.pop_back();
    if (find(id) == nullptr) continue;  // a head that was removed meanwhile
    const size_t position = position_of(nodes_, id);
    if (seen[position]) continue;
    seen[position] = true;
    const std::vector<uint64_t>& before = nodes_[position].dependencies;
    open.insert(open.end(), before.begin(), before.end());
  }
  return seen;
}

bool Graph::covers(std::span<const uint64_t> heads, std::span<const uint64_t> nodes) const {
  const std::lock_guard lock(mutex_);
  const std::vector<bool> covered = ancestors_of(heads);
  return std::all_of(nodes.begin(), nodes.end(), [&](uint64_t id) {
    return find(id) == nullptr || covered[position_of(nodes_, id)];
  });
}

Status Graph::add_dependency(uint64_t from, uint64_t to) {
  const std::lock_guard lock(mutex_);
  if (find(from) == nullptr) return no_such_node(from, "from");
  GraphNode* target = find(to);
  if (target == nullptr) return no_such_node(to, "to");
  std::vector<uint64_t>& before = target->dependencies;
  if (std::find(before.begin(), before.end(), from) != before.end()) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "node %" PRIu64 " runs after node %" PRIu64 " already", to, from);
  }
  if (ancestors_of({&from, 1})[position_of(nodes_, to)]) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "node %" PRIu64 " cannot run after node %" PRIu64 ", which runs after it", to,
                      from);
  }
  KM_ASSERT(from != to, "a node's ancestors include itself");
  before.push_back(from);
  return {};
}

Status Graph::remove_dependency(uint64_t from, uint64_t to) {
  const std::lock_guard lock(mutex_);
  if (find(from) == nullptr) return no_such_node(from, "from");
  GraphNode* target = find(to);
  if (target == nullptr) return no_such_node(to, "to");
  if (std::erase(target->dependencies, from) != 0) return {};
  return make_error(KM_ERROR_NOT_FOUND,
                    "node %" PRIu64 " does not depend on node %" PRIu64 " directly", to, from);
}

std::vector<GraphNode> Graph::nodes() const {
  const std::lock_guard lock(mutex_);
  return nodes_;
}

Result<GraphNode> Graph::node(uint64_t id) const {
  const std::lock_guard lock(mutex_);
  const GraphNode* found = find(id);
  if (found == nullptr) return no_such_node(id, "node");
  return *found;
}

Result<std::vector<uint64_t>> Graph::dependents(uint64_t id) const {
  const std::lock_guard lock(mutex_);
  if (find(id) == nullptr) return no_such_node(id, "node");
  std::vector<uint64_t> found;
  for (const GraphNode& node : nodes_) {
    const std::vector<uint64_t>& before = node.dependencies;
    if (std::find(before.begin(), before.end(), id) != before.end()) found.push_back(node.id);
  }
  return found;
}

std::vector<size_t> topological_order(const std::vector<GraphNode>& nodes) {
  std::vector<size_t> left(nodes.size());
  std::vector<std::vector<size_t>> after(nodes.size());
  // The lowest position comes first, so that nodes stay in order of creation if that is a
  // topological order.
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes.size(); ++i) {
    left[i] = nodes[i].dependencies.size();
    for (uint64_t id : nodes[i].dependencies) after[position_of(nodes, id)].push_back(i);
    if (left[i] == 0) ready.push(i);
  }
  std::vector<size_t> order;
  order.reserve(nodes.size());
  while (!ready.empty()) {
    const size_t next = ready.top();
    ready.pop();
    order.push_back(next);
    for (size_t i : after[next]) {
      KM_ASSERT(left[i] != 0, "each dependency of a node ends once");
      if (--left[i] == 0) ready.push(i);
    }
  }
  KM_ASSERT(order.size() == nodes.size(), "add_dependency() allows no cycle");
  return order;
}

GraphDifference compare_graphs(const Graph& our_graph, const Graph& their_graph) {
  const std::vector<GraphNode> ours = our_graph.nodes();
  const std::vector<GraphNode> theirs = their_graph.nodes();
  for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
    const GraphWork &own = *ours[i].work, &other = *theirs[i].work;
    if (own.kind() != other.kind()) return {KM_GRAPH_DIFFERENCE_NODE_KIND, theirs[i].id};
    if (positions(ours, ours[i]) != positions(theirs, theirs[i])) {
      return {KM_GRAPH_DIFFERENCE_DEPENDENCIES, theirs[i].id};
    }
    if (children_differ(own, other) || bodies_differ(own, other)) {
      return {KM_GRAPH_DIFFERENCE_CHILD, theirs[i].id};
    }
  }
  if (ours.size() == theirs.size()) return {};
  return {KM_GRAPH_DIFFERENCE_NODE_COUNT, theirs.size() > ours.size() ? theirs[ours.size()].id : 0};
}

}  // namespace km
