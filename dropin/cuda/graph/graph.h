// Graphs of the driver API over those of the core.
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

/// Base of what this library remembers of a node beside the core's work: GraphWork::note.
struct NodeNote {
  CUgraphNodeType type;
};
/// Null for nodes that the core says everything of.
inline const NodeNote* note_of(const GraphWork& work) {
  return static_cast<const NodeNote*>(work.note.get());
}
/// For GraphWork::note.
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
  /// Pointers to a kernel's arguments, which live as long as the node.
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
  /// `is_part`: of a node of another graph.
  Graph(Context& context, Ref<km::Graph> core, bool is_part = false)
      : context_(Ref<Context>::share(context)), core_(std::move(core)), is_part_(is_part) {}
  ~Graph() override;

  Context& context() const { return *context_; }
  km::Graph& core() const { return *core_; }
  /// The handle of a node, the same one each time.
  CUgraphNode handle_of_node(uint64_t node);
  void forget_node(uint64_t node);
  /// The numbers of nodes that must be of this graph.
  CUresult numbers_of(const CUgraphNode* nodes, size_t count, std::vector<uint64_t>* out) const;
  CUresult add(const CUgraphNode* dependencies, size_t count, SharedWork work, CUgraphNode* out);
  /// The child graph of a node as an object of its own, made once.
  CUgraph child_of(uint64_t node, const SharedWork& work);
  /// Handles of the graphs that a node decides on. The array lives as long as the node.
  CUgraph* bodies_of(uint64_t node, const SharedWork& work);
  /// Makes the graph, which has become the child of the node, a part of this one.
  void take_child(uint64_t node, Graph& child);
  bool is_part() const { return is_part_.load(); }

  void keep_value(std::shared_ptr<ConditionalValue> value);
  /// A handle that no node has, here or in graphs within nodes.
  bool has_unused_value();
  /// For the one instantiation of a graph of which there may be only one; null: there is one.
  std::shared_ptr<void> claim();
  bool is_claimed();

  /// References to what the program gave the graph to look after; clones get their own.
  void keep(UserObject& object, uint64_t count);
  void keep_all(const UserReferences& references);
  void keep_all_of(Graph& other) { keep_all(other.references()); }
  /// Hands references over to the caller; false: there are not so many.
  bool take(UserObject& object, uint64_t count);
  UserReferences references();

 private:
  const Ref<Context> context_;
  const Ref<km::Graph> core_;
  std::mutex mutex_;  // guards what follows
  std::map<uint64_t, Ref<GraphNode>> nodes_;
  std::map<uint64_t, Ref<Graph>> children_;
  struct Bodies {  // it ends their handles
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

/// The handle of a graph that streams of the context are captured into: the same one while the
/// capture goes on and at its end.
CUgraph publish_captured(Context& context, Ref<km::Graph> graph);
/// Streams are captured into a graph that has a handle already.
void note_captured(const Graph& graph);
/// True if the program has a handle of the graph, of which a capture makes or made nodes.
bool knows_captured(const km::Graph& graph);

class GraphExec final : public Handled {
 public:
  /// Keeps what the graph refers to.
  GraphExec(Graph& graph, Ref<km::GraphExec> core, uint64_t flags, std::shared_ptr<void> claim);
  ~GraphExec() override;
  Context& context() const { return *context_; }
  km::GraphExec& core() const { return *core_; }
  uint64_t flags() const { return flags_; }
  /// True if CUDA lets kernels launch it.
  bool launches_by_kernels() const {
    return (flags_ & cu::CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0;
  }
  /// True if kernels change nodes of it.
  bool is_updatable() const { return is_updatable_; }
  /// Those that allocate and free.
  const std::vector<SharedWork>& memory_nodes() const { return memory_nodes_; }
  CUresult launch(Stream& stream);
  /// Takes over the parameters of a graph with the same nodes, and what that looks after.
  Status update(Graph& graph);

 private:
  const Ref<Context> context_;
  Ref<km::GraphExec> core_;
  const uint64_t flags_;
  const bool is_updatable_;
  const std::shared_ptr<void> claim_;  // of a graph with one instantiation
  std::vector<SharedWork> memory_nodes_;
  std::mutex mutex_;  // guards what follows
  UserReferences references_;
  Ref<km::Stream> last_stream_;  // of the last launch since the graph looks after something
};

/// A call for nodes of one type has been given another.
inline CUresult other_type() {
  return fail(CUDA_ERROR_INVALID_VALUE, "the node is of another type");
}

/// A node with the graph that it is in, both in place.
struct NodeUse {
  Pin<GraphNode> pinned;
  Pin<Graph> graph;
  km::GraphNode node;

  CUresult get(CUgraphNode handle);
};

// The work of nodes from CUDA's parameters, and the other way round.
/// Parameters of the first version of the API, which knows no kernels of libraries.
CUDA_KERNEL_NODE_PARAMS newer(const CUDA_KERNEL_NODE_PARAMS_v1& old);
/// `old`: what the node has had, null: a new node. Its attributes stay.
CUresult kernel_work_of(const CUDA_KERNEL_NODE_PARAMS& params, const GraphWork* old,
                        SharedWork* out);
/// `old`: what the node has had, null: a new node. Its kind stays where it can.
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

/// New work for a node of what was instantiated; the graph stays as it is.
CUresult update_node(CUgraphExec exec, CUgraphNode node, SharedWork work);

}  // namespace km::dropin
