#include "base/file/system_file.h"

#include <cstdlib>
#include <utility>

#include "base/file/file.h"

namespace km {

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

}  // namespace km
