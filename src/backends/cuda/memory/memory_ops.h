// Writes of numbers in memory and waits for them, in the driver's form.
#pragma once

#include <span>
#include <vector>

#include "backend/interface.h"
#include "backends/cuda/driver/status.h"

namespace km::cuda {

class Epoch;

std::vector<cu::CUstreamBatchMemOpParams> native_ops(std::span<const kmb_memory_op> ops);

/// True if the driver can do all of the operations. It cannot for memory of a pool, for managed
/// memory or, on most devices, for a wait for a bit that is 0 in both numbers.
Result<bool> can_be_native(Epoch& epoch, std::span<const kmb_memory_op> ops);

/// The parameters of OwnKernel::memory_op, in order.
struct MemoryOpArguments {
  uint64_t address, value;
  uint32_t kind, value_size_bytes;
};
MemoryOpArguments arguments_of(const kmb_memory_op& op);

}  // namespace km::cuda
