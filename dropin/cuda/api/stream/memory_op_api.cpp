// Stream memory operations: writes to memory and waits for values in it.
#include <algorithm>

#include "core/graph/graph_capture.h"
#include "core/queue/memory_ops.h"
#include "dropin/cuda/graph/memory_ops.h"
#include "dropin/cuda/stream/stream.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

CUresult queue_one(CUstream stream, CUstreamBatchMemOpType operation, CUdeviceptr address,
                   cuuint64_t value, unsigned flags) {
  CUstreamBatchMemOpParams op{};
  op.memory = {operation, address, value, flags, 0};
  return run_memory_ops(stream, &op, 1);
}

/// Removes the flag that only the first version of these functions accepts; it saves nothing here.
unsigned without_barrier_flag(unsigned flags) {
  return flags & ~unsigned{CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER};
}

CUresult queue_first_form(CUstream stream, unsigned count, const CUstreamBatchMemOpParams* params) {
  CU_REQUIRE(params);
  std::vector<CUstreamBatchMemOpParams> ops(params, params + std::min(count, kMostMemoryOps + 1));
  for (CUstreamBatchMemOpParams& op : ops) {
    if (op.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 ||
        op.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64) {
      op.memory.flags = without_barrier_flag(op.memory.flags);
    }
  }
  return run_memory_ops(stream, ops.data(), static_cast<unsigned>(ops.size()));
}

CUresult queue_batch(CUstream stream, unsigned count, const CUstreamBatchMemOpParams* params,
                     unsigned flags) {
  if (flags != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags is %u; it must be 0", flags);
  return run_memory_ops(stream, params, count);
}

}  // namespace

extern "C" {

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                unsigned flags) {
  return guard(__func__, [&] {
    return queue_one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
  });
}

CUresult cuStreamWaitValue32_v2_ptsz(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                     unsigned flags) {
  return cuStreamWaitValue32_v2(per_thread(stream), address, value, flags);
}

CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                             unsigned flags) {
  return cuStreamWaitValue32_v2(stream, address, value, flags);
}

CUresult cuStreamWaitValue32_ptsz(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                  unsigned flags) {
  return cuStreamWaitValue32_v2(per_thread(stream), address, value, flags);
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                unsigned flags) {
  return guard(__func__, [&] {
    return queue_one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
  });
}

CUresult cuStreamWaitValue64_v2_ptsz(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                     unsigned flags) {
  return cuStreamWaitValue64_v2(per_thread(stream), address, value, flags);
}

CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                             unsigned flags) {
  return cuStreamWaitValue64_v2(stream, address, value, flags);
}

CUresult cuStreamWaitValue64_ptsz(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                  unsigned flags) {
  return cuStreamWaitValue64_v2(per_thread(stream), address, value, flags);
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                 unsigned flags) {
  return guard(__func__, [&] {
    return queue_one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
  });
}

CUresult cuStreamWriteValue32_v2_ptsz(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                      unsigned flags) {
  return cuStreamWriteValue32_v2(per_thread(stream), address, value, flags);
}

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                              unsigned flags) {
  return cuStreamWriteValue32_v2(stream, address, value, without_barrier_flag(flags));
}

CUresult cuStreamWriteValue32_ptsz(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                   unsigned flags) {
  return cuStreamWriteValue32_v2(per_thread(stream), address, value, without_barrier_flag(flags));
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                 unsigned flags) {
  return guard(__func__, [&] {
    return queue_one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
  });
}

CUresult cuStreamWriteValue64_v2_ptsz(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                      unsigned flags) {
  return cuStreamWriteValue64_v2(per_thread(stream), address, value, flags);
}

CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                              unsigned flags) {
  return cuStreamWriteValue64_v2(stream, address, value, without_barrier_flag(flags));
}

CUresult cuStreamWriteValue64_ptsz(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                   unsigned flags) {
  return cuStreamWriteValue64_v2(per_thread(stream), address, value, without_barrier_flag(flags));
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count, CUstreamBatchMemOpParams* params,
                               unsigned flags) {
  return guard(__func__, [&] { return queue_batch(stream, count, params, flags); });
}

CUresult cuStreamBatchMemOp_v2_ptsz(CUstream stream, unsigned count,
                                    CUstreamBatchMemOpParams* params, unsigned flags) {
  return cuStreamBatchMemOp_v2(per_thread(stream), count, params, flags);
}

CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, CUstreamBatchMemOpParams* params,
                            unsigned flags) {
  return guard(__func__, [&]() -> CUresult {
    if (flags != 0) return queue_batch(stream, count, params, flags);
    return queue_first_form(stream, count, params);
  });
}

CUresult cuStreamBatchMemOp_ptsz(CUstream stream, unsigned count, CUstreamBatchMemOpParams* params,
                                 unsigned flags) {
  return cuStreamBatchMemOp(per_thread(stream), count, params, flags);
}

}  // extern "C"

}  // namespace km::cu
