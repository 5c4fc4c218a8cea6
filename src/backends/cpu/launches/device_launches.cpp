#include "backends/cpu/launches/device_launches.h"

#include <algorithm>
#include <new>
#include <utility>

#include "backends/cpu/device/context.h"
#include "backends/cpu/launches/launch.h"
#include "backends/cpu/launches/updatable_node.h"
#include "backends/cpu/memory/address_space.h"
#include "backends/cpu/module/module.h"
#include "base/assert.h"

namespace km::cpu {
namespace {

constexpr uint64_t kChunkBytes = 32 << 10;  // size of chunks of argument memory
// A buffer may have this size; CUDA's kernels have at most 32,764 bytes of parameters.
constexpr uint64_t kMostBufferBytes = 1 << 20;
constexpr uint64_t kFirstHandle = 0x1000, kHandleStep = 0x10;

}  // namespace

DeviceGrid::DeviceGrid(DeviceLaunches* launches, std::shared_ptr<DeviceGraphLaunch> graph)
    : launches_(launches),
      graph_(std::move(graph)),
      own_environment_(std::make_unique<GraphEnvironment>()),
      environment_(own_environment_.get()),
      works_(graph_->graph().works()) {}

bool DeviceGrid::make_room(uint64_t size_bytes) {
  Result<Heap::Block> chunk = Heap::instance().allocate(std::max(size_bytes, kChunkBytes));
  if (!chunk) return false;
  chunks_.push_back(*chunk);
  launches_->context()->allocations().add(chunk->address, chunk->size_bytes);
  fresh_begin_ = chunk->address;
  fresh_end_ = chunk->address + chunk->size_bytes;
  return true;
}

uint64_t DeviceGrid::make_buffer(uint64_t size_bytes, uint64_t align_bytes,
                                 const DeviceWork& work) {
  if (size_bytes > kMostBufferBytes) return 0;
  const std::lock_guard lock(mutex_);
  const uint64_t taken = std::max<uint64_t>(size_bytes, 1);
  uint64_t address = round_up(fresh_begin_, align_bytes);
  if (address > fresh_end_ || fresh_end_ - address < taken) {
    if (!make_room(taken + align_bytes)) return 0;
    address = round_up(fresh_begin_, align_bytes);
  }
  DeviceWork& kept = buffers_[address];
  kept = work;
  kept.launch.arguments = reinterpret_cast<const void*>(address);
  kept.launch.arguments_size_bytes = size_bytes;
  fresh_begin_ = address + taken;
  KM_ASSERT(fresh_begin_ <= fresh_end_, "a buffer for arguments ends beyond its chunk");
  return address;
}

std::optional<DeviceWork> DeviceGrid::take_buffer(uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = buffers_.find(address);
  if (found == buffers_.end()) return std::nullopt;
  const DeviceWork work = found->second;
  buffers_.erase(found);
  return work;
}

DeviceError DeviceGrid::submit(DeviceWork work, uint64_t stream) {
  if (!is_stream(stream)) return DeviceError::invalid_handle;
  return add(std::move(work), stream == kTailLaunchStream);
}

DeviceError DeviceGrid::add(DeviceWork work, bool is_tail) {
  if (!launches_->add_pending()) return DeviceError::too_many_pending;
  work.is_pending = true;
  const std::lock_guard lock(mutex_);
  (is_tail ? tails_ : works_).push_back(std::move(work));
  return DeviceError::none;
}

uint64_t DeviceGrid::create_handle() {
  const std::lock_guard lock(mutex_);
  last_handle_ = std::max(last_handle_ + kHandleStep, kFirstHandle);
  handles_.insert(last_handle_);
  return last_handle_;
}

bool DeviceGrid::destroy_handle(uint64_t handle) {
  const std::lock_guard lock(mutex_);
  return handles_.erase(handle) != 0;
}

bool DeviceGrid::is_stream(uint64_t handle) {
  return handle <= kFireAndForgetStream || is_event(handle);
}

bool DeviceGrid::is_event(uint64_t handle) {
  const std::lock_guard lock(mutex_);
  return handles_.contains(handle);
}

void DeviceGrid::note_error(uint64_t thread, DeviceError error) {
  const std::lock_guard lock(mutex_);
  errors_[thread] = error;
}

DeviceError DeviceGrid::last_error(uint64_t thread, bool clears) {
  const std::lock_guard lock(mutex_);
  const auto found = errors_.find(thread);
  if (found == errors_.end()) return DeviceError::none;
  const DeviceError error = found->second;
  if (clears) errors_.erase(found);
  return error;
}

std::optional<DeviceWork> DeviceGrid::take() {
  KM_ASSERT(next_ <= works_.size(), "a grid has run more work than it has");
  if (next_ == works_.size()) {
    works_ = is_graph() ? own_environment_->take_tails() : std::exchange(tails_, {});
    next_ = 0;
    if (is_graph()) graph_->end();
  }
  if (works_.empty()) return std::nullopt;
  return std::move(works_[next_++]);
}

bool DeviceGrid::is_finished() const {
  if (next_ != works_.size() || !tails_.empty()) return false;
  return !is_graph() || !own_environment_->has_tails();
}

void DeviceGrid::clear() {
  for (const Heap::Block& chunk : chunks_) {
    launches_->context()->allocations().remove(chunk.address, chunk.size_bytes);
    Heap::instance().free(chunk);
  }
  chunks_.clear();
  works_.clear();
  tails_.clear();
  buffers_.clear();
  handles_.clear();
  errors_.clear();
  next_ = 0;
  fresh_begin_ = fresh_end_ = last_handle_ = 0;
}

std::unique_ptr<FollowUps> GraphEnvironment::begin_tails(Context* context) {
  std::vector<DeviceWork> tails = take_tails();
  if (tails.empty()) return nullptr;
  auto launches = std::make_unique<DeviceLaunches>(context, nullptr);
  launches->root().add_all(std::move(tails));
  return launches;
}

DeviceLaunches::DeviceLaunches(Context* context, const Module* module)
    : context_(context), root_(this, 0, module) {}

bool DeviceLaunches::add_pending() {
  const uint64_t limit = context_->pending_launches().load(std::memory_order_relaxed);
  const uint64_t most = limit != 0 ? limit : kMostPending;
  if (pending_.fetch_add(1, std::memory_order_relaxed) < most) return true;
  pending_.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

Result<bool> DeviceLaunches::start(const DeviceWork& work) {
  if (!command_) command_ = std::make_unique<Command>();
  command_->release();
  if (work.function == nullptr) {
    command_->kind = CommandKind::transfer;
    command_->transfer = work.transfer;
    return true;
  }
  if (work.function->info().refusal != nullptr) {
    return make_error(KM_ERROR_UNSUPPORTED_PTX, "%s", work.function->info().refusal);
  }
  kmb_launch launch = work.launch;
  NodeSettings settings;
  if (work.node != nullptr) {
    uint64_t version = UpdatedLaunch::kOfNone;
    static_cast<void>(work.node->read(*work.base, &version, &settings));
    if (!settings.is_enabled) return false;
    launch = work.base->launch_with(settings);
  }
  KM_TRY(prepare_device_launch(command_.get(), *work.function, launch, context_));
  auto grid = std::make_unique<DeviceGrid>(this, work.depth, &work.function->module());
  grid->set_environment(top().environment());
  command_->run.grid = grid.get();
  command_->run.record.graph_exec = top().graph_handle();
  // A grid is dropped before its last launch runs, because kernels may launch each other forever. A
  // graph stays for the tails that its last node may launch.
  if (!nested_.empty() && top().is_finished() && !top().is_graph()) nested_.pop_back();
  nested_.push_back(std::move(grid));
  return true;
}

/// Enters the nodes of a graph. Tails replace the graph that launched them, because they may follow
/// each other forever.
void DeviceLaunches::enter(const DeviceWork& work) {
  KM_ASSERT(work.graph != nullptr, "the launch of a kernel is taken for that of a graph");
  auto graph = std::make_unique<DeviceGrid>(this, work.graph);
  if (!nested_.empty() && top().is_finished()) nested_.pop_back();
  work.graph->start();
  nested_.push_back(std::move(graph));
}

Command* DeviceLaunches::next() {
  for (;;) {
    DeviceGrid& grid = top();
    const std::optional<DeviceWork> work = grid.take();
    if (!work) {
      if (nested_.empty()) return nullptr;
      nested_.pop_back();
      continue;
    }
    KM_ASSERT(!work->is_pending || pending_.load() != 0, "a launch that was not counted runs");
    if (work->is_pending) pending_.fetch_sub(1, std::memory_order_relaxed);
    try {
      if (work->graph) {
        enter(*work);
        continue;
      }
      Result<bool> started = start(*work);
      if (started && !*started) continue;
      if (started) return command_.get();
      context_->fail(std::move(started.error()), nullptr);
    } catch (const std::bad_alloc&) {
      context_->fail({KM_ERROR_OUT_OF_HOST_MEMORY, {}, 0}, nullptr);
    }
    return nullptr;
  }
}

void DeviceLaunches::clear() {
  nested_.clear();
  root_.clear();
  pending_.store(0, std::memory_order_relaxed);
}

}  // namespace km::cpu
