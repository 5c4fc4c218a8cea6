// Executable code as the runtime sees it: entries, needs, and a way to explain a fault in it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "simt/abi.h"

namespace km::cpu {

struct CodeUnit {
  CodeUnit() { id = next_id.fetch_add(1, std::memory_order_relaxed); }
  CodeUnit(const CodeUnit&) = delete;
  CodeUnit& operator=(const CodeUnit&) = delete;

  uint64_t id;                                         // never used again, unlike an address
  simt::GridEntry grid_entry = nullptr;                // mode a
  simt::FiberEntry fiber_entry = nullptr;              // mode b
  simt::IndependentEntry independent_entry = nullptr;  // mode c
  bool waits = false;                                  // modes a and b: calls RuntimeTable::yield
  bool nontemporal_stores = false;                     // mode a: needs a store fence at its end
  bool reads_block = true;                             // else no block knows which one it is
  uint64_t begin = 0, end = 0;                         // addresses of the instructions
  uint64_t scratch_bytes = 0;                          // mode a: per worker; otherwise per warp
  bool has_large_stacks = false;                       // little of the scratch is ever touched
  uint64_t stack_bytes = 0;                            // below the entry
  /// The time that one block took lately, 0: never run. Decides how a launch is spread.
  mutable std::atomic<float> ticks_per_block{0};
  const char* name = nullptr;  // the kernel's, for profiles

  virtual ~CodeUnit() = default;
  /// Blocks run one after the other on the thread's own stack.
  bool runs_through() const { return grid_entry != nullptr && !waits; }
  /// Its blocks may wait for each other.
  bool may_wait() const { return waits || independent_entry != nullptr; }
  /// A block may wait for those before it, most likely. Blocks that do not know which they are
  /// have no order but that in which they begin.
  bool begins_in_order() const { return may_wait() && reads_block; }
  /// Stacks that a block needs where it does not run through; 0: it is never in the middle of code.
  uint32_t stacks_of_block(uint32_t warp_count) const {
    if (independent_entry != nullptr) return 0;
    return fiber_entry != nullptr ? warp_count : 1;
  }
  virtual std::string kernel_name() const = 0;
  /// "sobel.ptx:41", empty when unknown. `helper_line` counts where `pc` belongs to no line.
  virtual std::string position_of(uint64_t pc, uint32_t helper_line) const = 0;
  /// "parameter 1 'x'", "parameter 1 'x' and parameter 2 'y'": those whose argument is an address
  /// in this range; empty: none is. `params` are the arguments of a launch.
  virtual std::string parameters_in(const uint8_t*, uint64_t /*begin*/, uint64_t /*bytes*/) const {
    return {};
  }

 private:
  static inline std::atomic<uint64_t> next_id{1};
};

}  // namespace km::cpu
