// Executable code as the runtime needs it: entries, memory sizes and positions of faults.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "simt/abi.h"

namespace km::cpu {

struct CodeUnit {
  CodeUnit() { id = next_id.fetch_add(1, std::memory_order_relaxed); }
  CodeUnit(const CodeUnit&) = delete;
  CodeUnit& operator=(const CodeUnit&) = delete;

  uint64_t id;                                         // unique in the process, unlike an address
  simt::GridEntry grid_entry = nullptr;                // mode a
  simt::FiberEntry fiber_entry = nullptr;              // mode b
  simt::IndependentEntry independent_entry = nullptr;  // mode c
  bool waits = false;  // a loop waits for other threads; not known of all code of mode c
  bool nontemporal_stores = false;  // mode a: a store fence is needed at its end
  bool reads_block = true;          // the code reads the index of its block
  uint16_t tools = 0;               // of the checker, as bits of simt::check_tool
  uint64_t begin = 0, end = 0;      // addresses of its instructions
  uint64_t scratch_bytes = 0;       // mode a: for each worker; otherwise for each warp
  bool has_large_stacks = false;    // most of the scratch memory is never touched
  uint64_t stack_bytes = 0;         // the stack that it uses below its entry
  /// The recent time of one block; 0: not run yet. Decides how many threads a launch gets.
  mutable std::atomic<float> block_ns{0};
  const char* name = nullptr;  // the kernel's name, for profiles

  virtual ~CodeUnit() = default;
  /// True if blocks run one after the other on the thread's own stack.
  bool runs_through() const { return grid_entry != nullptr && !waits; }
  /// True if blocks may wait for each other.
  bool may_wait() const { return waits || independent_entry != nullptr; }
  /// True if a block probably waits for earlier ones. Blocks that do not read their index have no
  /// order other than that in which they begin.
  bool begins_in_order() const { return may_wait() && reads_block; }
  /// The stacks that a block needs because it may be suspended; 0 if it never is.
  uint32_t stacks_of_block(uint32_t warp_count) const {
    if (independent_entry != nullptr) return 0;
    return fiber_entry != nullptr ? warp_count : 1;
  }
  virtual std::string kernel_name() const = 0;
  /// The source position, "sobel.ptx:41"; empty if unknown. `helper_line` is used if `pc` has no
  /// line.
  virtual std::string position_of(uint64_t pc, uint32_t helper_line) const = 0;
  /// The source lines of the calls that the compiler has replaced by the code on a line of the PTX
  /// text, the innermost first.
  virtual std::vector<std::string> callers_of(uint32_t line) const = 0;
  /// The parameters whose arguments are addresses in this range: "parameter 1 'x' and parameter 2
  /// 'y'"; empty if there are none. `params` are the arguments of a launch.
  virtual std::string parameters_in(const uint8_t*, uint64_t /*begin*/, uint64_t /*bytes*/) const {
    return {};
  }

 private:
  static inline std::atomic<uint64_t> next_id{1};
};

}  // namespace km::cpu
