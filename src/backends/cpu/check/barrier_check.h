// BarrierCheck, the tests of how one block uses its barriers and member masks.
#pragma once

#include <array>
#include <cstdint>

#include "backends/cpu/check/launch_checks.h"

namespace km::cpu {

/// Follows each barrier from its first arrival until it opens.
class BarrierCheck {
 public:
  /// Begins a block of the launch.
  void begin(LaunchChecks* launch, uint32_t block, uint32_t thread_count);

  /// Some lanes of a warp at a barrier.
  struct Arrival {
    uint32_t barrier = 0;
    uint32_t expected = 0;  // threads; 0: all of the block
    uint32_t line = 0;      // in the PTX text
    uint32_t first_thread = 0;
    uint32_t lanes = 0;
  };
  void arrive(const Arrival& arrival);
  /// The barrier opens for all that have arrived.
  void open(uint32_t barrier);
  /// A thread takes part in a warp operation whose member mask is without it.
  void note_stranger(uint32_t thread, uint32_t line);

 private:
  static constexpr uint32_t kBarriers = 32;
  /// The arrivals since the barrier last opened; `first` is the first of them.
  struct Round {
    Arrival first, other;  // `other` has another line, if its line is not 0
    uint32_t arrived = 0;  // threads
  };
  void note(Misuse::Kind kind, const Arrival& at, const Arrival& other, uint32_t arrived);

  LaunchChecks* launch_ = nullptr;
  uint32_t block_ = 0, thread_count_ = 0;
  std::array<Round, kBarriers> rounds_{};
};

}  // namespace km::cpu
