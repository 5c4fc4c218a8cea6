// Converts copies of rows to the driver's struct.
#pragma once

#include "backends/cuda/stream/stream.h"

namespace km::cuda {

cu::CUDA_MEMCPY3D native_copy(const kmb_copy_3d& copy);

}  // namespace km::cuda
