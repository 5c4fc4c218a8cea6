// Graphs of the driver API, built on the core's graphs.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "core/graph/graph_exec.h"
#include "core/graph/graph_operation.h"
#include "dropin/cuda/graph/user_object.h"
#include "dropin/cuda/launch/launch.h"
#include "dropin/cuda/stream/attribute_set.h"

namespace km::dropin {

/// Base of the data that this library attaches to a node's work (GraphWork::note).
struct NodeNote {
  CUgraphNodeType type;
};
/// Null for nodes that the core's work describes completely.
inline const NodeNote* note_of(const GraphWork& work) {
  return static_cast<const NodeNote*>(work.note.get());
}
/// Makes a note to be stored as GraphWork::note.
template <class Note>
std::shared_ptr<const void> as_note(std::shared_ptr<const Note> note) {
  return std::shared_ptr<const NodeNote>(std::move(note));
}

class ConditionalValue;

class GraphNode final : public Handled {
 public:
  GraphNode(uint64_t graph_id, uint64_t node) : graph_id_(graph_id), node_(node) {}
  CUgraph graph() const { return reinterpret_cast<CUgraph>(graph_id_); }
  uint64_t node() const { return node_; }

  AttributeSet& attributes() { return attributes_; }
  /// Pointers to a kernel's arguments, valid as long as the node.
  void** arguments_of(const SharedWork& work);

 private:
  const uint64_t graph_id_;
  const uint64_t node_;
  std::mutex mutex_;
  SharedWork kept_;
  std::vector<void*> pointers_;
  AttributeSet attributes_;
};

class Graph final : public Handled {
 public:
  /// `is_part`: the graph is inside a node of another graph.
  Graph(Context& context, Ref<km::Graph> core, bool is_part = false)
      : context_(Ref<Context>::share(context)), core_(std::move(core)), is_part_(is_part) {}
  ~Graph() override;

  Context& context() const { return *context_; }
  km::Graph& core() const { return *core_; }
  /// A node's handle, the same for every call.
  CUgraphNode handle_of_node(uint64_t node);
  void forget_node(uint64_t node);
  /// The core's numbers of nodes, all of which must belong to this graph.
  CUresult numbers_of(const CUgraphNode* nodes, size_t count, std::vector<uint64_t>* out) const;
  CUresult add(const CUgraphNode* dependencies, size_t count, SharedWork work, CUgraphNode* out);
  /// A node's child graph as an object of its own, created once.
  CUgraph child_of(uint64_t node, const SharedWork& work);
  /// Handles of a conditional node's body graphs. The array lives as long as the node.
  CUgraph* bodies_of(uint64_t node, const SharedWork& work);
  /// Makes a graph, now the child of `node`, a part of this graph.
  void take_child(uint64_t node, Graph& child);
  bool is_part() const { return is_part_.load(); }

  void keep_value(std::shared_ptr<ConditionalValue> value);
  /// True if a conditional handle of this graph, or of a graph within its nodes, has no node yet.
  bool has_unused_value();
  /// Claims the only instantiation that the graph may have. Null if it has one already.
  std::shared_ptr<void> claim();
  bool is_claimed();

  /// Adds references to an object that the program gave the graph; clones get references of their
  /// own.
  void keep(UserObject& object, uint64_t count);
  void keep_all(const UserReferences& references);
  void keep_all_of(Graph& other) { keep_all(other.references()); }
  /// Moves references to the caller; returns false if the graph has fewer.
  bool take(UserObject& object, uint64_t count);
  UserReferences references();

 private:
  const Ref<Context> context_;
  const Ref<km::Graph> core_;
  std::mutex mutex_;  // guards the members below
  std::map<uint64_t, Ref<GraphNode>> nodes_;
  std::map<uint64_t, Ref<Graph>> children_;
  struct Bodies {  // its destructor ends the graphs' handles
    Bodies() = default;
    ~Bodies();
    Bodies(const Bodies&) = delete;
    Bodies& operator=(const Bodies&) = delete;
    std::vector<Ref<Graph>> graphs;
    std::vector<CUgraph> handles;
  };
  std::map<uint64_t, Bodies> bodies_;
  std::vector<std::shared_ptr<ConditionalValue>> values_;
  UserReferences references_;
  std::weak_ptr<void> claim_;
  std::atomic<bool> is_part_;
};

/// The handle of a graph that a capture in the context creates. It stays the same during the
/// capture and after its end.
CUgraph publish_captured(Context& context, Ref<km::Graph> graph);
/// Records that streams are captured into a graph that already has a handle.
void note_captured(const Graph& graph);
/// True if the program has a handle of this graph, to which a capture adds or added nodes.
bool knows_captured(const km::Graph& graph);

class GraphExec final : public Handled {
 public:
  /// Takes references to the graph's user objects.
  GraphExec(Graph& graph, Ref<km::GraphExec> core, uint64_t flags, std::shared_ptr<void> claim);
  ~GraphExec() override;
  Context& context() const { return *context_; }
  km::GraphExec& core() const { return *core_; }
  uint64_t flags() const { return flags_; }
  /// True if kernels may launch it, by CUDA's rules.
  bool launches_by_kernels() const {
    return (flags_ & cu::CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0;
  }
  /// True if it has nodes that kernels can change.
  bool is_updatable() const { return is_updatable_; }
  /// Nodes that allocate or free memory.
  const std::vector<SharedWork>& memory_nodes() const { return memory_nodes_; }
  CUresult launch(Stream& stream);
  /// Takes over the parameters of a graph with the same topology, and its user objects.
  Status update(Graph& graph);

 private:
  const Ref<Context> context_;
  Ref<km::GraphExec> core_;
  const uint64_t flags_;
  const bool is_updatable_;
  // marks the only instantiation; null if a graph may have several
  const std::shared_ptr<void> claim_;
  std::vector<SharedWork> memory_nodes_;
  std::mutex mutex_;  // guards the members below
  UserReferences references_;
  Ref<km::Stream> last_stream_;  // the stream of the last launch, if user objects must outlive it
};

/// The error for a node of another type than the call expects.
inline CUresult other_type() {
  return fail(CUDA_ERROR_INVALID_VALUE, "the node is of another type");
}

/// A node and the graph that contains it, both pinned.
struct NodeUse {
  Pin<GraphNode> pinned;
  Pin<Graph> graph;
  km::GraphNode node;

  CUresult get(CUgraphNode handle);
};

// Converts parameters of the API's first version, which has no kernels of libraries.
CUDA_KERNEL_NODE_PARAMS newer(const CUDA_KERNEL_NODE_PARAMS_v1& old);
/// Makes a kernel's work from CUDA's parameters. `old` is the node's work so far, whose attributes
/// are kept; null for a new node.
CUresult kernel_work_of(const CUDA_KERNEL_NODE_PARAMS& params, const GraphWork* old,
                        SharedWork* out);
/// Makes a copy's work from CUDA's parameters. `old` is the node's work so far, whose kind is kept
/// if possible; null for a new node.
CUresult memcpy_work_of(Context& context, const CUDA_MEMCPY3D& copy, const GraphWork* old,
                        SharedWork* out);
CUresult memset_work_of(Context& context, const CUDA_MEMSET_NODE_PARAMS& params,
                        const GraphWork* old, SharedWork* out);
CUresult host_work_of(const Context& context, const CUDA_HOST_NODE_PARAMS& params, SharedWork* out);
CUresult read_kernel(GraphNode& node, const SharedWork& work, CUDA_KERNEL_NODE_PARAMS* out);
CUDA_MEMCPY3D read_memcpy(const GraphWork& work);
CUDA_MEMSET_NODE_PARAMS read_memset(const GraphWork& work);
CUDA_HOST_NODE_PARAMS read_host(const SharedWork& work);
CUgraphNodeType type_of(const GraphWork& work);

/// Replaces the work of a node in an executable graph; the graph it was made from is unchanged.
CUresult update_node(CUgraphExec exec, CUgraphNode node, SharedWork work);

}  // namespace km::dropin
