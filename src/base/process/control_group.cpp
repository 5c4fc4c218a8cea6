#include "base/process/control_group.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "base/file/system_file.h"

namespace km {
namespace {

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

}  // namespace km
