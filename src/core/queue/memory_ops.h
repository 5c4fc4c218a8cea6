// Operations of streams on single numbers in memory: writing them, and waiting for them.
#pragma once

#include <span>

#include "core/graph/graph_operation.h"
#include "core/memory/place.h"

namespace km {

/// One operation, at the place's address.
struct MemoryOp {
  DevicePlace place;
  kmb_memory_op_kind kind;
  uint32_t value_size_bytes;  // 4 or 8
  uint64_t value;
};

/// The waits among them keep only this stream from going on. Not for streams that are captured.
Status queue_memory_ops(Stream& stream, std::span<const MemoryOp> ops);
/// The operations as the work of a graph's node.
Result<std::shared_ptr<GraphWork>> memory_ops_work(std::span<const MemoryOp> ops);
/// A value of 4 or 8 bytes.
Status check_value(uint64_t value, uint32_t value_size_bytes);
/// One of them, queued or captured.
Status submit_memory_op(Stream& stream, const MemoryOp& op);

}  // namespace km
