// Stream operations that write single numbers in memory or wait for them.
#pragma once

#include <span>

#include "core/graph/graph_operation.h"
#include "core/memory/place.h"

namespace km {

/// One operation on the number at the place's address.
struct MemoryOp {
  DevicePlace place;
  kmb_memory_op_kind kind;
  uint32_t value_size_bytes;  // 4 or 8
  uint64_t value;
};

/// A wait among them blocks only this stream. The stream must not be captured.
Status queue_memory_ops(Stream& stream, std::span<const MemoryOp> ops);
/// The operations as the work of a graph node.
Result<std::shared_ptr<GraphWork>> memory_ops_work(std::span<const MemoryOp> ops);
/// Fails unless the value fits `value_size_bytes`, which must be 4 or 8.
Status check_value(uint64_t value, uint32_t value_size_bytes);
/// Queues or captures one operation.
Status submit_memory_op(Stream& stream, const MemoryOp& op);

}  // namespace km
