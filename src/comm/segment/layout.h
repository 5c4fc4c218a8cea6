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
constexpr uint64_t kRingSlots = 2, kRingSlotBytes = 64 << 10;
constexpr uint32_t kMostRanks = 4096;

/// Counts arrivals of all ranks: step s is complete after s * ranks of them.
struct Barrier {
  alignas(64) std::atomic<uint64_t> arrivals{0};
  Bell complete;
};

/// The memory of a unique id. It has a fixed size, so the first rank makes the communicator's own.
struct IdPage {
  UniqueId id;
  std::atomic<uint32_t> layout_state;  // 0: none, 1: a rank makes the memory, 2: it is there
  uint32_t ranks;
  int process, file;  // where the communicator's memory is open
};

/// The head of a communicator's memory.
struct SharedHeader {
  std::atomic<uint32_t> joined;
  Bell join_bell;
  // The first failure. 0: none, 1: a rank writes it, 2: written.
  std::atomic<uint32_t> failure_state;
  FailureKind failure_kind;
  char failure_text[512];
  Barrier board, collective;
};

/// A notice of one rank to others, under a key by which they find it.
struct Notice {
  std::atomic<uint64_t> key;  // 0: none
  uint8_t data[kNoticeBytes];
};

/// One rank's part of the control memory.
struct alignas(64) SharedSlot {
  std::atomic<int32_t> process;  // 0: the rank has not joined
  int32_t device;
  std::atomic<uint32_t> has_left;
  std::atomic<uint64_t> board_steps, collective_steps;
  uint8_t board[2][kNoticeBytes];
  Notice notice;
  Signature calls[2];     // collective operations, the latest two
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
  /// Each rank has two buffers for inputs and one for results.
  uint64_t rings() const { return staging() + uint64_t{ranks} * 3 * kStagingBytes; }
  uint64_t messages() const {
    return rings() + round(uint64_t{ranks} * ranks * sizeof(SharedRing));
  }
  uint64_t size_bytes() const {
    return messages() + uint64_t{ranks} * ranks * kRingSlots * kRingSlotBytes;
  }
};

}  // namespace km::comm
