#include "backends/cuda/memory_ops.h"

#include <algorithm>

#include "backends/cuda/stream.h"

namespace km::cuda {
namespace {

constexpr size_t kMostAtOnce = 256;

unsigned condition_of(kmb_memory_op_kind kind) {
  switch (kind) {
    case KMB_MEMORY_WAIT_EQ:
      return cu::CU_STREAM_WAIT_VALUE_EQ;
    case KMB_MEMORY_WAIT_AND:
      return cu::CU_STREAM_WAIT_VALUE_AND;
    case KMB_MEMORY_WAIT_NOR:
      return cu::CU_STREAM_WAIT_VALUE_NOR;
    default:
      return cu::CU_STREAM_WAIT_VALUE_GEQ;
  }
}

cu::CUstreamBatchMemOpParams native_op(const kmb_memory_op& op) {
  const bool is_wide = op.value_size_bytes == 8;
  cu::CUstreamBatchMemOpParams native{};
  native.memory.address = op.address;
  native.memory.value = op.value;
  if (op.kind == KMB_MEMORY_WRITE) {
    native.memory.operation =
        is_wide ? cu::CU_STREAM_MEM_OP_WRITE_VALUE_64 : cu::CU_STREAM_MEM_OP_WRITE_VALUE_32;
    native.memory.flags = cu::CU_STREAM_WRITE_VALUE_DEFAULT;
  } else {
    native.memory.operation =
        is_wide ? cu::CU_STREAM_MEM_OP_WAIT_VALUE_64 : cu::CU_STREAM_MEM_OP_WAIT_VALUE_32;
    native.memory.flags = condition_of(op.kind);
  }
  return native;
}

}  // namespace

std::vector<cu::CUstreamBatchMemOpParams> native_ops(std::span<const kmb_memory_op> ops) {
  std::vector<cu::CUstreamBatchMemOpParams> native;
  native.reserve(ops.size());
  for (const kmb_memory_op& op : ops) native.push_back(native_op(op));
  return native;
}

km_status stream_memory_ops(kmb_stream* stream, const kmb_memory_op* ops, uint64_t count,
                            uint64_t* out_ticket, kmb_error* error) {
  return enqueue(stream, out_ticket, error, [&](Stream& target) -> Status {
    auto native = native_ops({ops, count});
    for (size_t first = 0; first < native.size(); first += kMostAtOnce) {
      const auto part = static_cast<unsigned>(std::min(native.size() - first, kMostAtOnce));
      KM_TRY(target.epoch()->check(
          driver().cuStreamBatchMemOp_v2(target.handle(), part, native.data() + first, 0)));
    }
    return {};
  });
}

}  // namespace km::cuda
