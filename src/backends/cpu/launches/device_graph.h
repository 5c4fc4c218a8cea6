// Graphs that kernels launch (cudaGraphLaunch in device code). A kernel of a graph launches others,
// which run after its blocks, and tails, which run after the whole graph.
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

/// Tells if launches of a graph by kernels are under way: one may run at a time, and one may wait
/// to be a tail.
struct DeviceGraphUse {
  std::atomic<bool> is_running{false}, is_tail{false};
};

/// A graph as it was when it was uploaded. Immutable.
class DeviceGraph {
 public:
  /// `use` belongs to the graph, whatever is uploaded of it. The nodes are those of `program`.
  static Result<std::shared_ptr<const DeviceGraph>> make(uint64_t handle,
                                                         std::span<const kmb_graph_node> nodes,
                                                         const GraphProgram& program,
                                                         std::shared_ptr<DeviceGraphUse> use);
  uint64_t handle() const { return handle_; }
  /// The nodes' work, each after that which it depends on.
  const std::vector<DeviceWork>& works() const { return works_; }
  DeviceGraphUse& use() const { return *use_; }

 private:
  class WorkMaker;

  DeviceGraph(uint64_t handle, std::shared_ptr<DeviceGraphUse> use)
      : handle_(handle), use_(std::move(use)) {}

  const uint64_t handle_;
  const std::shared_ptr<DeviceGraphUse> use_;
  std::vector<DeviceWork> works_;
  std::vector<std::vector<uint8_t>> arguments_;  // of the kernels
};

/// One launch of a graph by a kernel, which is under way as long as this lives.
class DeviceGraphLaunch {
 public:
  /// Null: a launch is under way that excludes this one.
  static std::shared_ptr<DeviceGraphLaunch> begin(std::shared_ptr<const DeviceGraph> graph,
                                                  bool is_tail);
  ~DeviceGraphLaunch() { end(); }
  DeviceGraphLaunch(const DeviceGraphLaunch&) = delete;
  DeviceGraphLaunch& operator=(const DeviceGraphLaunch&) = delete;

  const DeviceGraph& graph() const { return *graph_; }
  /// The graph runs: it may wait to be its own tail.
  void start();
  /// The graph's nodes are over: it may be launched again.
  void end();

 private:
  DeviceGraphLaunch(std::shared_ptr<const DeviceGraph> graph, std::atomic<bool>* claim)
      : graph_(std::move(graph)), claim_(claim) {}

  const std::shared_ptr<const DeviceGraph> graph_;
  std::atomic<bool>* claim_;  // of the graph's use; null: nothing is claimed any more
};

/// The launches by kernels of one graph while it runs (CUDA: its execution environment).
class GraphEnvironment final : public GraphTails {
 public:
  // CUDA Programming Guide, "Device Graph Launch".
  static constexpr uint32_t kMostLaunches = 120, kMostTails = 255;

  /// Counts a launch that does not wait for the graph's end; false: there were too many.
  bool count_launch();
  /// False: too many tails wait.
  bool add_tail(DeviceWork tail);
  bool has_tails() const;
  std::unique_ptr<FollowUps> begin_tails(Context* context) override;
  /// Takes the tails when the graph's nodes are over; what is counted begins at 0 again.
  std::vector<DeviceWork> take_tails();

 private:
  mutable std::mutex mutex_;
  std::vector<DeviceWork> tails_;
  uint32_t launches_ = 0;
};

}  // namespace km::cpu
