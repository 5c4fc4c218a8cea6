// The work in streams as the checker of their order knows it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/order/node_order.h"
#include "backends/cpu/order/stream_clock.h"
#include "backends/cpu/order/touched_memory.h"

namespace km::cpu {

/// One operation of a stream: a kernel, a copy, the launch of a graph.
struct QueuedOperation {
  uint32_t stream = 0;  // as StreamOrder numbers them
  uint64_t ticket = 0;
  uint64_t number = 0;                      // operations are counted as they are queued
  StreamClock before;                       // the operations that come before it
  std::shared_ptr<const StreamClock> host;  // those that were known to be over when it was queued
  std::shared_ptr<const NodeOrder> nodes;   // of a graph; null: its nodes count as ordered
};

/// The author of accesses: an operation, or a node of one that launches a graph.
struct AccessOrigin {
  /// The memory that one instruction has accessed, and where it is in the source.
  struct Place {
    TouchedMemory::Place memory;
    std::string position;
  };

  std::shared_ptr<QueuedOperation> operation;
  uint32_t node = 0;
  std::string name;           // "kernel reduce", "a copy to the host"
  bool is_kernel = false;     // `name` is then the kernel's alone
  bool has_fences = false;    // it may synchronise with kernels that run beside it
  std::vector<Place> places;  // of a kernel
};

/// Accesses of two origins to the same bytes that nothing orders. `first` was queued first.
struct StreamConflict {
  struct Side {
    std::shared_ptr<const AccessOrigin> origin;
    Touch touch = Touch::read;
  };
  Side first, second;
  uint64_t address = 0;     // the lowest one
  uint64_t size_bytes = 0;  // all bytes together
};

}  // namespace km::cpu
