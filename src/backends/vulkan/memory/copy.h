// Copies between the host and the device, of bytes and of rows.
#pragma once

#include "backends/vulkan/stream/stream.h"

namespace km::vulkan {

/// A copy as a step. Pageable host memory has been read when the step is made if it is a source,
/// and is written when the step is over if it is a destination.
Result<Step> copy_step(Stream& stream, const kmb_copy_3d& copy);

/// A copy between two contexts, by the host: their devices are the host's memory.
Result<Step> peer_copy_step(const kmb_copy_peer_node& copy);

/// A copy of bytes as a copy of one row.
kmb_copy_3d copy_of_bytes(uint64_t destination, uint32_t destination_space, uint64_t source,
                          uint32_t source_space, uint64_t size_bytes);

}  // namespace km::vulkan
