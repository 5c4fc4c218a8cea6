// Values that depend on nothing but the thread's index in its block, computed for each thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "simt/abi.h"
#include "simt/kernel.h"

namespace km::simt {

class ThreadIndexEvaluator {
 public:
  /// `block`: 0, unknown, gives no values.
  ThreadIndexEvaluator(const Kernel& kernel, const std::array<uint32_t, 3>& block)
      : kernel_(kernel), block_(block) {}

  uint32_t thread_count() const { return block_[0] * block_[1] * block_[2]; }
  /// The value for the thread with this linear index; empty if it depends on anything else, or
  /// takes many instructions.
  std::optional<uint64_t> of(ValueId value, uint32_t thread) const {
    unsigned left = kMostInstructions;
    return of(value, thread, &left);
  }

 private:
  static constexpr unsigned kMostInstructions = 48;  // one that several others read counts for each
  std::optional<uint64_t> of(ValueId value, uint32_t thread, unsigned* left) const;
  std::optional<uint64_t> operand(const Inst& inst, unsigned index, uint32_t thread,
                                  unsigned* left) const;
  std::optional<uint64_t> special(const ptx::Operand& operand, uint32_t thread) const;

  const Kernel& kernel_;
  std::array<uint32_t, 3> block_;
};

}  // namespace km::simt
