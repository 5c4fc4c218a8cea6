#include "base/file/named_file.h"

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/text.h"

namespace km {
namespace {

/// Limit of the directory entries that are compared; it bounds the time in huge folders.
constexpr size_t kMostFiles = 10000;

/// " Did you mean 'scale.cu'?"; empty if no name is similar or the folder cannot be read.
std::string nearest_file(const std::string& path) {
  const std::filesystem::path wanted(path);
  std::error_code failure;
  const std::filesystem::path folder = wanted.has_parent_path() ? wanted.parent_path() : ".";
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator entry(folder, failure), end;
       !failure && entry != end && names.size() < kMostFiles; entry.increment(failure)) {
    names.push_back(entry->path().filename().string());
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  return suggestion(wanted.filename().string(), candidates);
}

}  // namespace

Result<std::string> read_named_file(const std::string& path, uint64_t max_bytes) {
  Result<std::string> text = read_file(path, max_bytes);
  if (text || text.error().native_code != ENOENT) return text;
  Error failure = text.error();
  const std::string near = nearest_file(path);
  if (!near.empty()) failure.message += "." + near;
  return failure;
}

}  // namespace km
