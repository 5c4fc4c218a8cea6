// Queues one BLAS call through cuBLAS.
#pragma once

#include <functional>

#include "backends/cuda/blas/blas_handle.h"

namespace km::cuda {

/// Allocates device memory for one call, in the order of its stream.
using BlasScratch = std::function<Result<uint64_t>(uint64_t size_bytes)>;

/// Queues the call in the handle's stream. The context must be current.
Status queue_blas(Epoch& epoch, const Cublas& library, BlasHandle& handle,
                  const kmb_blas_call& call, const BlasScratch& scratch);

}  // namespace km::cuda
