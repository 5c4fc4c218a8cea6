// The memory that the ranks of a communicator share: its parts, whose sizes depend on the number of
// ranks.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/arch/constants.h"
#include "base/integers.h"
#include "comm/operation/operation.h"
#include "comm/segment/bell.h"
#include "comm/segment/failure.h"
#include "comm/segment/ranks.h"
#include "comm/segment/unique_id.h"

namespace km::comm {

constexpr uint64_t kStagingBytes = 512 << 10;  // of one buffer
constexpr uint64_t kStagingBuffers = 4;        // of a rank
constexpr uint64_t kRingSlots = 2, kRingSlotBytes = 64 << 10;
constexpr uint64_t kCallDataBytes = 96;  // shorter inputs lie beside the call
constexpr uint32_t kMostRanks = 4096;

/// The memory of a unique id. It has a fixed size, so the first rank makes the communicator's own.
/// It is the same in all versions of the library.
struct IdPage {
  UniqueId id;
  // 0: none, 1: a rank makes the memory, 2: it is there, 3: a rank of another version came first
  std::atomic<uint32_t> layout_state;
  uint32_t ranks;
  int process, file;  // where the communicator's memory is open
};

/// The first failure of a communicator. It begins the memory in all versions of the library, so
/// that a rank of another version, which cannot join, tells those that wait for it.
struct SharedFailure {
  std::atomic<uint32_t> state;  // 0: none, 1: a rank writes it, 2: written
  FailureKind kind;
  char text[512];
  Bell joins;  // rings when a rank joins, and when one cannot

  /// Keeps the failure, unless there is one.
  void tell(const Failure& failure);
};
static_assert(sizeof(SharedFailure) == 528);

/// The head of a communicator's memory.
struct SharedHeader {
  SharedFailure failure;
  std::atomic<uint32_t> joined;
  alignas(64) Bell board;       // rings when a rank's board_steps or notice changes
  alignas(64) Bell collective;  // rings when a rank's call or collective_steps changes
};

/// A notice of one rank to others, under a key by which they find it.
struct Notice {
  std::atomic<uint64_t> key;  // 0: none
  uint8_t data[kNoticeBytes];
};

/// One rank's call of a collective operation, which begins a cache line: a short operation needs
/// nothing else of the rank.
struct alignas(64) SharedCall {
  std::atomic<uint64_t> number;  // of the operation; written last
  Signature call;
  uint8_t scalar[8];  // of a scaled sum
  uint8_t data[kCallDataBytes];
};
static_assert(sizeof(SharedCall) == 128);

/// One rank's part of the control memory.
struct alignas(64) SharedSlot {
  std::atomic<int32_t> process;  // 0: the rank has not joined
  int32_t device;
  std::atomic<uint32_t> has_left;
  std::atomic<uint64_t> board_steps;
  uint8_t board[2][kNoticeBytes];
  Notice notice;
  SharedCall calls[2];                                 // collective operations, the latest two
  alignas(64) std::atomic<uint64_t> collective_steps;  // within operations
  alignas(64) Bell bell;  // rings when a ring of messages from or to the rank moves
};

/// Messages of one rank to another.
struct alignas(64) SharedRing {
  struct Slot {
    uint64_t size_bytes, total_bytes;
    Signature call;
  };
  alignas(64) std::atomic<uint64_t> written;
  alignas(64) std::atomic<uint64_t> read;
  Slot slots[kRingSlots];
};

/// The places of the parts.
struct Layout {
  uint32_t ranks;

  static constexpr uint64_t round(uint64_t size) { return round_up(size, arch::kMostPageBytes); }
  uint64_t slots() const { return round(sizeof(SharedHeader)); }
  uint64_t staging() const { return slots() + round(ranks * sizeof(SharedSlot)); }
  /// Each rank has two buffers for inputs and two for results.
  uint64_t rings() const { return staging() + uint64_t{ranks} * kStagingBuffers * kStagingBytes; }
  uint64_t messages() const {
    return rings() + round(uint64_t{ranks} * ranks * sizeof(SharedRing));
  }
  uint64_t size_bytes() const {
    return messages() + uint64_t{ranks} * ranks * kRingSlots * kRingSlotBytes;
  }
};

}  // namespace km::comm
