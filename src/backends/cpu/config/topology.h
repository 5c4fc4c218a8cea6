// The processor's description, and the memory that this process may use. Control groups are taken
// into account.
#pragma once

#include <cstdint>
#include <string>

namespace km::cpu {

/// The processor's name, for example "AMD EPYC 7B13".
const std::string& cpu_name();
/// The highest clock rate, or the current one if sysfs does not report it; 0 if unknown.
uint64_t clock_khz();

/// The memory of the machine, or of the control group if that is less.
struct SystemMemory {
  uint64_t total_bytes = 0;
  uint64_t free_bytes = 0;  // available without swapping
};
SystemMemory system_memory();
/// The resident anonymous memory of this process.
uint64_t resident_bytes();

/// The memory of all CPU devices together.
struct DeviceMemory {
  uint64_t total_bytes = 0;  // the size that the devices report
  uint64_t most_bytes = 0;   // the most that they allocate
};
/// Computes the devices' memory: `limit_bytes` if it is not 0; otherwise half of the total memory
/// as the size, and half of the free memory as the most that is allocated, so that the program has
/// room for a copy of all data on the devices.
DeviceMemory device_memory(const SystemMemory& system, uint64_t limit_bytes);
/// The free memory that allocations on the devices leave to the program.
uint64_t program_reserve_bytes(uint64_t total_bytes);

}  // namespace km::cpu
