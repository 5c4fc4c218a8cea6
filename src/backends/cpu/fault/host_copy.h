// Copies between memory of the host's that a program names, of which any part may not be there.
#pragma once

#include <cstdint>

extern "C" {
uint64_t km_cpu_host_copy(void* destination, const void* source, uint64_t size_bytes);
extern const char km_cpu_host_copy_failed[];

/// Copies on the calling thread; 0 when a part of either side is not there, what lies before it may
/// have been copied then. The libraries beside the CUDA driver find this symbol of the plugin by
/// its name.
__attribute__((visibility("default"))) uint32_t km_plugin_copy_host(void* destination,
                                                                    const void* source,
                                                                    uint64_t size_bytes);
}

namespace km::cpu {

/// True for an instruction of km_cpu_host_copy, whose faults mean that memory is not there.
inline bool is_host_copy(uint64_t pc) {
  return pc >= reinterpret_cast<uint64_t>(&km_cpu_host_copy) &&
         pc < reinterpret_cast<uint64_t>(km_cpu_host_copy_failed);
}

}  // namespace km::cpu
