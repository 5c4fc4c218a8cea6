// The device memory of a context by address, for messages about faults.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace km::cpu {

class Allocations {
 public:
  void add(uint64_t address, uint64_t size_bytes);
  void remove(uint64_t address);

  /// Where `address` lies relative to the nearest allocation: "4 bytes past the end of the
  /// 1024-byte allocation at 0x7f...". Empty when there is none.
  std::string locate(uint64_t address) const;

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, uint64_t> sizes_;
};

}  // namespace km::cpu
