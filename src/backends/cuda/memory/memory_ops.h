// Numbers in memory that streams write and wait for, as the driver takes them.
#pragma once

#include <span>
#include <vector>

#include "backend/interface.h"
#include "backends/cuda/driver/status.h"

namespace km::cuda {

class Epoch;

std::vector<cu::CUstreamBatchMemOpParams> native_ops(std::span<const kmb_memory_op> ops);

/// True if the driver does all of the operations itself. It does not for memory of a pool and for
/// managed memory, nor, on most devices, a wait for a bit that is 0 in both numbers.
Result<bool> can_be_native(Epoch& epoch, std::span<const kmb_memory_op> ops);

/// The arguments of OwnKernel::memory_op.
struct MemoryOpArguments {
  uint64_t address, value;
  uint32_t kind, value_size_bytes;
};
MemoryOpArguments arguments_of(const kmb_memory_op& op);

}  // namespace km::cuda
