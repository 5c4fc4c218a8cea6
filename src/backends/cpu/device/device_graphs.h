// The graphs of a context that kernels may launch, and the graph nodes that kernels may update.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace km::cpu {

class DeviceGraph;
class UpdatableNode;

/// The nodes that kernels may update, by device handle. The table does not keep nodes alive.
class UpdatableNodes {
 public:
  /// Adds a node, or replaces the one with this handle. Now and then it also removes expired
  /// entries; since the table must have doubled before, a call costs constant time on average.
  void put(uint64_t handle, const std::shared_ptr<UpdatableNode>& node);
  /// Null if no live node has the handle.
  std::shared_ptr<UpdatableNode> find(uint64_t handle) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, std::weak_ptr<UpdatableNode>> nodes_;
  size_t next_sweep_ = 64;  // the size at which put() removes expired entries
};

/// The uploaded graphs by device handle. It only stores pointers, so that Context need not know the
/// graph's type.
class DeviceGraphs {
 public:
  /// Adds a graph, or replaces the one with this handle.
  void put(uint64_t handle, std::shared_ptr<const DeviceGraph> graph) {
    const std::lock_guard lock(mutex_);
    graphs_[handle] = std::move(graph);
    has_had_any_.store(true);
  }
  /// Removes the graph with this handle, if there is one.
  void remove(uint64_t handle) {
    const std::lock_guard lock(mutex_);
    graphs_.erase(handle);
  }
  /// Null if no uploaded graph has the handle.
  std::shared_ptr<const DeviceGraph> find(uint64_t handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = graphs_.find(handle);
    return found == graphs_.end() ? nullptr : found->second;
  }
  /// True if kernels may have launched graphs, on streams that the core does not know: a module or
  /// buffer may then be in use on any stream.
  bool has_had_any() const { return has_had_any_.load(); }
  UpdatableNodes& nodes() { return nodes_; }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, std::shared_ptr<const DeviceGraph>> graphs_;
  std::atomic<bool> has_had_any_{false};
  UpdatableNodes nodes_;
};

}  // namespace km::cpu
