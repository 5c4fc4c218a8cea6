#include "core/memory_ops.h"

#include <cinttypes>

#include "core/backend_call.h"

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
  work->kind = KMB_GRAPH_NODE_MEMORY_OPS;
  KM_ASSIGN(work->memory_ops, native_ops(ops));
  for (const MemoryOp& op : ops) {
    if (!op.place.memory->try_ref()) {
      return make_error(KM_ERROR_OUT_OF_BOUNDS, "the memory at 0x%" PRIx64 " was just destroyed",
                        op.place.address);
    }
    work->memories.push_back(Ref<Memory>::adopt(op.place.memory));
  }
  return work;
}

}  // namespace km
