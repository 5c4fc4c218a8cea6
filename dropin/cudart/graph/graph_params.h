// Converts parameters of graph nodes between the runtime's form and the driver's.
#pragma once

#include "dropin/cudart/frame/driver.h"

namespace km::cudart {

cudaError_t driver_params(const cudaKernelNodeParams& params, CUDA_KERNEL_NODE_PARAMS* out);
/// Converts a kernel node's parameters from the driver's form, with the program's function in place
/// of the kernel. A kernel without such a function is represented by its own handle.
cudaError_t runtime_params(const CUDA_KERNEL_NODE_PARAMS& params, cudaKernelNodeParams* out);
CUDA_MEMSET_NODE_PARAMS driver_params(const cudaMemsetParams& params);
cudaMemsetParams runtime_params(const CUDA_MEMSET_NODE_PARAMS& params);
/// Converts parameters of any type. cudaErrorNotSupported if cudaGraphNodeParams does not have the
/// type.
cudaError_t driver_params(const cudaGraphNodeParams& params, CUgraphNodeParams* out);
/// Copies the driver's outputs back: addresses of allocations and bodies of conditional nodes.
void take_results(const CUgraphNodeParams& from, cudaGraphNodeParams* to);
cudaError_t runtime_params(const CUgraphNodeParams& params, cudaGraphNodeParams* out);

}  // namespace km::cudart
