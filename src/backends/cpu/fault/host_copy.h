// Copies between ranges of host memory that a program names, parts of which may be inaccessible.
#pragma once

#include <cstdint>

extern "C" {
uint64_t km_cpu_host_copy(void* destination, const void* source, uint64_t size_bytes);
extern const char km_cpu_host_copy_failed[];

/// Copies on the calling thread. Returns 0 if a part of either range is inaccessible; the bytes
/// before it may have been copied. The drop-in libraries look up this symbol of the plugin by its
/// name.
__attribute__((visibility("default"))) uint32_t km_plugin_copy_host(void* destination,
                                                                    const void* source,
                                                                    uint64_t size_bytes);
}

namespace km::cpu {

/// True if `pc` is an instruction of km_cpu_host_copy, whose faults mean that memory is
/// inaccessible.
inline bool is_host_copy(uint64_t pc) {
  return pc >= reinterpret_cast<uint64_t>(&km_cpu_host_copy) &&
         pc < reinterpret_cast<uint64_t>(km_cpu_host_copy_failed);
}

}  // namespace km::cpu
