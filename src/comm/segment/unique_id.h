// Unique ids of communicators. An id names an open file of the process that made it: memory without
// a name in any file system, which is gone with the last process that uses it.
#pragma once

#include <cstdint>
#include <type_traits>

namespace km::comm {

constexpr uint64_t kUniqueIdBytes = 128;

struct UniqueId {
  uint64_t magic;
  uint64_t nonce[2];
  uint64_t host;  // a hash of the machine's boot id
  int64_t process;
  int64_t file;
  uint64_t version;  // of the library, and of the layout of its memory
  uint8_t padding[kUniqueIdBytes - 56];

  bool is_same(const UniqueId& other) const {
    return nonce[0] == other.nonce[0] && nonce[1] == other.nonce[1];
  }
};
static_assert(sizeof(UniqueId) == kUniqueIdBytes && std::is_trivially_copyable_v<UniqueId>);

}  // namespace km::comm
