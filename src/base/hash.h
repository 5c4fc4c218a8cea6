// Content hashes (XXH3) for cache keys and change detection. They are not cryptographic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace km {

struct Hash128 {
  uint64_t low = 0, high = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
  /// The hash as 32 hexadecimal digits.
  std::string text() const;
};

uint64_t hash64(const void* data, size_t size_bytes);
Hash128 hash128(const void* data, size_t size_bytes);
inline uint64_t hash64(std::string_view text) { return hash64(text.data(), text.size()); }
inline Hash128 hash128(std::string_view text) { return hash128(text.data(), text.size()); }

}  // namespace km
