#include "backends/cuda/memory/memory_ops.h"

#include <algorithm>

#include "backends/cuda/context/epoch.h"
#include "backends/cuda/module/launch.h"
#include "backends/cuda/stream/stream.h"

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

/// Queries the attribute only if an operation needs it.
Result<bool> device_can(Epoch& epoch, bool is_needed, cu::CUdevice_attribute attribute) {
  if (!is_needed) return true;
  KM_ASSIGN(const int value, epoch.gpu().attribute(attribute));
  return value != 0;
}

/// True if the memory is neither of a pool nor managed.
Result<bool> is_plain_memory(Epoch& epoch, uint64_t address) {
  cu::CUmemoryPool pool = nullptr;
  unsigned is_managed = 0;
  const Called asked =
      driver().cuPointerGetAttribute(&pool, cu::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address);
  if (is_fatal(asked.result)) return epoch.check(asked).error();
  if (!asked.ok() || pool != nullptr) return false;
  const Called also =
      driver().cuPointerGetAttribute(&is_managed, cu::CU_POINTER_ATTRIBUTE_IS_MANAGED, address);
  if (is_fatal(also.result)) return epoch.check(also).error();
  return also.ok() && is_managed == 0;
}

Status queue_native(Stream& stream, std::span<const kmb_memory_op> ops) {
  auto native = native_ops(ops);
  for (size_t first = 0; first < native.size(); first += kMostAtOnce) {
    const auto part = static_cast<unsigned>(std::min(native.size() - first, kMostAtOnce));
    KM_TRY(stream.epoch()->check(
        driver().cuStreamBatchMemOp_v2(stream.handle(), part, native.data() + first, 0)));
  }
  return {};
}

/// Queues a kernel of one thread for each operation; a wait polls the number.
Status queue_kernels(Stream& stream, std::span<const kmb_memory_op> ops) {
  Epoch& epoch = *stream.epoch();
  KM_ASSIGN(const cu::CUfunction kernel, epoch.own_kernel(OwnKernel::memory_op));
  for (const kmb_memory_op& op : ops) {
    const MemoryOpArguments arguments = arguments_of(op);
    LaunchBuffer buffer(&arguments, sizeof arguments);
    KM_TRY(epoch.check(driver().cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream.handle(),
                                               nullptr, buffer.extra())));
  }
  return {};
}

}  // namespace

MemoryOpArguments arguments_of(const kmb_memory_op& op) {
  return {op.address, op.value, static_cast<uint32_t>(op.kind), op.value_size_bytes};
}

Result<bool> can_be_native(Epoch& epoch, std::span<const kmb_memory_op> ops) {
  if (!driver().cuStreamBatchMemOp_v2.exists()) return false;
  bool is_wide = false, is_nor = false;
  for (const kmb_memory_op& op : ops) {
    is_wide = is_wide || op.value_size_bytes == 8;
    is_nor = is_nor || op.kind == KMB_MEMORY_WAIT_NOR;
    KM_ASSIGN(const bool is_plain, is_plain_memory(epoch, op.address));
    if (!is_plain) return false;
  }
  KM_ASSIGN(const bool can_be_wide,
            device_can(epoch, is_wide, cu::CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS));
  KM_ASSIGN(const bool can_be_nor,
            device_can(epoch, is_nor, cu::CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR));
  return can_be_wide && can_be_nor;
}

std::vector<cu::CUstreamBatchMemOpParams> native_ops(std::span<const kmb_memory_op> ops) {
  std::vector<cu::CUstreamBatchMemOpParams> native;
  native.reserve(ops.size());
  for (const kmb_memory_op& op : ops) native.push_back(native_op(op));
  return native;
}

km_status stream_memory_ops(kmb_stream* stream, const kmb_memory_op* ops, uint64_t count,
                            uint64_t* out_ticket, kmb_error* error) {
  return enqueue(stream, out_ticket, error, [&](Stream& target) -> Status {
    const std::span<const kmb_memory_op> all(ops, count);
    KM_ASSIGN(const bool is_native, can_be_native(*target.epoch(), all));
    return is_native ? queue_native(target, all) : queue_kernels(target, all);
  });
}

}  // namespace km::cuda
