// Executable graphs.
#pragma once

#include <mutex>
#include <set>
#include <vector>

#include "core/graph/graph_operation.h"

namespace km {

class GraphExec final : public ContextChild {
 public:
  static Result<Ref<GraphExec>> create(const Graph& graph);

  /// Queues one run, which waits for earlier runs on any stream.
  Status launch(Stream& stream);
  /// Copies the parameters of the node with this id from the graph.
  Status update_node(const Graph& graph, uint64_t node);
  /// Copies all parameters from a graph of the same topology.
  Status update(const Graph& graph);
  GraphDifference compare(const Graph& graph) const;
  /// A disabled node does nothing. Only kernels, copies and fills can be disabled.
  Status set_enabled(uint64_t node, bool enabled);
  Result<bool> is_enabled(uint64_t node) const;
  /// Allows kernels to launch the graph by this handle after an upload.
  Status enable_device_launch(uint64_t handle);
  /// Makes the current graph the one that kernels launch. Nodes that the host has changed lose the
  /// changes that kernels made. Launches by the host do this too.
  Status upload(Stream& stream);

 private:
  /// A node of the list that has no child graphs.
  struct FlatNode {
    SharedWork work;
    std::vector<uint32_t> dependencies;  // indices of earlier nodes
    uint64_t id = 0;                     // 0 for nodes of child graphs
    kmb_branch branch{};
  };
  /// The nodes' ordered uses of memory.
  struct Uses {
    std::vector<MemoryUse> memory;  // sorted
    struct UsedModule {
      Module* module;  // a kernel's function keeps it alive
      const AccessList* variables;
    };
    std::vector<UsedModule> modules;
  };
  class Flattening;
  class NativeNodes;

  GraphExec(const Graph& graph, Ref<Graph> own)
      : ContextChild(PartOf{graph}), graph_(std::move(own)) {}
  ~GraphExec() override;
  static std::vector<FlatNode> flatten(const Graph& graph);
  Uses uses_of(const std::vector<FlatNode>& nodes) const;
  bool has_new_variables() const;
  Status take_over(Ref<Graph> changed);
  Status wait_for_other_stream(Stream& stream);
  void retire(const GraphWork& work);
  void note_records();
  Result<uint32_t> index_to_switch(uint64_t node) const;
  Status upload_if_changed();
  using RunEntry = decltype(kmb_backend::graph_launch);
  Status submit_run(Stream& stream, RunEntry entry);

  mutable std::mutex mutex_;  // guards the members below
  Ref<Graph> graph_;          // the graph that runs; it is replaced, not changed
  std::vector<FlatNode> nodes_;
  std::set<uint64_t> disabled_;  // ids
  bool has_events_ = false;      // some node records an event
  Uses of_nodes_;
  kmb_graph* native_ = nullptr;
  uint64_t device_handle_ = 0;  // kernels launch the graph by it; 0: they may not
  bool is_uploaded_ = false;    // no change since the last upload
  // Nodes that kernels change have the host's parameters: see graph_restore.
  bool is_restored_ = true;
  std::vector<SharedWork> uploaded_;  // launches by kernels use it until the next upload
  UseList uses_;                      // the launches' uses of this graph
  Ref<Stream> last_stream_;           // of the last launch
  kmb_event* order_ = nullptr;
};

}  // namespace km
