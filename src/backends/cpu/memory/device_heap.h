// The heap for malloc and free in device code: one for each context, initially of CUDA's default
// size. A block lives until it is freed or the context is reset. Blocks lie between guards, and the
// records about them elsewhere: a kernel that writes beyond its block hits memory of kernels or a
// guard, but not the host's heap.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/cpu/memory/address_space.h"

namespace km::cpu {

class Allocations;

class DeviceHeap {
 public:
  static constexpr uint64_t kDefaultBytes = 8 << 20;

  /// Allocated blocks are registered in `allocations`, which must outlive the heap.
  explicit DeviceHeap(Allocations* allocations) : allocations_(allocations) {}
  ~DeviceHeap() { clear(); }
  DeviceHeap(const DeviceHeap&) = delete;
  DeviceHeap& operator=(const DeviceHeap&) = delete;

  /// The place in a kernel's code that allocates.
  struct Place {
    uint64_t unit = 0, pc = 0;   // CodeUnit::id, and an address in it; 0: unknown
    bool is_of_runtime = false;  // by cudaMalloc, not by malloc or new
    auto operator<=>(const Place&) const = default;
  };
  /// A place as it is told.
  struct PlaceText {
    std::string kernel, position;
  };
  /// Blocks that are alive, of one place.
  struct Alive {
    PlaceText place;
    bool is_of_runtime = false;
    uint64_t count = 0, size_bytes = 0, address = 0;  // the lowest address
  };

  /// Returns memory that is aligned to 16 bytes; 0 if there is no room or `size_bytes` is 0.
  uint64_t allocate(uint64_t size_bytes) { return allocate(size_bytes, Place()); }
  uint64_t allocate(uint64_t size_bytes, const Place& place);
  /// Has the places of allocations kept, for alive().
  void follow() { is_followed_.store(true, std::memory_order_relaxed); }
  bool is_followed() const { return is_followed_.load(std::memory_order_relaxed); }
  /// Calls a function for each place of a unit that has no text yet, while kernels go on
  /// allocating. Called before the unit ends.
  void describe(uint64_t unit, const std::function<PlaceText(uint64_t pc)>& text_of);
  /// All blocks that are alive, by place.
  std::vector<Alive> alive() const;
  /// Returns false if `address` is neither 0 nor the start of an allocation.
  bool release(uint64_t address);
  uint64_t limit_bytes() const;
  /// Allocations beyond a lower limit stay valid.
  void set_limit(uint64_t size_bytes);
  /// Frees everything; no kernel may run.
  void clear();

 private:
  uint64_t take(uint64_t block_bytes);
  uint64_t take_free(uint64_t block_bytes);
  uint64_t take_fresh(uint64_t block_bytes);
  uint64_t take_merged(uint64_t block_bytes);
  bool add_range(uint64_t block_bytes);
  void merge_free();
  void put_back(uint64_t address, uint64_t block_bytes) noexcept;

  Allocations* const allocations_;
  mutable std::mutex mutex_;
  struct Block {
    uint64_t size_bytes = 0;  // as requested
    Place place;
  };
  std::unordered_map<uint64_t, Block> blocks_;  // by address
  std::map<Place, PlaceText> places_;           // of all that was allocated; empty: not known yet
  std::atomic<bool> is_followed_{false};
  uint64_t used_bytes_ = 0;  // of blocks in use
  uint64_t limit_bytes_ = kDefaultBytes;
  // A block comes from the free blocks of its size, otherwise from the end of the last range,
  // otherwise from merged free blocks.
  std::vector<GuardedRange> ranges_;
  uint64_t reserved_bytes_ = 0;                               // the sum over all ranges
  uint64_t fresh_begin_ = 0, fresh_end_ = 0;                  // unused end of the last range
  std::unordered_map<uint64_t, std::vector<uint64_t>> free_;  // addresses by size
  bool may_merge_ = false;  // blocks were freed since the last merge
};

}  // namespace km::cpu
