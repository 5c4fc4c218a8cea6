// Streams that write numbers into memory, and wait for numbers there.
#include <algorithm>

#include "core/graph/graph_capture.h"
#include "core/queue/memory_ops.h"
#include "dropin/cuda/graph/graph.h"
#include "dropin/cuda/memory/place.h"
#include "dropin/cuda/stream/stream.h"

namespace km::dropin {

using namespace cu;  // NOLINT

namespace {

constexpr unsigned kMostOps = 255;

/// Operations with the memory that they are about, in place.
struct FoundOps {
  std::vector<Place> places;
  std::vector<MemoryOp> ops;

  CUresult read(Context& context, const CUstreamBatchMemOpParams* params, unsigned count);
  CUresult add(Context& context, const CUstreamBatchMemOpParams& op);
};

kmb_memory_op_kind kind_of_wait(unsigned flags) {
  constexpr kmb_memory_op_kind kKinds[] = {KMB_MEMORY_WAIT_GEQ, KMB_MEMORY_WAIT_EQ,
                                           KMB_MEMORY_WAIT_AND, KMB_MEMORY_WAIT_NOR};
  return kKinds[flags & 3];
}

/// Checks a barrier, which needs no work: memory is coherent, and processors keep the order of
/// writes.
CUresult check_barrier(const CUstreamBatchMemOpParams& op) {
  const unsigned most =
      op.operation == CU_STREAM_MEM_OP_BARRIER ? unsigned{CU_STREAM_MEMORY_BARRIER_TYPE_GPU} : 0;
  if (op.barrier.flags <= most) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "flags of the barrier is 0x%x", op.barrier.flags);
}

bool is_managed(CUdeviceptr address) {
  uint64_t begin = 0;
  Allocation found;
  return Driver::instance().find(address, &begin, &found) && is_managed(found.kind);
}

CUresult FoundOps::add(Context& context, const CUstreamBatchMemOpParams& op) {
  const auto& given = op.memory;
  const bool writes = op.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 ||
                      op.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
  const bool is_wide = op.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
                       op.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
  // CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER is of the first form of these functions only.
  const unsigned known = writes ? 0U : 3U | unsigned{CU_STREAM_WAIT_VALUE_FLUSH};
  if ((given.flags & ~known) != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "flags 0x%x has bits that are none", given.flags);
  }
  const uint32_t size_bytes = is_wide ? 8 : 4;
  if (given.address % size_bytes != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "address 0x%llx is not a multiple of %u", given.address,
                size_bytes);
  }
  if (is_managed(given.address)) {
    return fail(CUDA_ERROR_INVALID_VALUE, "address 0x%llx is of managed memory", given.address);
  }
  Place place;
  CU_TRY(place.find(context, given.address, size_bytes, "the value"));
  ops.push_back({place.place(), writes ? KMB_MEMORY_WRITE : kind_of_wait(given.flags), size_bytes,
                 is_wide ? given.value : given.value & UINT32_MAX});
  places.push_back(std::move(place));
  return CUDA_SUCCESS;
}

CUresult FoundOps::read(Context& context, const CUstreamBatchMemOpParams* params, unsigned count) {
  CU_REQUIRE(params);
  if (count > kMostOps) {
    return fail(CUDA_ERROR_INVALID_VALUE, "count is %u; it must be less than 256", count);
  }
  places.reserve(count);
  for (unsigned i = 0; i < count; ++i) {
    switch (params[i].operation) {
      case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        CU_TRY(add(context, params[i]));
        break;
      case CU_STREAM_MEM_OP_BARRIER:
      case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        CU_TRY(check_barrier(params[i]));
        break;
      case CU_STREAM_MEM_OP_ATOMIC_REDUCTION:
        return fail(CUDA_ERROR_NOT_SUPPORTED, "streams do no atomic reductions");
      default:
        return fail(CUDA_ERROR_INVALID_VALUE, "operation %u is of type %d, which is none", i,
                    params[i].operation);
    }
  }
  return CUDA_SUCCESS;
}

struct MemoryOpsNote : NodeNote {
  std::vector<CUstreamBatchMemOpParams> params;
};

CUresult work_of(Context& context, const CUstreamBatchMemOpParams* params, unsigned count,
                 SharedWork* out) {
  FoundOps found;
  CU_TRY(found.read(context, params, count));
  CU_ASSIGN(const std::shared_ptr<GraphWork> work, memory_ops_work(found.ops));
  auto note = std::make_shared<MemoryOpsNote>();
  note->type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  note->params.assign(params, params + count);
  work->note = as_note<MemoryOpsNote>(std::move(note));
  *out = work;
  return CUDA_SUCCESS;
}

CUresult queue(CUstream handle, const CUstreamBatchMemOpParams* params, unsigned count) {
  CU_STREAM_FOR_WORK(stream, handle);
  if (stream.core().is_capturing()) {
    SharedWork work;
    CU_TRY(work_of(stream->context(), params, count, &work));
    CU_CHECK(capture_work(stream.core(), work));
    return CUDA_SUCCESS;
  }
  FoundOps found;
  CU_TRY(found.read(stream->context(), params, count));
  if (found.ops.empty()) return CUDA_SUCCESS;
  CU_CHECK(queue_memory_ops(stream.core(), found.ops));
  return CUDA_SUCCESS;
}

CUresult queue_one(CUstream stream, CUstreamBatchMemOpType operation, CUdeviceptr address,
                   cuuint64_t value, unsigned flags) {
  CUstreamBatchMemOpParams op{};
  op.memory = {operation, address, value, flags, 0};
  return queue(stream, &op, 1);
}

/// Drops the flag that the first form of these functions permits: nothing is gained by it here.
unsigned without_barrier_flag(unsigned flags) {
  return flags & ~unsigned{CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER};
}

CUresult queue_first_form(CUstream stream, unsigned count, const CUstreamBatchMemOpParams* params) {
  CU_REQUIRE(params);
  std::vector<CUstreamBatchMemOpParams> ops(params, params + std::min(count, kMostOps + 1));
  for (CUstreamBatchMemOpParams& op : ops) {
    if (op.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 ||
        op.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64) {
      op.memory.flags = without_barrier_flag(op.memory.flags);
    }
  }
  return queue(stream, ops.data(), static_cast<unsigned>(ops.size()));
}

CUresult queue_batch(CUstream stream, unsigned count, const CUstreamBatchMemOpParams* params,
                     unsigned flags) {
  if (flags != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags is %u; it must be 0", flags);
  return queue(stream, params, count);
}

}  // namespace

CUresult memory_ops_work_of(Context& context, const CUDA_BATCH_MEM_OP_NODE_PARAMS& params,
                            SharedWork* out) {
  if (params.flags != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "flags is %u; it must be 0", params.flags);
  }
  return work_of(context, params.paramArray, params.count, out);
}

CUDA_BATCH_MEM_OP_NODE_PARAMS read_memory_ops(const GraphWork& work) {
  const auto& kept = static_cast<const MemoryOpsNote*>(note_of(work))->params;
  return {nullptr, static_cast<unsigned>(kept.size()),
          const_cast<CUstreamBatchMemOpParams*>(kept.data()), 0};
}

}  // namespace km::dropin

namespace km::cu {

using namespace km::dropin;  // NOLINT

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
