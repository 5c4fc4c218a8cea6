// The arena: the one buffer that is a context's memory, and who has which part of it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace km::opengl {

/// Ranges hands out ranges of [0, size). Thread-safe.
class Ranges {
 public:
  explicit Ranges(uint64_t size_bytes) { free_[0] = size_bytes; }

  /// The offset of a free range, the first one that is large enough; nothing if there is none.
  std::optional<uint64_t> take(uint64_t size_bytes);
  void give_back(uint64_t offset_bytes);

 private:
  std::mutex mutex_;                    // guards the members below
  std::map<uint64_t, uint64_t> free_;   // sizes by offset; no two of them touch
  std::map<uint64_t, uint64_t> taken_;  // likewise
};

}  // namespace km::opengl
