// Kernels launch kernels (CUDA's dynamic parallelism): each grid notes its launches, copies
// and fills, which run in the order in which they were noted once its blocks are over, and each of
// them with all that it launches before the next one. That is one of the orders that CUDA allows:
// streams of a grid are in order, grids do not wait for those that they launch, and a grid is
// complete when all that it launched is.
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

/// The streams of a grid that have a meaning of their own (cuda_device_runtime_api.h).
constexpr uint64_t kTailLaunchStream = 3, kFireAndForgetStream = 4;
/// The streams that graphs are launched into by kernels.
constexpr uint64_t kGraphTailLaunchStream = uint64_t{1} << 56,
                   kGraphFireAndForgetStream = uint64_t{2} << 56,
                   kGraphSiblingStream = uint64_t{3} << 56;

/// The launches of one grid, or the nodes of a graph that a kernel has launched. The grid's threads
/// call everything but take() at the same time.
class DeviceGrid final : public DeviceCalls {
 public:
  /// `depth`: 0 when the host has launched it. `module`: of the kernel.
  DeviceGrid(DeviceLaunches* launches, uint32_t depth, const Module* module)
      : launches_(launches), module_(module), depth_(depth) {}
  /// A graph.
  DeviceGrid(DeviceLaunches* launches, std::shared_ptr<DeviceGraphLaunch> graph);
  ~DeviceGrid() { clear(); }
  DeviceGrid(const DeviceGrid&) = delete;
  DeviceGrid& operator=(const DeviceGrid&) = delete;

  uint64_t call(const simt::LaunchRecord& record, const simt::BlockState& state,
                DeviceCall function, const uint64_t* words, uint32_t thread) override;

  DeviceLaunches& launches() const { return *launches_; }
  uint32_t depth() const { return depth_; }
  const Module& module() const { return *module_; }
  bool is_graph() const { return graph_ != nullptr; }
  /// The handle of the graph; 0: it is a grid.
  uint64_t graph_handle() const { return is_graph() ? graph_->graph().handle() : 0; }
  /// The environment of the graph that the kernel is in; null: it is in none.
  GraphEnvironment* environment() const { return environment_; }
  void set_environment(GraphEnvironment* environment) { environment_ = environment; }

  /// Memory that kernels may write arguments to, for a launch that may be known already; 0: there
  /// is none.
  uint64_t make_buffer(uint64_t size_bytes, uint64_t align_bytes, const DeviceWork& work);
  /// The launch of a buffer, and how large that is; nothing: it is none, or was launched.
  std::optional<DeviceWork> take_buffer(uint64_t address);
  /// Puts work into a stream.
  DeviceError submit(DeviceWork work, uint64_t stream);
  /// Puts work after the grid's blocks.
  DeviceError add(DeviceWork work, bool is_tail);
  /// add() without a limit, for work that was counted elsewhere.
  void add_all(std::vector<DeviceWork> works) { works_ = std::move(works); }

  uint64_t create_handle();
  bool destroy_handle(uint64_t handle);
  bool is_stream(uint64_t handle);
  bool is_event(uint64_t handle);

  /// Keeps an error for a thread of the grid, by its number.
  void note_error(uint64_t thread, DeviceError error);
  DeviceError last_error(uint64_t thread, bool clears);

  /// Takes the next work to run, after the blocks are over; nothing: all has been taken.
  std::optional<DeviceWork> take();
  /// True if take() has nothing more to give.
  bool is_finished() const;
  void clear();

 private:
  bool make_room(uint64_t size_bytes);

  DeviceLaunches* const launches_;
  const Module* const module_ = nullptr;
  const uint32_t depth_ = 0;
  const std::shared_ptr<DeviceGraphLaunch> graph_;           // null: a grid
  const std::unique_ptr<GraphEnvironment> own_environment_;  // of the graph
  GraphEnvironment* environment_ = nullptr;
  std::mutex mutex_;  // guards what follows while the grid runs
  std::vector<DeviceWork> works_, tails_;
  size_t next_ = 0;  // of works_
  std::unordered_map<uint64_t, DeviceWork> buffers_;
  std::vector<Heap::Block> chunks_;
  uint64_t fresh_begin_ = 0, fresh_end_ = 0;  // of the last chunk
  std::unordered_set<uint64_t> handles_;
  uint64_t last_handle_ = 0;
  std::unordered_map<uint64_t, DeviceError> errors_;
};

/// All that one launch of the host's leads to.
class DeviceLaunches final : public FollowUps {
 public:
  /// Launches nest so deep (CUDA Programming Guide, "Nesting Depth").
  static constexpr uint32_t kMostDepth = 24;
  /// Launches that may be pending where no limit was set.
  static constexpr uint64_t kMostPending = 1 << 20;

  /// `module`: of the kernel; null: there is none.
  DeviceLaunches(Context* context, const Module* module);

  Context* context() const { return context_; }
  DeviceGrid& root() { return root_; }
  /// False: as many launches are pending as may be.
  bool add_pending();

  /// The next command to run in the place of the host's launch, when none runs; null: all is over.
  /// A failure goes to the context.
  Command* next() override;
  void clear() override;

 private:
  DeviceGrid& top() { return nested_.empty() ? root_ : *nested_.back(); }
  /// False: it is a node that is off.
  Result<bool> start(const DeviceWork& work);
  void enter(const DeviceWork& work);

  Context* const context_;
  std::atomic<uint64_t> pending_{0};
  DeviceGrid root_;
  std::vector<std::unique_ptr<DeviceGrid>> nested_;  // grids and graphs with work that has not run
  std::unique_ptr<Command> command_;                 // what runs
};

}  // namespace km::cpu
