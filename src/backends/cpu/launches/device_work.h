// The work that kernels put into streams, and its errors.
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

/// Something that a kernel has put into a stream, or a node of a graph that it launches.
struct DeviceWork {
  const Function* function = nullptr;  // null: a transfer, or a graph
  kmb_launch launch{};                 // its arguments lie in memory of the grid or the graph
  uint32_t depth = 0;                  // of the grid that is launched
  bool is_pending = false;             // DeviceLaunches counts it among the pending ones
  Transfer transfer;
  std::shared_ptr<DeviceGraphLaunch> graph;  // null: a kernel or a transfer
  std::shared_ptr<UpdatableNode> node;       // which kernels change; null: none does
  std::shared_ptr<const NodeBase> base;      // of the node
};

}  // namespace km::cpu
