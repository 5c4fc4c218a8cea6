// Operations of streams on single numbers in memory.
#pragma once

#include <span>

#include "backends/vulkan/stream/stream.h"

namespace km::vulkan {

/// The steps of the operations, one after the other.
Result<std::vector<Step>> memory_op_steps(Stream& stream, std::span<const kmb_memory_op> ops);

}  // namespace km::vulkan
