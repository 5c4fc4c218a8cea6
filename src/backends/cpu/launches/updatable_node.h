// Kernel nodes of graphs that kernels change (cudaGraphKernelNodeSetParam and related functions). A
// change takes effect at the node's next run, and lasts until the host changes the node.
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

/// The parts of a node's launch that kernels may change.
struct NodeSettings {
  uint32_t grid[3]{};
  bool is_enabled = true;
  std::vector<uint8_t> arguments;
};

/// A node as the host has set it. Immutable.
struct NodeBase {
  explicit NodeBase(const kmb_kernel_node& node);
  /// The launch with other settings; its arguments lie in `settings`.
  kmb_launch launch_with(const NodeSettings& settings) const;

  const Function* const function;
  const kmb_launch launch;  // without arguments
  const NodeSettings settings;
  uint32_t cluster[3];  // must divide the grid
};

/// The changes that kernels have made. Any thread may call any method.
class UpdatableNode {
 public:
  explicit UpdatableNode(std::shared_ptr<const NodeBase> base);

  /// Drops the changes if they belong to another base.
  void begin(const std::shared_ptr<const NodeBase>& base);
  /// Returns the settings for a node of this base, unless the caller has them already: `*version`
  /// is their version.
  bool read(const NodeBase& base, uint64_t* version, NodeSettings* out) const;

  DeviceError set_grid(const uint32_t grid[3]);
  DeviceError set_enabled(bool is_enabled);
  bool has_arguments(uint64_t offset, uint64_t size_bytes) const;
  DeviceError set_arguments(uint64_t offset, std::span<const uint8_t> bytes);

 private:
  mutable std::mutex mutex_;  // guards the members below
  std::shared_ptr<const NodeBase> base_;
  NodeSettings settings_;
  uint64_t version_ = 0;  // version of settings_; 0: the base's settings
  uint64_t last_version_ = 0;
};

/// The launch of a node of a graph's program, with the changes of kernels.
class UpdatedLaunch final : public NodeUpdates {
 public:
  static constexpr uint64_t kOfBase = 0, kOfNone = UINT64_MAX;

  UpdatedLaunch(std::shared_ptr<UpdatableNode> node, std::shared_ptr<const NodeBase> base);

  /// Casts the updates of a node, which are always of this class.
  static const UpdatedLaunch& of(const NodeUpdates& updates) {
    return static_cast<const UpdatedLaunch&>(updates);
  }
  const std::shared_ptr<UpdatableNode>& node() const { return node_; }
  const std::shared_ptr<const NodeBase>& base() const { return base_; }
  void begin() override { node_->begin(base_); }
  /// Applies the kernels' changes to the command, which initially has the base's launch. Returns
  /// false if the node is disabled or failed, with the failure in the context. One thread at a
  /// time.
  bool refresh(Command* command, Context* context) override;

 private:
  Status prepare(Command* command, Context* context) const;

  const std::shared_ptr<UpdatableNode> node_;
  const std::shared_ptr<const NodeBase> base_;
  uint64_t version_ = kOfBase;  // version of settings_
  NodeSettings settings_;
};

}  // namespace km::cpu
