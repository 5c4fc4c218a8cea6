// The instructions of a basic block, one after another.
#pragma once

#include "spirv/kernel/memory.h"
#include "spirv/kernel/warp.h"

namespace km::spirv {

class Lowering {
 public:
  Lowering(Shader& shader, Warp& warp) : s(shader), b(shader.b), warp_(warp), memory_(shader) {}

  /// Makes the code of a block's instructions. Returns false if the thread ends in it, at a trap or
  /// a failed assertion.
  bool lower_block(simt::BlockId block);

  /// Makes the code of an instruction by which lanes count on running in step, where all threads of
  /// the block come by. `active`: whether the thread takes part; null: all do.
  void lower_in_step(const simt::Inst& inst, V active);

  /// Makes the code of one instruction that threads run by themselves. False: the thread ends here.
  bool lower(const simt::Inst& inst);

  /// False, after a refusal, for a barrier at a block's end that is not the whole block's.
  bool takes_barrier(const simt::BasicBlock& block);
  /// The truth of which a barrier with a reduction counts the threads.
  V counted_at(const simt::BasicBlock& block);
  /// Defines the reduction's result from that count.
  void define_reduction(const simt::BasicBlock& block, V count);

 private:
  void lower_arithmetic(const simt::Inst& inst);
  void lower_move(const simt::Inst& inst);
  bool lower_call(const simt::Inst& inst);
  void lower_print(const simt::Inst& inst);
  V argument(const simt::Inst& inst, uint32_t index, ptx::Type type);

  Shader& s;
  llvm::IRBuilder<>& b;
  Warp& warp_;
  Memory memory_;
};

}  // namespace km::spirv
