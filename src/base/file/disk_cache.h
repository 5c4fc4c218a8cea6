// Results kept on disk between processes, each under a key that holds everything that changes it.
// The folder is the user's own: its contents are executed. What does not look right in it is
// ignored and replaced; many processes may use it at once.
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
  /// The cache of this process; null where KM_CACHE_DIR says off, where there is no folder for it
  /// that only this user can write, and in setuid programs.
  static DiskCache* instance();

  /// Makes the folder if it is not there. `limit_bytes`: what all files together may take.
  static Result<DiskCache*> open(const std::string& folder, uint64_t limit_bytes);
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  /// The content that was kept under the key; nothing when it is not there or damaged.
  std::optional<std::vector<uint8_t>> find(std::string_view key) const;
  /// Never fails: what cannot be written is not kept.
  void keep(std::string_view key, std::span<const uint8_t> content);

 private:
  explicit DiskCache(int folder, uint64_t limit_bytes)
      : folder_(folder), limit_bytes_(limit_bytes) {}
  Status write(const std::string& name, std::string_view key,
               std::span<const uint8_t> content) const;
  void note_written(uint64_t size_bytes);
  void evict() const;

  const int folder_;  // open
  const uint64_t limit_bytes_;
  std::mutex mutex_;
  uint64_t unchecked_bytes_ = UINT64_MAX;  // written since the folder was last looked through
};

}  // namespace km
