// Copies to memory that nobody reads soon.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/arch/nontemporal.h"

namespace km {

/// Copies by stores that bypass the caches, which would read each line before they overwrite it.
/// arch::store_fence() has to follow before another thread is told of the copy.
inline void copy_nontemporal(void* to, const void* from, uint64_t size_bytes) {
  auto* const destination = static_cast<uint8_t*>(to);
  const auto* const source = static_cast<const uint8_t*>(from);
  const uint64_t beyond_line = reinterpret_cast<uintptr_t>(to) % arch::kLineBytes;
  const uint64_t before = beyond_line == 0 ? 0 : arch::kLineBytes - beyond_line;
  const uint64_t head = std::min(before, size_bytes);
  const uint64_t tail = (size_bytes - head) % arch::kLineBytes;
  if (head != 0) std::memcpy(destination, source, head);
  for (uint64_t done = head; done + tail < size_bytes; done += arch::kLineBytes) {
    arch::copy_line_nontemporal(destination + done, source + done);
  }
  if (tail != 0) std::memcpy(destination + size_bytes - tail, source + size_bytes - tail, tail);
}

}  // namespace km
