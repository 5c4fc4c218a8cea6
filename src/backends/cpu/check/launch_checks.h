// LaunchChecks, the state of the checker for one launch, and the defects it has noted in it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "backends/cpu/check/access_record.h"
#include "backends/cpu/check/release_table.h"
#include "backends/cpu/memory/allocations.h"

namespace km::cpu {

/// Two accesses of different threads, of which one writes, that nothing orders.
struct Race {
  AccessRecord before, now;
  uint64_t address = 0;
  uint32_t access_bytes = 0;   // of the later access
  bool is_shared = false;      // shared memory; `offset` is then the place in it
  bool is_same_value = false;  // both write the same value
  uint64_t offset = 0;
  uint64_t count = 0;  // how often it was seen
};

/// Shared by the threads that run the launch.
class LaunchChecks {
 public:
  explicit LaunchChecks(uint8_t tools);

  uint8_t tools() const { return tools_; }
  /// The number of the launch in the shadow of global memory, from 1 on.
  uint32_t era() const { return era_; }
  ReleaseTable& releases() { return releases_; }
  /// Memory to which invalid accesses are led.
  AddressRange unused() const {
    return {reinterpret_cast<uint64_t>(unused_.data()), unused_.size()};
  }
  /// Notes a race. Races of the same two lines count as one, of which the first is kept.
  void note(const Race& race);
  /// An access to memory that the launch does not have, a misaligned one, or a read of what nothing
  /// has written.
  struct Invalid {
    AccessRecord access;
    uint64_t address = 0, size_bytes = 0;
    uint64_t shared_begin = 0;  // where the block's shared memory begins
    enum Kind : uint8_t { outside, misaligned, undefined } kind = outside;
    uint64_t count = 0;
  };
  /// Notes an invalid access. Those of one line count as one, of which the first is kept.
  void note(const Invalid& invalid);
  /// The invalid accesses that were noted.
  std::vector<Invalid> invalid() const;
  /// The races that were noted.
  std::vector<Race> races() const;

 private:
  using Key = std::tuple<uint32_t, uint32_t, uint32_t>;  // both lines and kinds

  alignas(256) std::array<uint8_t, 256> unused_{};
  const uint8_t tools_;
  const uint32_t era_;
  ReleaseTable releases_;
  mutable std::mutex mutex_;
  std::map<Key, Race> races_;
  std::map<std::pair<uint32_t, uint8_t>, Invalid> invalid_;  // by line and kind
};

}  // namespace km::cpu
