// Graphs as the host creates and changes them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "backend/interface.h"
#include "backends/cpu/stream/graph_program.h"
#include "base/result.h"

namespace km::cpu {

class Context;
class GraphEnvironment;
struct DeviceGraphUse;

/// Builds the programs of one graph: a new one after each change.
class Graph {
 public:
  static Result<std::unique_ptr<Graph>> make(Context* context,
                                             std::span<const kmb_graph_node> nodes);
  ~Graph();
  Status update(std::span<const uint32_t> indices, std::span<const kmb_graph_node> nodes);
  /// Makes these nodes the graph that kernels launch by the handle.
  Status upload(uint64_t handle, std::span<const kmb_graph_node> nodes);
  const std::shared_ptr<const GraphProgram>& program() const { return program_; }

 private:
  explicit Graph(Context* context);
  static uint64_t next_number();
  void set_environment(GraphProgram* program);
  void make_updates(GraphNode* made, const kmb_graph_node& node, const GraphNode* before) const;
  Context* const context_;
  const uint64_t number_;                // of all graphs of the process, for data of tasks
  std::shared_ptr<DeviceGraphUse> use_;  // null: never uploaded
  std::shared_ptr<GraphEnvironment> environment_;  // for its runs; null: its kernels launch nothing
  std::shared_ptr<const GraphProgram> program_;
};

}  // namespace km::cpu
