// The kernel's own loops and branches in SPIR-V's structured form.
//
// The tree of dominators gives the nesting (after Ramsey, "Beyond Relooper", ICFP 2022): a block's
// code is followed by those of its children at which several paths meet. A variable holds the block
// that a thread goes to next; each such child runs if it is that one. So each region has one exit,
// no branch leaves several constructs, and threads come together where paths meet. The test is left
// out where only one target is possible.
#pragma once

#include <set>
#include <vector>

#include "spirv/kernel/lowering.h"
#include "spirv/kernel/warp.h"

namespace km::spirv {

class Structured {
 public:
  explicit Structured(Shader& shader);
  void emit();

 private:
  void find_tree();
  void find_far_values();
  void emit_tree(simt::BlockId block);
  void emit_block(simt::BlockId block);
  void emit_at_target(simt::BlockId block);
  void emit_end(simt::BlockId block);
  void emit_barrier(const simt::BasicBlock& block);
  void go(simt::BlockId from, size_t edge);
  void set_target(simt::BlockId target);
  bool is_after_loop(simt::BlockId from, simt::BlockId to, uint32_t* out_loop) const;

  Shader& s;
  llvm::IRBuilder<>& b;
  Warp warp_;
  Lowering lowering_;
  simt::Graph graph_;
  simt::DominatorTree dominators_;
  simt::LoopForest loops_;
  std::vector<std::vector<uint32_t>> slots_;
  std::vector<uint32_t> order_;                             // by block: place in reverse postorder
  std::vector<uint8_t> is_header_, has_label_;              // by block
  std::vector<std::vector<simt::BlockId>> inside_, after_;  // by block: children with labels
  Shader::Variable target_;
  /// The targets that a thread may have here.
  std::set<simt::BlockId> pending_;
  simt::BlockId exit_;
};

}  // namespace km::spirv
