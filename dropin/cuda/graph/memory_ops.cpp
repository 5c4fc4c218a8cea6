#include "dropin/cuda/graph/memory_ops.h"

#include "base/assert.h"
#include "core/graph/graph_capture.h"
#include "core/queue/memory_ops.h"
#include "dropin/cuda/memory/place.h"

namespace km::dropin {

using namespace cu;  // NOLINT

namespace {

/// Operations, with the memory that they access pinned.
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

/// Checks a barrier's parameters. A barrier needs no work here: memory is coherent, and the
/// processor keeps the order of writes.
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
  // Only the first version of these functions accepts CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER.
  const unsigned known = writes ? 0U : 3U | unsigned{CU_STREAM_WAIT_VALUE_FLUSH};
  if ((given.flags & ~known) != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "flags 0x%x has unknown bits", given.flags);
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
  KM_ASSERT(ops.size() == places.size(), "each operation keeps its place");
  ops.push_back({place.place(), writes ? KMB_MEMORY_WRITE : kind_of_wait(given.flags), size_bytes,
                 is_wide ? given.value : given.value & UINT32_MAX});
  places.push_back(std::move(place));
  return CUDA_SUCCESS;
}

CUresult FoundOps::read(Context& context, const CUstreamBatchMemOpParams* params, unsigned count) {
  CU_REQUIRE(params);
  if (count > kMostMemoryOps) {
    return fail(CUDA_ERROR_INVALID_VALUE, "count is %u; it must be less than 256", count);
  }
  KM_ASSERT(ops.empty() && places.empty(), "operations are read once");
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
        return fail(CUDA_ERROR_NOT_SUPPORTED, "streams cannot perform atomic reductions");
      default:
        return fail(CUDA_ERROR_INVALID_VALUE, "operation %u is of the unknown type %d", i,
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

}  // namespace

CUresult run_memory_ops(CUstream handle, const CUstreamBatchMemOpParams* params, unsigned count) {
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
