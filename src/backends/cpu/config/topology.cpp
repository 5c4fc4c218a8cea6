#include "backends/cpu/config/topology.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "base/arch/constants.h"
#include "base/arch/processor.h"
#include "base/file/system_file.h"
#include "base/process/control_group.h"
#include "base/thread/cancellation.h"

namespace km::cpu {
namespace {

uint64_t meminfo(const char* key) {
  std::istringstream file = system_file("/proc/meminfo");
  size_t length = strlen(key);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, length, key) == 0 && line[length] == ':') {
      return strtoull(line.c_str() + length + 1, nullptr, 10) * 1024;
    }
  }
  return 0;
}

}  // namespace

DeviceMemory device_memory(const SystemMemory& system, uint64_t limit_bytes) {
  if (limit_bytes != 0) {
    const uint64_t given = std::min(limit_bytes, system.total_bytes);
    return {given, given};
  }
  const uint64_t half = system.total_bytes / 2;
  return {half, std::min(half, system.free_bytes / 2)};
}

uint64_t program_reserve_bytes(uint64_t total_bytes) {
  constexpr uint64_t kMost = uint64_t{1} << 30;
  return std::min(total_bytes / 16, kMost);
}

namespace {

std::string read_cpu_name() {
  std::string name;
  for (const char c : arch::processor_name()) {  // collapses the padding of the name
    if (c != ' ' || (!name.empty() && name.back() != ' ')) name += c;
  }
  while (!name.empty() && name.back() == ' ') name.pop_back();
  return name.empty() ? std::string(arch::kName) + " CPU" : name;
}

uint64_t read_clock_khz() {
  auto most = number_in("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  if (most) return *most;
  std::istringstream file = system_file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, 7, "cpu MHz") != 0) continue;
    return static_cast<uint64_t>(strtod(line.c_str() + line.find(':') + 1, nullptr) * 1000);
  }
  return 0;
}

}  // namespace

// Both values are cached: CPUID traps in virtual machines, and reading /proc/cpuinfo queries
// every core.
const std::string& cpu_name() {
  static const auto* const name = new std::string(read_cpu_name());
  return *name;
}

uint64_t clock_khz() {
  static const uint64_t khz = read_clock_khz();
  return khz;
}

namespace {

/// A substitute for /proc/meminfo if it cannot be read, for example without free descriptors. Its
/// free memory excludes the page cache.
SystemMemory memory_of_kernel() {
  struct sysinfo info{};
  if (sysinfo(&info) != 0) return {};
  const uint64_t unit = std::max<uint64_t>(info.mem_unit, 1);
  return {.total_bytes = info.totalram * unit,
          .free_bytes = (info.freeram + info.bufferram) * unit};
}

}  // namespace

SystemMemory system_memory() {
  const NoCancellation postponed;
  SystemMemory memory;
  memory.total_bytes = meminfo("MemTotal");
  memory.free_bytes = meminfo("MemAvailable");
  if (memory.total_bytes == 0) memory = memory_of_kernel();
  const CgroupMemory group = cgroup_memory({});
  memory.total_bytes = std::min(memory.total_bytes, group.limit_bytes);
  memory.free_bytes = std::min(memory.free_bytes, group.free_bytes);
  return memory;
}

uint64_t resident_bytes() {
  const NoCancellation postponed;
  std::istringstream file = system_file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, 8, "RssAnon:") == 0) return strtoull(line.c_str() + 8, nullptr, 10) * 1024;
  }
  return 0;
}

}  // namespace km::cpu
