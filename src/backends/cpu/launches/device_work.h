// Work that kernels put into streams, and its errors.
#pragma once

#include <cstdint>
#include <memory>

#include "backend/interface.h"
#include "backends/cpu/command/command.h"
#include "backends/cpu/execution/device_call.h"

namespace km::cpu {

class DeviceGraphLaunch;
class Function;
class UpdatableNode;
struct NodeBase;

/// Work that a kernel has put into a stream, or a node of a graph that it launches.
struct DeviceWork {
  const Function* function = nullptr;  // null: a transfer or a graph
  kmb_launch launch{};                 // its arguments lie in memory of the grid or the graph
  uint32_t depth = 0;                  // nesting depth of the launched grid
  bool is_pending = false;             // DeviceLaunches counts it as pending
  Transfer transfer;
  std::shared_ptr<DeviceGraphLaunch> graph;  // null: a kernel or a transfer
  std::shared_ptr<UpdatableNode> node;       // null: kernels do not change the node
  std::shared_ptr<const NodeBase> base;      // the node's
};

}  // namespace km::cpu
