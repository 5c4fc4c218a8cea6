// Kernels' nodes of graphs that kernels change (cudaGraphKernelNodeSetParam and its relatives):
// what a kernel has changed counts from the next run of the node on, until the host changes the
// node.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backend/interface.h"
#include "backends/cpu/launches/device_work.h"
#include "base/result.h"

namespace km::cpu {

class Context;
class Function;

/// A node's launch as far as kernels change it.
struct NodeSettings {
  uint32_t grid[3]{};
  bool is_enabled = true;
  std::vector<uint8_t> arguments;
};

/// A node as the host has made or changed it. Immutable.
struct NodeBase {
  explicit NodeBase(const kmb_kernel_node& node);
  /// The launch with other settings, in whose memory its arguments lie.
  kmb_launch launch_with(const NodeSettings& settings) const;

  const Function* const function;
  const kmb_launch launch;  // without arguments
  const NodeSettings settings;
  uint32_t cluster[3];  // which divide the grid
};

/// The changes that kernels have made. Any thread calls everything.
class UpdatableNode {
 public:
  explicit UpdatableNode(std::shared_ptr<const NodeBase> base);

  /// Forgets the changes, if they were of another base.
  void begin(const std::shared_ptr<const NodeBase>& base);
  /// Gives the settings with which a node of this base runs, unless they are those of `*version`.
  bool read(const NodeBase& base, uint64_t* version, NodeSettings* out) const;

  DeviceError set_grid(const uint32_t grid[3]);
  DeviceError set_enabled(bool is_enabled);
  bool has_arguments(uint64_t offset, uint64_t size_bytes) const;
  DeviceError set_arguments(uint64_t offset, std::span<const uint8_t> bytes);

 private:
  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<const NodeBase> base_;
  NodeSettings settings_;
  uint64_t version_ = 0;  // of settings_; 0: they are the base's
  uint64_t last_version_ = 0;
};

/// A node of a graph's program: what it runs with next.
class UpdatedLaunch final : public NodeUpdates {
 public:
  static constexpr uint64_t kOfBase = 0, kOfNone = UINT64_MAX;

  UpdatedLaunch(std::shared_ptr<UpdatableNode> node, std::shared_ptr<const NodeBase> base);

  /// The updates of a node, which are always of this class.
  static const UpdatedLaunch& of(const NodeUpdates& updates) {
    return static_cast<const UpdatedLaunch&>(updates);
  }
  const std::shared_ptr<UpdatableNode>& node() const { return node_; }
  const std::shared_ptr<const NodeBase>& base() const { return base_; }
  void begin() override { node_->begin(base_); }
  /// Prepares the command, of the base's launch at first, for what kernels have changed; false: the
  /// node is off, or the failure has gone to the context. One thread at a time.
  bool refresh(Command* command, Context* context) override;

 private:
  Status prepare(Command* command, Context* context) const;

  const std::shared_ptr<UpdatableNode> node_;
  const std::shared_ptr<const NodeBase> base_;
  uint64_t version_ = kOfBase;  // of settings_
  NodeSettings settings_;
};

}  // namespace km::cpu
