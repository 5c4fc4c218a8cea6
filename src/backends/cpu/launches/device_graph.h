// Graphs that kernels launch (cudaGraphLaunch in device code). A kernel of a graph may launch
// others, which run after its blocks, and tails, which run after the whole graph.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backends/cpu/launches/device_work.h"
#include "backends/cpu/stream/graph_program.h"
#include "base/result.h"

namespace km::cpu {

/// The launches of a graph by kernels: one may run, and one may wait to be a tail.
struct DeviceGraphUse {
  std::atomic<bool> is_running{false}, is_tail{false};
};

/// An uploaded graph. Immutable.
class DeviceGraph {
 public:
  /// `use` belongs to the graph and is shared by all its uploads. `program` provides the nodes.
  static Result<std::shared_ptr<const DeviceGraph>> make(uint64_t handle,
                                                         std::span<const kmb_graph_node> nodes,
                                                         const GraphProgram& program,
                                                         std::shared_ptr<DeviceGraphUse> use);
  uint64_t handle() const { return handle_; }
  /// The nodes' work in topological order.
  const std::vector<DeviceWork>& works() const { return works_; }
  DeviceGraphUse& use() const { return *use_; }

 private:
  class WorkMaker;

  DeviceGraph(uint64_t handle, std::shared_ptr<DeviceGraphUse> use)
      : handle_(handle), use_(std::move(use)) {}

  const uint64_t handle_;
  const std::shared_ptr<DeviceGraphUse> use_;
  std::vector<DeviceWork> works_;
  std::vector<std::vector<uint8_t>> arguments_;  // arguments of the kernels
};

/// One launch of a graph by a kernel. It counts as running while this object lives.
class DeviceGraphLaunch {
 public:
  /// Returns null if another launch excludes this one.
  static std::shared_ptr<DeviceGraphLaunch> begin(std::shared_ptr<const DeviceGraph> graph,
                                                  bool is_tail);
  ~DeviceGraphLaunch() { end(); }
  DeviceGraphLaunch(const DeviceGraphLaunch&) = delete;
  DeviceGraphLaunch& operator=(const DeviceGraphLaunch&) = delete;

  const DeviceGraph& graph() const { return *graph_; }
  /// Called when the graph starts: a further launch may then wait to be its tail.
  void start();
  /// Called when the graph's nodes are over: it may be launched again.
  void end();

 private:
  DeviceGraphLaunch(std::shared_ptr<const DeviceGraph> graph, std::atomic<bool>* claim)
      : graph_(std::move(graph)), claim_(claim) {}

  const std::shared_ptr<const DeviceGraph> graph_;
  std::atomic<bool>* claim_;  // a flag of the graph's use; null: none is claimed
};

/// The launches that kernels of one graph have made while it runs; CUDA calls this the graph's
/// execution environment.
class GraphEnvironment final : public GraphTails {
 public:
  // Limits of the CUDA Programming Guide, "Device Graph Launch".
  static constexpr uint32_t kMostLaunches = 120, kMostTails = 255;

  /// Counts a launch that does not wait for the graph's end; false if there are too many.
  bool count_launch();
  /// Adds a tail; false if too many wait.
  bool add_tail(DeviceWork tail);
  bool has_tails() const;
  std::unique_ptr<FollowUps> begin_tails(Context* context) override;
  /// Returns the tails when the graph's nodes are over, and resets the counters.
  std::vector<DeviceWork> take_tails();

 private:
  mutable std::mutex mutex_;
  std::vector<DeviceWork> tails_;
  uint32_t launches_ = 0;
};

}  // namespace km::cpu
