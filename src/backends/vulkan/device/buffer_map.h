// The look-up from an address to the buffer that has it: Vulkan's copies take buffers and offsets.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "backends/vulkan/driver/loader.h"

namespace km::vulkan {

/// A place in a buffer.
struct BufferPlace {
  VkBuffer buffer = VK_NULL_HANDLE;
  uint64_t offset_bytes = 0;
  void* mapped = nullptr;  // the same place for the host; null: the host does not reach it

  BufferPlace at(uint64_t more_bytes) const {
    return {buffer, offset_bytes + more_bytes,
            mapped == nullptr ? nullptr : static_cast<char*>(mapped) + more_bytes};
  }
};

/// The buffers of an epoch by the addresses of their memory. Thread-safe.
class BufferMap {
 public:
  struct Range {
    uint64_t begin = 0, end = 0;
  };

  /// Adds the memory [begin, begin + size), which begins at `place`. False if it overlaps other
  /// memory of the map.
  bool add(uint64_t begin, uint64_t size_bytes, BufferPlace place);
  void remove(uint64_t begin);
  /// The place of the memory [address, address + size); nothing if no buffer has all of it.
  std::optional<BufferPlace> find(uint64_t address, uint64_t size_bytes) const;
  /// All ranges in ascending order, and the number of the state that they belong to.
  std::vector<Range> ranges(uint64_t* out_version) const;
  /// A number that changes with each add() and remove().
  uint64_t version() const;

 private:
  struct Entry {
    uint64_t size_bytes;
    BufferPlace place;
  };
  mutable std::mutex mutex_;  // guards the members below
  std::map<uint64_t, Entry> entries_;
  uint64_t version_ = 1;
};

}  // namespace km::vulkan
