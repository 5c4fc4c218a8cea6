// The mappings of a range of the process's memory.
#pragma once

#include <cstdint>

namespace km {

struct HostRange {
  bool is_mapped = false;    // the whole range, and readable
  bool is_writable = false;  // the whole range
};

/// Reads /proc/self/maps; every answer is false if that is not available.
HostRange look_at_host_range(const void* pointer, uint64_t size_bytes);

}  // namespace km
