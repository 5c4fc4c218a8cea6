#include "backends/cpu/device/device_graphs.h"

#include <algorithm>

namespace km::cpu {

void UpdatableNodes::put(uint64_t handle, const std::shared_ptr<UpdatableNode>& node) {
  const std::lock_guard lock(mutex_);
  nodes_[handle] = node;
  if (nodes_.size() < next_sweep_) return;
  std::erase_if(nodes_, [](const auto& entry) { return entry.second.expired(); });
  next_sweep_ = std::max<size_t>(2 * nodes_.size(), 64);
}

std::shared_ptr<UpdatableNode> UpdatableNodes::find(uint64_t handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(handle);
  return found == nodes_.end() ? nullptr : found->second.lock();
}

}  // namespace km::cpu
