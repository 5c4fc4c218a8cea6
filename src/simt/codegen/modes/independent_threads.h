// Mode c: each lane has its own position in the code. The entry function executes groups of lanes
// at the same position, which runtime/independent_warp.cpp selects, one basic block at a time.
// Values read by other basic blocks are in scratch memory, so that the entry function can return
// when no lane can continue.
//
// A position is encoded as a state: twice the step of the basic block, plus one for the code after
// its warp operation or barrier.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "simt/codegen/modes/edges.h"
#include "simt/codegen/modes/strategy.h"

namespace km::simt {

/// Generates a dispatcher, and the code of each basic block for the group of lanes that executes
/// it.
class IndependentThreads final : public Strategy, private EmitterBase {
 public:
  explicit IndependentThreads(Generator& generator);

  void lay_out() override;
  void run() override;

 private:
  void emit_dispatch();
  void begin_part(uint32_t index, llvm::BasicBlock* at);
  void emit_block_code(uint32_t index);

  // ---- Terminators of basic blocks.
  void emit_end(uint32_t index);
  void exit_group();
  void emit_branch(uint32_t index);
  void emit_barrier(uint32_t index);
  void leave_block(uint32_t index, const std::vector<Value*>& edge_masks);
  void leave_to(BlockId successor, Value* edge_mask);
  bool continues_directly(uint32_t index, BlockId successor) const;
  bool leaves_spin_loop(BlockId from, BlockId to) const;

  // ---- Warp operations with a member mask.
  uint32_t warp_sync_kind(const ptx::Instruction& instruction);
  void emit_warp_sync(uint32_t index);
  void emit_after_warp_sync(uint32_t index);

  LaunchFrame& frame_;
  Values& values_;
  IndependentWarpFrame& warp_frame_;
  Lowering& lowering_;
  CodeLimit& limit_;
  SkipIdlePackets idle_;
  Edges edges_;
  llvm::AllocaInst* group_ = nullptr;  // i32, the lanes that run
  llvm::BasicBlock* dispatch_ = nullptr;
  std::vector<llvm::BasicBlock*> bodies_;   // by step
  std::vector<llvm::BasicBlock*> resumes_;  // by step: the code after its warp operation or barrier
  std::map<std::string, uint32_t> operations_;
};

}  // namespace km::simt
