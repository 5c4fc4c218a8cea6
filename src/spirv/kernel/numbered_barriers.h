// Barriers that have a number or are for a part of the block's threads (bar.sync 1, 64;
// bar.arrive), in stepped mode. Arrivals at a number are counted in shared memory and never go
// back; the threads of a block take the same steps, and each keeps for itself at which count the
// barrier was complete.
#pragma once

#include <vector>

#include "spirv/kernel/lowering.h"

namespace km::spirv {

/// True for a barrier of a block that a shader's own barrier cannot stand for.
bool is_numbered_barrier(const ptx::Instruction& instruction);

class NumberedBarriers {
 public:
  explicit NumberedBarriers(Shader& shader);

  /// True if the kernel has such barriers: then its others are treated like them.
  bool exist() const { return !numbers_.empty(); }
  /// Clears the block's counts; a barrier has to follow.
  void begin();
  /// Counts the running threads at the barrier that ends `block`; those of an `arrive` do not wait.
  void arrive(const simt::BasicBlock& block, Lowering& lowering);
  /// Counts a thread that ends: barriers without a count of threads do not wait for it.
  void leave();
  /// Lets threads go on whose barrier is complete. All arrivals must be visible, by a barrier.
  void complete();
  /// Completes barriers of a number of threads as if ended threads had arrived, as the CPU does if
  /// no thread can go on; true if there was one. All threads of the block must call it.
  V complete_with_ended();
  /// True for a thread that waits.
  V waits() { return s.load(waits_); }
  /// The threads of the thread's last barrier whose truth a reduction counts.
  V counted() { return s.load(counted_); }

 private:
  struct Number {
    uint32_t id = 0;
    Shader::Variable done, done_counted;  // arrivals, and those counted, of complete barriers
  };
  void complete(const Number& number, V threads_left);
  void release(const Number& number, V counted);
  Id word_of(uint32_t first, V id) { return s.state_word(b.CreateAdd(s.u32(first), id)); }
  V add(Id place, uint32_t amount);

  Shader& s;
  llvm::IRBuilder<>& b;
  std::vector<Number> numbers_;
  Shader::Variable waits_, id_, ticket_, counted_;
};

}  // namespace km::spirv
