// Evaluates values that depend only on the thread's index in its block, for each thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "simt/abi.h"
#include "simt/kernel/kernel.h"

namespace km::simt {

class ThreadIndexEvaluator {
 public:
  /// A `block` of 0 is unknown and yields no values.
  ThreadIndexEvaluator(const Kernel& kernel, const std::array<uint32_t, 3>& block)
      : kernel_(kernel), block_(block) {}

  uint32_t thread_count() const { return block_[0] * block_[1] * block_[2]; }
  /// The value for the thread with this linear index; nothing if it depends on anything else, or
  /// needs too many instructions.
  std::optional<uint64_t> of(ValueId value, uint32_t thread) const {
    unsigned left = kMostInstructions;
    return of(value, thread, &left);
  }

 private:
  // A value with several readers counts once for each.
  static constexpr unsigned kMostInstructions = 48;
  std::optional<uint64_t> of(ValueId value, uint32_t thread, unsigned* left) const;
  std::optional<uint64_t> operand(const Inst& inst, unsigned index, uint32_t thread,
                                  unsigned* left) const;
  std::optional<uint64_t> special(const ptx::Operand& operand, uint32_t thread) const;

  const Kernel& kernel_;
  std::array<uint32_t, 3> block_;
};

}  // namespace km::simt
