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

#include "backend/interface.h"
#include "backends/cpu/memory/heap.h"
#include "backends/cpu/stream/command.h"

namespace km::cpu {

class Context;
class Function;
class Module;
class DeviceLaunches;

/// Numbers of cudaError.
enum class DeviceError : uint32_t {
  none = 0,
  invalid_value = 1,
  out_of_memory = 2,
  invalid_configuration = 9,
  invalid_pointer = 17,
  too_deep = 65,
  too_many_pending = 69,
  invalid_function = 98,
  invalid_device = 101,
  unsupported_limit = 215,
  invalid_handle = 400,
  out_of_resources = 701,
  unknown = 999,
};

/// Something that a kernel has put into a stream.
struct DeviceWork {
  const Function* function = nullptr;  // null: a transfer
  kmb_launch launch{};                 // its arguments lie in memory of the grid
  uint32_t depth = 0;                  // of the grid that is launched
  Transfer transfer;
};

/// The streams of a grid that have a meaning of their own (cuda_device_runtime_api.h).
constexpr uint64_t kTailLaunchStream = 3, kFireAndForgetStream = 4;

/// The launches of one grid. Its threads call everything but take() at the same time.
class DeviceGrid {
 public:
  /// `depth`: 0 when the host has launched it.
  DeviceGrid(DeviceLaunches* launches, uint32_t depth) : launches_(launches), depth_(depth) {}
  ~DeviceGrid() { clear(); }
  DeviceGrid(const DeviceGrid&) = delete;
  DeviceGrid& operator=(const DeviceGrid&) = delete;

  DeviceLaunches& launches() const { return *launches_; }
  uint32_t depth() const { return depth_; }

  /// Memory that kernels may write arguments to, for a launch that may be known already; 0: there
  /// is none.
  uint64_t make_buffer(uint64_t size_bytes, uint64_t align_bytes, const DeviceWork& work);
  /// The launch of a buffer, and how large that is; nothing: it is none, or was launched.
  std::optional<DeviceWork> take_buffer(uint64_t address);
  /// Puts work into a stream.
  DeviceError submit(const DeviceWork& work, uint64_t stream);

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
  bool is_finished() const { return next_ == works_.size() && tails_.empty(); }
  void clear();

 private:
  bool make_room(uint64_t size_bytes);

  DeviceLaunches* const launches_;
  const uint32_t depth_;
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
class DeviceLaunches {
 public:
  /// Launches nest so deep (CUDA Programming Guide, "Nesting Depth").
  static constexpr uint32_t kMostDepth = 24;
  /// Launches that may be pending where no limit was set.
  static constexpr uint64_t kMostPending = 1 << 20;

  DeviceLaunches(Context* context, const Module* module);

  Context* context() const { return context_; }
  const Module& module() const { return *module_; }
  DeviceGrid& root() { return root_; }
  /// False: as many launches are pending as may be.
  bool add_pending();

  /// The next command to run in the place of the host's launch, when none runs; null: all is over.
  /// A failure goes to the context.
  Command* next();
  /// Forgets everything, for the next time.
  void clear();

 private:
  DeviceGrid& top() { return nested_.empty() ? root_ : *nested_.back(); }
  Status start(const DeviceWork& work);

  Context* const context_;
  const Module* const module_;
  std::atomic<uint64_t> pending_{0};
  DeviceGrid root_{this, 0};
  std::vector<std::unique_ptr<DeviceGrid>> nested_;  // grids with launches that have not run
  std::unique_ptr<Command> command_;                 // what runs
};

}  // namespace km::cpu
