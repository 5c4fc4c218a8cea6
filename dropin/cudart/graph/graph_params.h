// Parameters of graph nodes in the runtime's form, made into the driver's.
#pragma once

#include "dropin/cudart/frame/driver.h"

namespace km::cudart {

cudaError_t driver_params(const cudaKernelNodeParams& params, CUDA_KERNEL_NODE_PARAMS* out);
/// The function of the program stands for its kernel again; a kernel that no such function stands
/// for is its own handle.
cudaError_t runtime_params(const CUDA_KERNEL_NODE_PARAMS& params, cudaKernelNodeParams* out);
CUDA_MEMSET_NODE_PARAMS driver_params(const cudaMemsetParams& params);
cudaMemsetParams runtime_params(const CUDA_MEMSET_NODE_PARAMS& params);
/// Parameters of any type. cudaErrorNotSupported: the type is none of those in cudaGraphNodeParams.
cudaError_t driver_params(const cudaGraphNodeParams& params, CUgraphNodeParams* out);
/// Results of the driver go back: addresses of allocations, bodies of conditional nodes.
void take_results(const CUgraphNodeParams& from, cudaGraphNodeParams* to);
cudaError_t runtime_params(const CUgraphNodeParams& params, cudaGraphNodeParams* out);

}  // namespace km::cudart
