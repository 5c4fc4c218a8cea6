// The graphs of a context that kernels may launch, and the nodes that they change, by handle.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace km::cpu {

class DeviceGraph;
class UpdatableNode;

/// The nodes of a context that kernels change, by handle.
class UpdatableNodes {
 public:
  /// Replaces the node that had the handle.
  void put(uint64_t handle, const std::shared_ptr<UpdatableNode>& node);
  /// Null: no node that lives has the handle.
  std::shared_ptr<UpdatableNode> find(uint64_t handle) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, std::weak_ptr<UpdatableNode>> nodes_;
  size_t next_sweep_ = 64;  // entries at which those of nodes that are gone leave
};

/// DeviceGraphs finds what kernels may launch or change, and knows nothing of it.
class DeviceGraphs {
 public:
  /// Replaces the graph that had the handle.
  void put(uint64_t handle, std::shared_ptr<const DeviceGraph> graph) {
    const std::lock_guard lock(mutex_);
    graphs_[handle] = std::move(graph);
    has_had_any_.store(true);
  }
  void remove(uint64_t handle) {
    const std::lock_guard lock(mutex_);
    graphs_.erase(handle);
  }
  /// Null: no graph that was uploaded has the handle.
  std::shared_ptr<const DeviceGraph> find(uint64_t handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = graphs_.find(handle);
    return found == graphs_.end() ? nullptr : found->second;
  }
  /// True if kernels may have launched graphs, whose modules then are in use on any stream.
  bool has_had_any() const { return has_had_any_.load(); }
  UpdatableNodes& nodes() { return nodes_; }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, std::shared_ptr<const DeviceGraph>> graphs_;
  std::atomic<bool> has_had_any_{false};
  UpdatableNodes nodes_;
};

}  // namespace km::cpu
