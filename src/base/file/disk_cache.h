// Results kept on disk between processes, each under a key that contains everything that affects
// it. The folder must be the user's own, because its contents are executed. Invalid files are
// ignored and replaced; several processes may use the folder at once.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace km {

class DiskCache {
 public:
  /// The cache of this process; null if KM_CACHE_DIR is off, if there is no folder that only this
  /// user can write, and in setuid programs.
  static DiskCache* instance();

  /// Opens a cache and creates its folder if it is missing. `limit_bytes` limits all files
  /// together.
  static Result<DiskCache*> open(const std::string& folder, uint64_t limit_bytes);
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  /// The content stored under the key; nothing if it is missing or damaged.
  std::optional<std::vector<uint8_t>> find(std::string_view key) const;
  /// Stores the content under the key. It never fails: content that cannot be written is not
  /// stored.
  void keep(std::string_view key, std::span<const uint8_t> content);

 private:
  explicit DiskCache(int folder, uint64_t limit_bytes)
      : folder_(folder), limit_bytes_(limit_bytes) {}
  Status write(const std::string& name, std::string_view key,
               std::span<const uint8_t> content) const;
  void note_written(uint64_t size_bytes);
  void evict() const;

  const int folder_;  // descriptor of the folder
  const uint64_t limit_bytes_;
  std::mutex mutex_;
  uint64_t unchecked_bytes_ = UINT64_MAX;  // bytes written since the last eviction
};

}  // namespace km
