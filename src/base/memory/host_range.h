// The process's own view of a range of its memory.
#pragma once

#include <cstdint>

namespace km {

struct HostRange {
  bool is_mapped = false;    // all of it, and readable
  bool is_writable = false;  // all of it
};

/// Reads the process's list of mappings; nothing is known where there is no such list.
HostRange look_at_host_range(const void* pointer, uint64_t size_bytes);

}  // namespace km
