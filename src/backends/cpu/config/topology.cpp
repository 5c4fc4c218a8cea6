#include "backends/cpu/config/topology.h"

#include <sched.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>

#include "base/arch/constants.h"
#include "base/arch/processor.h"
#include "base/file/file.h"
#include "base/thread/cancellation.h"

namespace km::cpu {
namespace {

/// Reads a file of /proc or /sys; an absent one reads as empty.
std::istringstream system_file(const std::string& path) {
  constexpr uint64_t kMaxBytes = uint64_t{16} << 20;
  Result<std::string> text = read_file(path, kMaxBytes);
  return std::istringstream(text ? std::move(*text) : std::string());
}

std::optional<std::string> first_line(const std::string& path) {
  std::istringstream file = system_file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

std::optional<uint64_t> number_in(const std::string& path) {
  std::optional<std::string> line = first_line(path);
  if (!line) return std::nullopt;
  char* end = nullptr;
  uint64_t value = strtoull(line->c_str(), &end, 10);
  if (end == line->c_str()) return std::nullopt;  // the value "max", which means no limit
  return value;
}

/// A line of /proc/self/cgroup: "0::/a/b" (version 2) or "4:cpu,cpuacct:/a/b" (version 1).
struct Group {
  std::vector<std::string> controllers;  // empty: a group of version 2
  std::string path;
};

std::vector<Group> groups(const CgroupFiles& files) {
  std::vector<Group> found;
  std::istringstream file = system_file(files.self);
  for (std::string line; std::getline(file, line);) {
    size_t first = line.find(':');
    size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    Group group;
    std::stringstream names(line.substr(first + 1, second - first - 1));
    for (std::string name; std::getline(names, name, ',');) group.controllers.push_back(name);
    group.path = line.substr(second + 1);
    found.push_back(std::move(group));
  }
  return found;
}

/// The folders of a group and of its ancestors, all of which limit it. In a container, the path may
/// be the host's and not exist in the mount; only the root then has limits.
std::vector<std::string> folders(const std::string& mount, std::string path) {
  std::vector<std::string> found;
  while (!path.empty() && path != "/") {
    found.push_back(mount + path);
    size_t slash = path.rfind('/');
    path = slash == std::string::npos ? "" : path.substr(0, slash);
  }
  found.push_back(mount);
  return found;
}

bool has_controller(const Group& group, const char* name) {
  return std::find(group.controllers.begin(), group.controllers.end(), name) !=
         group.controllers.end();
}

double cpu_limit_v2(const std::string& folder) {
  std::optional<std::string> line =
      first_line(folder + "/cpu.max");  // "150000 100000" or "max 100000"
  double quota = 0, period = 0;
  if (!line || sscanf(line->c_str(), "%lf %lf", &quota, &period) != 2 || period <= 0) return 0;
  return quota / period;
}

double cpu_limit_v1(const std::string& folder) {
  std::optional<std::string> line = first_line(folder + "/cpu.cfs_quota_us");
  std::optional<uint64_t> period = number_in(folder + "/cpu.cfs_period_us");
  if (!line || !period || *period == 0) return 0;
  double quota = strtod(line->c_str(), nullptr);
  return quota <= 0 ? 0 : quota / static_cast<double>(*period);
}

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

/// The page cache that the kernel reclaims before the group reaches its limit.
uint64_t reclaimable(const std::string& folder) {
  std::istringstream file = system_file(folder + "/memory.stat");
  std::string key;
  uint64_t value = 0, sum = 0;
  while (file >> key >> value) {
    if (key == "inactive_file" || key == "total_inactive_file") sum = value;
  }
  return sum;
}

}  // namespace

std::vector<int> allowed_cpus() {
  std::vector<int> found;
  int capacity = 1024;
  for (; capacity <= 65536; capacity *= 4) {
    cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(capacity));
    size_t size = CPU_ALLOC_SIZE(static_cast<size_t>(capacity));
    bool read = set != nullptr && sched_getaffinity(0, size, set) == 0;
    for (int cpu = 0; read && cpu < capacity; ++cpu) {
      if (CPU_ISSET_S(static_cast<size_t>(cpu), size, set)) found.push_back(cpu);
    }
    CPU_FREE(set);
    if (read) break;
  }
  if (found.empty()) {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    for (int cpu = 0; cpu < std::max(online, 1L); ++cpu) found.push_back(cpu);
  }
  return found;
}

double cgroup_cpu_limit(const CgroupFiles& files) {
  double limit = 0;
  auto take = [&limit](double value) {
    if (value > 0 && (limit == 0 || value < limit)) limit = value;
  };
  for (const Group& group : groups(files)) {
    if (group.controllers.empty()) {
      for (const std::string& folder : folders(files.root, group.path)) take(cpu_limit_v2(folder));
    } else if (has_controller(group, "cpu")) {
      for (const char* mount : {"/cpu", "/cpu,cpuacct"}) {
        for (const std::string& folder : folders(files.root + mount, group.path)) {
          take(cpu_limit_v1(folder));
        }
      }
    }
  }
  return limit;
}

CgroupMemory cgroup_memory(const CgroupFiles& files) {
  CgroupMemory found;
  auto take = [&](const std::string& folder, const char* limit_file, const char* use_file) {
    std::optional<uint64_t> limit = number_in(folder + limit_file);
    std::optional<uint64_t> used = number_in(folder + use_file);
    // Version 1 reports no limit as a huge number.
    if (!limit || !used || *limit > (uint64_t{1} << 60)) return;
    uint64_t taken = *used - std::min(*used, reclaimable(folder));
    found.limit_bytes = std::min(found.limit_bytes, *limit);
    found.free_bytes = std::min(found.free_bytes, *limit - std::min(*limit, taken));
  };
  for (const Group& group : groups(files)) {
    if (group.controllers.empty()) {
      for (const std::string& folder : folders(files.root, group.path)) {
        take(folder, "/memory.max", "/memory.current");
      }
    } else if (has_controller(group, "memory")) {
      for (const std::string& folder : folders(files.root + "/memory", group.path)) {
        take(folder, "/memory.limit_in_bytes", "/memory.usage_in_bytes");
      }
    }
  }
  return found;
}

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

uint32_t usable_threads() {
  auto cores = static_cast<double>(allowed_cpus().size());
  double limit = cgroup_cpu_limit();
  if (limit > 0) cores = std::min(cores, std::ceil(limit));
  return static_cast<uint32_t>(std::max(cores, 1.0));
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

/// The last-level cache that one core sees. sysfs is asked first, because sysconf() may add up the
/// caches of the whole processor.
uint64_t read_last_level_cache_bytes() {
  for (const char* index : {"3", "2"}) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index";
    if (auto size_kib = number_in(folder + index + "/size")) return *size_kib << 10;
  }
  for (int name : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    long size = sysconf(name);
    if (size > 0) return static_cast<uint64_t>(size);
  }
  return 0;
}

}  // namespace

// All three values are cached: CPUID traps in virtual machines, and reading /proc/cpuinfo queries
// every core.
const std::string& cpu_name() {
  static const auto* const name = new std::string(read_cpu_name());
  return *name;
}

uint64_t clock_khz() {
  static const uint64_t khz = read_clock_khz();
  return khz;
}

uint64_t last_level_cache_bytes() {
  static const uint64_t bytes = read_last_level_cache_bytes();
  return bytes;
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
