// Numbers in memory that streams write and wait for, as the driver takes them.
#pragma once

#include <span>
#include <vector>

#include "backend/interface.h"
#include "cuda/driver.h"

namespace km::cuda {

std::vector<cu::CUstreamBatchMemOpParams> native_ops(std::span<const kmb_memory_op> ops);

}  // namespace km::cuda
