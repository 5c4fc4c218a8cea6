#include "core/queue/memory_ops.h"

#include <cinttypes>

#include "core/graph/graph_capture.h"
#include "core/object/backend_call.h"

namespace km {
namespace {

Result<std::vector<kmb_memory_op>> native_ops(std::span<const MemoryOp> ops) {
  std::vector<kmb_memory_op> native;
  for (const MemoryOp& op : ops) {
    KM_TRY(require_aligned(op.place, op.value_size_bytes, 1));
    if (op.kind == KMB_MEMORY_WRITE) {
      KM_TRY(op.place.memory->require_writable("what is to be written"));
    }
    native.push_back({op.place.address, op.value, op.kind, op.value_size_bytes});
  }
  return native;
}

}  // namespace

Status queue_memory_ops(Stream& stream, std::span<const MemoryOp> ops) {
  const kmb_backend& backend = stream.backend();
  if (backend.stream_memory_ops == nullptr) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "backend '%s' has no streams that wait for values",
                      backend.name);
  }
  KM_ASSIGN(const std::vector<kmb_memory_op> native, native_ops(ops));
  uint64_t ticket = 0;
  KM_TRY(call_backend(backend.stream_memory_ops, stream.native(), native.data(), native.size(),
                      &ticket));
  for (const MemoryOp& op : ops) op.place.memory->record_use(stream, ticket);
  return {};
}

Result<std::shared_ptr<GraphWork>> memory_ops_work(std::span<const MemoryOp> ops) {
  auto work = std::make_shared<GraphWork>();
  KM_ASSIGN(std::vector<kmb_memory_op> native, native_ops(ops));
  work->operation = MemoryOpsOperation{std::move(native)};
  for (const MemoryOp& op : ops) {
    if (!op.place.memory->try_ref()) {
      return make_error(KM_ERROR_OUT_OF_BOUNDS, "the memory at 0x%" PRIx64 " was just destroyed",
                        op.place.address);
    }
    work->memories.push_back(Ref<Memory>::adopt(op.place.memory));
  }
  return work;
}

Status check_value(uint64_t value, uint32_t value_size_bytes) {
  if (value_size_bytes != 4 && value_size_bytes != 8) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "value_size_bytes is %u; it can be 4 or 8",
                      value_size_bytes);
  }
  if (value_size_bytes == 8 || value <= UINT32_MAX) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT, "value is %" PRIu64 ", which needs 8 bytes", value);
}

Status submit_memory_op(Stream& stream, const MemoryOp& op) {
  const std::span<const MemoryOp> one(&op, 1);
  if (!stream.is_capturing()) [[likely]]
    return queue_memory_ops(stream, one);
  KM_ASSIGN(const std::shared_ptr<GraphWork> work, memory_ops_work(one));
  return capture_work(stream, work);
}

}  // namespace km
