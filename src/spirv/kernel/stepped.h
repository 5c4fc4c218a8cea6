// Kernels whose threads wait for each other where they have diverged: the block agrees on the next
// basic block, which the threads that are there run, while all take part in its barriers.
#pragma once

#include <map>
#include <vector>

#include "spirv/kernel/lowering.h"
#include "spirv/kernel/numbered_barriers.h"
#include "spirv/kernel/warp.h"

namespace km::spirv {

class Stepped {
 public:
  Stepped(Shader& shader, const std::vector<const ptx::Instruction*>& spin_headers);
  void emit();

 private:
  void begin();
  V step();
  void find_key();
  V is_ready(V state);
  void agree_on_key(V state);
  void emit_block(simt::BlockId block);
  void emit_after(simt::BlockId block);
  void emit_end(simt::BlockId block);
  void emit_barrier(simt::BlockId block);
  void release_barrier();
  void end_deadlock();
  void finish_thread();
  void go(simt::BlockId from, size_t edge);
  uint32_t state_of(simt::BlockId block) const { return 2 * order_[block]; }
  void under(V active, const Shader::Body& body) { s.if_then(active, body); }
  V is_active();

  Shader& s;
  llvm::IRBuilder<>& b;
  Warp warp_;
  Lowering lowering_;
  NumberedBarriers barriers_;
  simt::Graph graph_;
  std::vector<uint32_t> order_;
  std::vector<simt::BlockId> blocks_;  // in the order of states
  std::vector<std::vector<uint32_t>> slots_;
  std::vector<uint8_t> yields_;  // by block: threads that come back to it let others go first
  bool has_warp_syncs_ = false, has_stamps_ = false;
  Shader::Variable state_, key_, turn_, members_, resume_, counted_, count_, stamp_, current_;
  Shader::Variable waits_at_;  // the line of the operation at which the thread has last waited
};

}  // namespace km::spirv
