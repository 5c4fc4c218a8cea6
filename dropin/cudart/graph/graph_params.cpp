#include "dropin/cudart/graph/graph_params.h"

#include <cstring>
#include <mutex>
#include <unordered_set>

#include "dropin/cudart/device/execution_context.h"
#include "dropin/cudart/frame/call.h"
#include "dropin/cudart/memory/copy.h"
#include "dropin/cudart/module/launch.h"
#include "dropin/cudart/module/registry.h"

namespace km::cudart {
namespace {

cudaError_t kernel_params(const cudaKernelNodeParamsV2& from, CUDA_KERNEL_NODE_PARAMS* out) {
  const cudaKernelNodeParams plain{from.func,           from.gridDim,      from.blockDim,
                                   from.sharedMemBytes, from.kernelParams, from.extra};
  LIB_TRY(driver_params(plain, out));
  return context_of(from.ctx, &out->ctx);
}

cudaError_t copy_params(const cudaMemcpyNodeParams& from, CUDA_MEMCPY_NODE_PARAMS* out) {
  out->flags = from.flags;
  LIB_TRY(context_of(from.ctx, &out->copyCtx));
  return driver_copy(from.copyParams, &out->copyParams);
}

cudaError_t fill_params(const cudaMemsetParamsV2& from, CUDA_MEMSET_NODE_PARAMS_v2* out) {
  const CUDA_MEMSET_NODE_PARAMS fill = driver_params(from.fill);
  *out = {fill.dst, fill.pitch, fill.value, fill.elementSize, fill.width, fill.height, nullptr};
  return context_of(from.ctx, &out->ctx);
}

/// Functions of kernel nodes that do not belong to the program: another library launched them. The
/// program has no other name for them.
class ForeignFunctions {
 public:
  void note(CUfunction function) {
    const std::lock_guard lock(mutex_);
    functions_.insert(function);
  }
  bool has(const void* symbol) {
    const std::lock_guard lock(mutex_);
    return functions_.contains(symbol);
  }
  static ForeignFunctions& instance() {
    // never destroyed: calls may come during exit
    static ForeignFunctions& made = *new ForeignFunctions;
    return made;
  }

 private:
  std::mutex mutex_;  // guards the members below
  std::unordered_set<const void*> functions_;
};

cudaError_t function_of(void* symbol, CUfunction* out) {
  CUkernel kernel = nullptr;
  const cudaError_t found = find_kernel(symbol, &kernel);
  if (found == cudaSuccess) return driver.cuKernelGetFunction(out, kernel);
  if (!ForeignFunctions::instance().has(symbol)) return found;
  *out = static_cast<CUfunction>(symbol);
  return cudaSuccess;
}

/// Node types whose parameters have the driver's layout.
bool has_driver_layout(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeHost:
    case cudaGraphNodeTypeGraph:
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeWaitEvent:
    case cudaGraphNodeTypeEventRecord:
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
    case cudaGraphNodeTypeConditional:
      return true;
    default:
      return false;
  }
}

}  // namespace

cudaError_t driver_params(const cudaKernelNodeParams& params, CUDA_KERNEL_NODE_PARAMS* out) {
  CUfunction function = nullptr;
  LIB_TRY(function_of(params.func, &function));
  const dim3 grid = params.gridDim, block = params.blockDim;
  *out = {function,
          grid.x,
          grid.y,
          grid.z,
          block.x,
          block.y,
          block.z,
          params.sharedMemBytes,
          params.kernelParams,
          params.extra,
          nullptr,
          nullptr};
  return cudaSuccess;
}

cudaError_t runtime_params(const CUDA_KERNEL_NODE_PARAMS& params, cudaKernelNodeParams* out) {
  const void* symbol = Registry::instance().symbol_of(params.func, params.kern);
  if (symbol == nullptr) symbol = params.kern;
  if (symbol == nullptr) {
    ForeignFunctions::instance().note(params.func);
    symbol = params.func;
  }
  *out = {const_cast<void*>(symbol),
          {params.gridDimX, params.gridDimY, params.gridDimZ},
          {params.blockDimX, params.blockDimY, params.blockDimZ},
          params.sharedMemBytes,
          params.kernelParams,
          params.extra};
  return cudaSuccess;
}

CUDA_MEMSET_NODE_PARAMS driver_params(const cudaMemsetParams& params) {
  return {device_address(params.dst), params.pitch, params.value,
          params.elementSize,         params.width, params.height};
}

cudaMemsetParams runtime_params(const CUDA_MEMSET_NODE_PARAMS& params) {
  return {host_address(params.dst), params.pitch, params.value,
          params.elementSize,       params.width, params.height};
}

cudaError_t driver_params(const cudaGraphNodeParams& params, CUgraphNodeParams* out) {
  CUgraphNodeParams made{};
  made.type = params.type;
  switch (params.type) {
    case cudaGraphNodeTypeKernel:
      LIB_TRY(kernel_params(params.kernel, &made.kernel));
      break;
    case cudaGraphNodeTypeMemcpy:
      LIB_TRY(copy_params(params.memcpy, &made.memcpy));
      break;
    case cudaGraphNodeTypeMemset:
      LIB_TRY(fill_params(params.memset, &made.memset));
      break;
    default:
      if (!has_driver_layout(params.type)) return cudaErrorNotSupported;
      std::memcpy(&made.reserved1, &params.reserved1, sizeof made.reserved1);
      if (params.type == cudaGraphNodeTypeConditional) {
        made.conditional.ctx = nullptr;
        LIB_TRY(context_of(nullptr, &made.conditional.ctx));
      }
      break;
  }
  *out = made;
  return cudaSuccess;
}

void take_results(const CUgraphNodeParams& from, cudaGraphNodeParams* to) {
  if (from.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) to->alloc.dptr = from.alloc.dptr;
  if (from.type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
    to->conditional.phGraph_out = from.conditional.phGraph_out;
  }
}

cudaError_t runtime_params(const CUgraphNodeParams& params, cudaGraphNodeParams* out) {
  cudaGraphNodeParams made{};
  made.type = params.type;
  switch (params.type) {
    case cudaGraphNodeTypeKernel: {
      cudaKernelNodeParams kernel{};
      LIB_TRY(runtime_params(params.kernel, &kernel));
      made.kernel = {kernel.func,         kernel.gridDim, kernel.blockDim, kernel.sharedMemBytes,
                     kernel.kernelParams, kernel.extra,   nullptr,         0};
      break;
    }
    case cudaGraphNodeTypeMemcpy:
      made.memcpy.flags = params.memcpy.flags;
      LIB_TRY(runtime_copy(params.memcpy.copyParams, &made.memcpy.copyParams));
      break;
    case cudaGraphNodeTypeMemset:
      made.memset.fill = runtime_params(CUDA_MEMSET_NODE_PARAMS{
          params.memset.dst, params.memset.pitch, params.memset.value, params.memset.elementSize,
          params.memset.width, params.memset.height});
      break;
    default:
      if (!has_driver_layout(params.type)) return cudaErrorNotSupported;
      std::memcpy(&made.reserved1, &params.reserved1, sizeof made.reserved1);
      break;
  }
  *out = made;
  return cudaSuccess;
}

}  // namespace km::cudart
