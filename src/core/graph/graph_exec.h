// Graphs that are ready to run.
#pragma once

#include <mutex>
#include <set>
#include <vector>

#include "core/graph/graph_operation.h"

namespace km {

class GraphExec final : public ContextChild {
 public:
  static Result<Ref<GraphExec>> create(const Graph& graph);

  /// Queues one run, after the runs before in whatever stream.
  Status launch(Stream& stream);
  /// Takes over the parameters of a node of this number.
  Status update_node(const Graph& graph, uint64_t node);
  /// Takes over all parameters of a graph of the same topology.
  Status update(const Graph& graph);
  GraphDifference compare(const Graph& graph) const;
  /// A node that is off does nothing, until it is on again. Kernels, copies and fills only.
  Status set_enabled(uint64_t node, bool enabled);
  Result<bool> is_enabled(uint64_t node) const;
  /// Lets kernels launch the graph by this handle, once it is uploaded.
  Status enable_device_launch(uint64_t handle);
  /// Makes kernels launch the graph as it is now, and ends what kernels have changed of nodes that
  /// the host has changed since. The host's launches do so, too.
  Status upload(Stream& stream);

 private:
  /// A node without children around it.
  struct FlatNode {
    SharedWork work;
    std::vector<uint32_t> dependencies;  // indices of nodes before
    uint64_t id = 0;                     // of what is no child's
    kmb_branch branch{};
  };
  /// The nodes' uses of memory, as far as they are ordered.
  struct Uses {
    std::vector<MemoryUse> memory;  // sorted
    struct UsedModule {
      Module* module;  // which a kernel keeps
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

  mutable std::mutex mutex_;  // guards what follows
  Ref<Graph> graph_;          // as it runs; never changed
  std::vector<FlatNode> nodes_;
  std::set<uint64_t> disabled_;  // ids
  bool has_events_ = false;      // that are recorded
  Uses of_nodes_;
  kmb_graph* native_ = nullptr;
  uint64_t device_handle_ = 0;        // by which kernels launch it; 0: they may not
  bool is_uploaded_ = false;          // as it is now
  bool is_restored_ = true;           // nodes that kernels change: see graph_restore
  std::vector<SharedWork> uploaded_;  // by kernels' launches in use until the next upload
  UseList uses_;                      // the launches
  Ref<Stream> last_stream_;           // of the last launch
  kmb_event* order_ = nullptr;
};

}  // namespace km
