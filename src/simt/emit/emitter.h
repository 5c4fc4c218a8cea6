// Turns one analysed kernel variant into an LLVM module, with the parts in simt/codegen. What is
// not a part of its own yet is a function of this class, in a file by subject:
//   emitter.cpp  the module, the entry function, the loop over packets
//   tiles.cpp    packets side by side
//   blocks.cpp   the loop over blocks
//   control.cpp  steps, masks and edges of a region
//   idle.cpp     packets that have nothing to do between two barriers
//   split.cpp    the same for mode c, where each lane has a place of its own
//   precheck.cpp the launch-time proof that index expressions do not wrap
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simt/codegen/lowering.h"
#include "simt/emit/target.h"
#include "simt/lower/arithmetic.h"
#include "simt/plan/code_plan.h"
#include "simt/plan/idle_packets.h"

namespace km::simt {

class Emitter : private Room {
 public:
  Emitter(CodeBuilder& builder, const CodePlan& plan, const Interruption& interruption);
  Result<Object> run(llvm::TargetMachine& machine);

 private:
  // ---- emitter.cpp
  void emit();
  void create_variables();
  void plan_split_values();
  void emit_warp();
  void emit_region(uint32_t region, llvm::BasicBlock* done);
  void begin_packet(uint32_t region, Value* index);
  void load_context(uint32_t region);
  void load_needed_context(uint32_t region);
  void load_from_context(ValueId value, uint32_t loop);
  void rematerialise(uint32_t region);
  void make_again(const Inst& inst, ValueId value, BlockId entry);
  void commit_context(uint32_t region);
  void emit_meta();
  /// Between steps: the work is to end, or the code has become too large; status_ says why.
  bool is_ended();

  // ---- tiles.cpp
  llvm::MDNode* row_hint(uint32_t packets);
  void mark_woven(llvm::BasicBlock* before);

  // ---- blocks.cpp
  void emit_blocks_loop();
  void emit_block();
  void leave_abandoned(llvm::BasicBlock* tail);
  Value* emit_side_by_side(Value* row_end);

  // ---- control.cpp
  void emit_steps(uint32_t region, llvm::BasicBlock* packet_end);
  void emit_step(uint32_t index);
  void emit_end(uint32_t index);
  void emit_uniform_end(uint32_t index);
  void emit_linear_end(uint32_t index);
  bool is_copied_for_all(uint32_t step) const;
  struct IndexTest {
    llvm::CmpInst::Predicate order;
    Value *base = nullptr, *bound = nullptr;
    const Offsets* offsets = nullptr;
  };
  std::optional<IndexTest> index_test(const Block& block, size_t slot);
  Value* surely_all_take(const Block& block, size_t slot);
  void go_to_next(uint32_t index, const std::vector<Value*>& edge_masks);
  void emit_copies_for_all();
  void emit_barrier_end(uint32_t index);
  void contribute(uint32_t index, size_t slot, Value* edge_mask);
  void contribute_mask(uint32_t index, BlockId successor, Value* edge_mask);
  void contribute_phis(uint32_t index, size_t slot, Value* edge_mask);
  void contribute_loop_values(BlockId successor, Value* edge_mask);
  Value* branch_condition(const Block& block);
  BlockId branch_before(uint32_t index) const;
  Value* blend_condition(uint32_t index, BlockId successor, Value* edge_mask);
  bool edge_blends(uint32_t index, BlockId successor) const;
  void save_context(uint32_t from_region, uint32_t to_region);
  llvm::BasicBlock* target_of(uint32_t step);
  void yield();
  Value* load_mask(uint32_t step);

  // ---- idle.cpp
  llvm::Constant* working_lanes(BlockId block);
  void end_packets();

  // ---- split.cpp: mode c
  void emit_split_warp();
  void emit_split_dispatch();
  void emit_split_block(uint32_t index);
  void emit_split_end(uint32_t index);
  void exit_group();
  void emit_split_branch(uint32_t index);
  void emit_split_barrier(uint32_t index);
  void emit_meeting(uint32_t index);
  void emit_after_meeting(uint32_t index);
  void begin_split_part(uint32_t index, llvm::BasicBlock* at);
  void go_on(uint32_t index, const std::vector<Value*>& edge_masks);
  void leave_to(BlockId successor, Value* edge_mask);
  bool continues_directly(uint32_t index, BlockId successor) const;
  bool leaves_waiting_loop(BlockId from, BlockId to) const;
  uint32_t meeting_kind(const ptx::Instruction& instruction);

  // ---- precheck.cpp
  void emit_precheck();

  const Interruption& interruption_;
  LaunchFrame frame_;
  SpecialRegisters registers_;
  Values values_;
  SplitWarpFrame split_;
  Lowering lowering_;

  Status status_;
  uint64_t instructions_ = 0;                 // counted so far
  llvm::BasicBlock* last_counted_ = nullptr;  // blocks after it are still to be counted
  llvm::AllocaInst* entry_mask_ = nullptr;

  // The region and step being emitted.
  uint32_t step_ = 0;
  std::vector<llvm::BasicBlock*> heads_, bodies_;  // by step
  llvm::BasicBlock* packet_end_ = nullptr;
  std::vector<std::pair<uint32_t, llvm::BasicBlock*>> copies_for_all_;  // steps, still to be made
  uint32_t step_for_all_ = kEndOfRegion;                                // being made
  std::map<BlockId, llvm::AllocaInst*> mask_variables_;
  std::map<BlockId, llvm::Constant*> known_masks_;  // the same in every packet that runs
  IdlePackets idle_;                                // of the region

  // Mode c.
  llvm::AllocaInst* group_ = nullptr;  // i32, the lanes that run
  llvm::BasicBlock* dispatch_ = nullptr;
  std::vector<llvm::BasicBlock*> resumes_;  // by step: what follows its meeting or barrier
  std::map<std::string, uint32_t> operations_;

  // Context kept between regions.
  struct SpillVariables {
    llvm::AllocaInst *in = nullptr, *out = nullptr;  // block-uniform
    llvm::Type* type = nullptr;
  };
  llvm::Type* spill_type(const SpillKey& key, const SpillSlot& slot);
  std::map<SpillKey, SpillVariables> spill_variables_;
  std::map<ValueId, llvm::AllocaInst*> barrier_sums_;  // results of bar.red
  // While a region is made: what of its context is needed, and the place where that is loaded.
  llvm::Instruction* context_point_ = nullptr;
  std::vector<std::vector<uint32_t>> edge_slots_;  // Kernel::edge_slots()
  std::vector<uint32_t> first_arrival_;            // by block: the first step that leads to it
};

}  // namespace km::simt
