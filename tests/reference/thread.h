// What a thread, a warp and a block of the interpreter hold.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/program.h"

namespace km::reference {

inline constexpr unsigned kWarpLanes = 32;

/// One call of a function.
struct Frame {
  const Code* code = nullptr;
  uint32_t pc = 0;
  uint64_t base = 0;  // of its variables in the thread's local memory
  std::vector<Bits> registers;
  const Instruction* call = nullptr;  // in the caller, which takes the results
};

enum class State : uint8_t { ready, at_barrier, at_warp_operation, exited };

struct Thread {
  std::array<uint32_t, 3> index{};
  uint32_t number = 0;  // in its block
  State state = State::ready;
  bool carry = false;
  bool jumped = false;  // by the instruction that runs
  std::vector<Frame> frames;
  std::vector<uint8_t> local;

  // What it waits with.
  const Step* waiting = nullptr;
  uint32_t members = 0;  // of the warp operation; 0: whoever else waits at the same PC
  uint32_t barrier = 0;

  unsigned lane() const { return number % kWarpLanes; }
  Frame& frame() { return frames.back(); }
};

/// One of a block's sixteen barriers.
struct Barrier {
  uint32_t arrived = 0;                   // threads, those that a partial warp lacks included
  uint32_t expected = 0;                  // 0: all threads that have not exited
  uint32_t predicates = 0, reducing = 0;  // true ones among those that reduce
};

}  // namespace km::reference
