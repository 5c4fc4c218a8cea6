#include "base/hash.h"

#include <cstdio>

// XXH3 is inlined so that libkernelmill.so needs no further library.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace km {

std::string Hash128::text() const {
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(high),
                static_cast<unsigned long long>(low));
  return digits;
}

uint64_t hash64(const void* data, size_t size_bytes) { return XXH3_64bits(data, size_bytes); }

Hash128 hash128(const void* data, size_t size_bytes) {
  const XXH128_hash_t hash = XXH3_128bits(data, size_bytes);
  return {hash.low64, hash.high64};
}

}  // namespace km
