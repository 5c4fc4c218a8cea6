#include "base/memory/host_range.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <string>

namespace km {

HostRange look_at_host_range(const void* pointer, uint64_t size_bytes) {
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return {};
  const auto begin = reinterpret_cast<uint64_t>(pointer);
  const uint64_t end = begin + std::min(size_bytes, UINT64_MAX - begin);
  uint64_t seen_to = begin;  // all memory below this address is mapped
  HostRange range{false, true};
  char line[512];
  bool is_line_start = true;  // long paths make lines of several reads
  while (seen_to < end && std::fgets(line, sizeof line, maps) != nullptr) {
    uint64_t from = 0, to = 0;
    char mode[5] = "";
    const bool is_row =
        is_line_start && std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, mode) == 3;
    is_line_start = line[std::char_traits<char>::length(line) - 1] == '\n';
    if (!is_row || to <= seen_to) continue;
    if (from > seen_to || mode[0] != 'r') break;
    range.is_writable = range.is_writable && mode[1] == 'w';
    seen_to = to;
  }
  std::fclose(maps);
  range.is_mapped = seen_to >= end;
  return range;
}

}  // namespace km
