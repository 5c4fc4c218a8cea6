// One BLAS call, asked of cuBLAS in a stream.
#pragma once

#include <functional>

#include "backends/cuda/blas/blas_handle.h"

namespace km::cuda {

/// Memory of the device for the time of a call, in the order of its stream.
using BlasScratch = std::function<Result<uint64_t>(uint64_t size_bytes)>;

/// Queues the call in the stream that the handle works in; with the context current.
Status queue_blas(Epoch& epoch, const Cublas& library, BlasHandle& handle,
                  const kmb_blas_call& call, const BlasScratch& scratch);

}  // namespace km::cuda
