#include "backends/cpu/launches/updatable_node.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "backends/cpu/device/context.h"
#include "backends/cpu/device/device.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/launches/launch.h"
#include "backends/cpu/module/module.h"
#include "base/assert.h"

namespace km::cpu {
namespace {

kmb_launch without_arguments(kmb_launch launch) {
  launch.arguments = nullptr;
  return launch;
}

NodeSettings settings_of(const kmb_kernel_node& node) {
  NodeSettings settings;
  std::copy_n(node.launch.grid, 3, settings.grid);
  settings.is_enabled = node.is_off == 0;
  const auto* const bytes = static_cast<const uint8_t*>(node.launch.arguments);
  settings.arguments.assign(bytes, bytes + node.launch.arguments_size_bytes);
  return settings;
}

uint64_t blocks_of(const uint32_t grid[3]) { return uint64_t{grid[0]} * grid[1] * grid[2]; }

}  // namespace

NodeBase::NodeBase(const kmb_kernel_node& node)
    : function(from(node.function)),
      launch(without_arguments(node.launch)),
      settings(settings_of(node)) {
  const simt::KernelInfo& kernel = function->kernel();
  for (int i = 0; i < 3; ++i) {
    cluster[i] = std::max({launch.cluster[i], kernel.cluster[i], 1U});
  }
}

kmb_launch NodeBase::launch_with(const NodeSettings& changed) const {
  kmb_launch with = launch;
  KM_ASSERT(changed.arguments.size() == settings.arguments.size(),
            "kernels have changed the size of a node's arguments");
  std::copy_n(changed.grid, 3, with.grid);
  with.arguments = changed.arguments.data();
  return with;
}

UpdatableNode::UpdatableNode(std::shared_ptr<const NodeBase> base)
    : base_(std::move(base)), settings_(base_->settings) {}

void UpdatableNode::begin(const std::shared_ptr<const NodeBase>& base) {
  const std::lock_guard lock(mutex_);
  if (base_ == base) return;
  settings_ = base->settings;
  base_ = base;
  version_ = UpdatedLaunch::kOfBase;
}

bool UpdatableNode::read(const NodeBase& base, uint64_t* version, NodeSettings* out) const {
  const std::lock_guard lock(mutex_);
  const bool is_own = base_.get() == &base;
  const uint64_t now = is_own ? version_ : UpdatedLaunch::kOfBase;
  if (*version == now) return false;
  *out = is_own ? settings_ : base.settings;
  *version = now;
  return true;
}

/// A cooperative launch must not have more blocks than the host's, because the device has to hold
/// all of them at once.
DeviceError UpdatableNode::set_grid(const uint32_t grid[3]) {
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < 3; ++i) {
    const bool is_valid =
        grid[i] != 0 && grid[i] <= kMaxGridDim[i] && grid[i] % base_->cluster[i] == 0;
    if (!is_valid) return DeviceError::invalid_value;
  }
  if (base_->launch.is_cooperative != 0 && blocks_of(grid) > blocks_of(base_->settings.grid)) {
    return DeviceError::invalid_value;
  }
  std::copy_n(grid, 3, settings_.grid);
  version_ = ++last_version_;
  return DeviceError::none;
}

DeviceError UpdatableNode::set_enabled(bool is_enabled) {
  const std::lock_guard lock(mutex_);
  settings_.is_enabled = is_enabled;
  version_ = ++last_version_;
  return DeviceError::none;
}

bool UpdatableNode::has_arguments(uint64_t offset, uint64_t size_bytes) const {
  const std::lock_guard lock(mutex_);
  const uint64_t whole = settings_.arguments.size();
  return offset <= whole && size_bytes <= whole - offset;
}

DeviceError UpdatableNode::set_arguments(uint64_t offset, std::span<const uint8_t> bytes) {
  const std::lock_guard lock(mutex_);
  const uint64_t whole = settings_.arguments.size();
  if (offset > whole || bytes.size() > whole - offset) return DeviceError::invalid_value;
  if (!bytes.empty()) std::memcpy(settings_.arguments.data() + offset, bytes.data(), bytes.size());
  version_ = ++last_version_;
  return DeviceError::none;
}

UpdatedLaunch::UpdatedLaunch(std::shared_ptr<UpdatableNode> node,
                             std::shared_ptr<const NodeBase> base)
    : node_(std::move(node)), base_(std::move(base)), settings_(base_->settings) {}

/// The command keeps its launches if the kernel launches others.
Status UpdatedLaunch::prepare(Command* command, Context* context) const {
  DeviceCalls* const grid = command->run.grid;
  const uint64_t graph_exec = command->run.record.graph_exec;
  KM_TRY(prepare_device_launch(command, *base_->function, base_->launch_with(settings_), context));
  command->run.grid = grid;
  command->run.record.graph_exec = graph_exec;
  return {};
}

bool UpdatedLaunch::refresh(Command* command, Context* context) {
  try {
    if (!node_->read(*base_, &version_, &settings_)) return settings_.is_enabled;
    Status prepared = prepare(command, context);
    if (prepared) return settings_.is_enabled;
    context->fail(std::move(prepared.error()), nullptr);
  } catch (const std::bad_alloc&) {
    context->fail({KM_ERROR_OUT_OF_HOST_MEMORY, {}, 0}, nullptr);
  }
  version_ = kOfNone;
  return false;
}

}  // namespace km::cpu
