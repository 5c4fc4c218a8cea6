// Kernels that launch kernels (CUDA's dynamic parallelism). A grid collects its launches, copies
// and fills; they run in that order after its blocks, each with everything that it launches itself
// before the next one. CUDA allows this order: streams of a grid are ordered, grids do not wait for
// those that they launch, and a grid is complete when everything that it launched is.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "backends/cpu/launches/device_graph.h"
#include "backends/cpu/launches/device_work.h"
#include "backends/cpu/memory/heap.h"

namespace km::cpu {

class Context;
class Module;
class DeviceLaunches;

/// Streams of a grid with a special meaning (cuda_device_runtime_api.h).
constexpr uint64_t kTailLaunchStream = 3, kFireAndForgetStream = 4;
/// Streams into which kernels launch graphs.
constexpr uint64_t kGraphTailLaunchStream = uint64_t{1} << 56,
                   kGraphFireAndForgetStream = uint64_t{2} << 56,
                   kGraphSiblingStream = uint64_t{3} << 56;

/// The launches of one grid, or the nodes of a graph that a kernel has launched. The grid's threads
/// may call everything except take() concurrently.
class DeviceGrid final : public DeviceCalls {
 public:
  /// `depth` is 0 if the host launched it; `module` is the kernel's.
  DeviceGrid(DeviceLaunches* launches, uint32_t depth, const Module* module)
      : launches_(launches), module_(module), depth_(depth) {}
  /// Makes the entry of a graph.
  DeviceGrid(DeviceLaunches* launches, std::shared_ptr<DeviceGraphLaunch> graph);
  ~DeviceGrid() { clear(); }
  DeviceGrid(const DeviceGrid&) = delete;
  DeviceGrid& operator=(const DeviceGrid&) = delete;

  uint64_t call(const simt::LaunchRecord& record, const simt::BlockState& state,
                DeviceCall function, const uint64_t* words, DeviceCallSite site) override;

  DeviceLaunches& launches() const { return *launches_; }
  uint32_t depth() const { return depth_; }
  const Module& module() const { return *module_; }
  bool is_graph() const { return graph_ != nullptr; }
  /// The handle of the graph; 0 for a grid.
  uint64_t graph_handle() const { return is_graph() ? graph_->graph().handle() : 0; }
  /// The environment of the graph that the kernel belongs to; null if it belongs to none.
  GraphEnvironment* environment() const { return environment_; }
  void set_environment(GraphEnvironment* environment) { environment_ = environment; }

  /// Allocates memory to which kernels write arguments, for a launch that may be described already;
  /// 0 if there is no memory.
  uint64_t make_buffer(uint64_t size_bytes, uint64_t align_bytes, const DeviceWork& work);
  /// Returns the launch of a buffer and its size; empty if the address is not a buffer or was
  /// launched already.
  std::optional<DeviceWork> take_buffer(uint64_t address);
  /// Adds work to a stream.
  DeviceError submit(DeviceWork work, uint64_t stream);
  /// Adds work that runs after the grid's blocks.
  DeviceError add(DeviceWork work, bool is_tail);
  /// add() without a limit, for work that was counted already.
  void add_all(std::vector<DeviceWork> works) { works_ = std::move(works); }

  uint64_t create_handle();
  bool destroy_handle(uint64_t handle);
  bool is_stream(uint64_t handle);
  bool is_event(uint64_t handle);

  /// Stores the last error of a thread of the grid, by the thread's index.
  void note_error(uint64_t thread, DeviceError error);
  DeviceError last_error(uint64_t thread, bool clears);

  /// Returns the next work to run, once the blocks are over; empty if none is left.
  std::optional<DeviceWork> take();
  /// True if take() would return nothing.
  bool is_finished() const;
  void clear();

 private:
  bool make_room(uint64_t size_bytes);

  DeviceLaunches* const launches_;
  const Module* const module_ = nullptr;
  const uint32_t depth_ = 0;
  const std::shared_ptr<DeviceGraphLaunch> graph_;           // null for a grid
  const std::unique_ptr<GraphEnvironment> own_environment_;  // for the graph
  GraphEnvironment* environment_ = nullptr;
  std::mutex mutex_;  // guards the members below while the grid runs
  std::vector<DeviceWork> works_, tails_;
  size_t next_ = 0;  // index into works_
  std::unordered_map<uint64_t, DeviceWork> buffers_;
  std::vector<Heap::Block> chunks_;
  uint64_t fresh_begin_ = 0, fresh_end_ = 0;  // unused part of the last chunk
  std::unordered_set<uint64_t> handles_;
  uint64_t last_handle_ = 0;
  std::unordered_map<uint64_t, DeviceError> errors_;
};

/// All launches that follow from one launch by the host.
class DeviceLaunches final : public FollowUps {
 public:
  /// The depth to which launches may nest (CUDA Programming Guide, "Nesting Depth").
  static constexpr uint32_t kMostDepth = 24;
  /// The number of pending launches that is allowed if no limit was set.
  static constexpr uint64_t kMostPending = 1 << 20;

  /// `module` is the kernel's; null if there is none.
  DeviceLaunches(Context* context, const Module* module);

  Context* context() const { return context_; }
  DeviceGrid& root() { return root_; }
  /// Counts a pending launch; false if the limit is reached.
  bool add_pending();

  /// Returns the next command to run instead of the host's launch, or null if none is left. It is
  /// called when none of them runs; a failure goes to the context.
  Command* next() override;
  void clear() override;

 private:
  DeviceGrid& top() { return nested_.empty() ? root_ : *nested_.back(); }
  /// Returns false if the node is disabled.
  Result<bool> start(const DeviceWork& work);
  void enter(const DeviceWork& work);

  Context* const context_;
  std::atomic<uint64_t> pending_{0};
  DeviceGrid root_;
  std::vector<std::unique_ptr<DeviceGrid>> nested_;  // grids and graphs with work that has not run
  std::unique_ptr<Command> command_;                 // the running command
};

}  // namespace km::cpu
