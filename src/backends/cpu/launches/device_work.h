// The work that kernels put into streams, and its errors.
#pragma once

#include <cstdint>
#include <memory>

#include "backend/interface.h"
#include "backends/cpu/command/command.h"

namespace km::cpu {

class DeviceGraphLaunch;
class Function;
class UpdatableNode;
struct NodeBase;

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
