// Fills of device memory.
#pragma once

#include "backends/vulkan/stream/stream.h"

namespace km::vulkan {

struct Fill {
  uint64_t destination, pitch_bytes;
  uint32_t value, value_size_bytes;
  uint64_t width_count, height;
};

/// The step that fills the rows.
Result<Step> fill_step(Stream& stream, const Fill& fill);

}  // namespace km::vulkan
