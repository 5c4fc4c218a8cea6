// RegionCode, which generates the steps of a region in modes a and b.
#pragma once

#include <utility>
#include <vector>

#include "simt/codegen/modes/barrier_spill.h"
#include "simt/codegen/modes/generator.h"
#include "simt/codegen/modes/index_tests.h"
#include "simt/codegen/modes/step_masks.h"

namespace km::simt {

/// Generates the code of one packet in one region, step by step, with masks after divergent
/// branches.
class RegionCode : private EmitterBase {
 public:
  explicit RegionCode(Generator& generator);

  /// The analysis of packets that have no work in a region.
  SkipIdlePackets& idle() { return idle_; }
  /// The values that are kept across barriers.
  BarrierSpill& spill() { return spill_; }
  /// Creates the variables that all regions share.
  void create_variables();
  /// Starts the code of the packet with that number: its thread indices, local memory, entry mask
  /// and kept values.
  void begin_packet(uint32_t region, Value* index);
  /// Generates all steps of the packet, which end by a jump to `packet_end`.
  void emit_steps(uint32_t region, llvm::BasicBlock* packet_end);

 private:
  llvm::BasicBlock* target_of(uint32_t step);
  void emit_step(uint32_t index);
  void count_step(uint32_t index);
  void emit_end(uint32_t index);
  void emit_uniform_end(uint32_t index);
  void emit_linear_end(uint32_t index);
  void emit_barrier_end(uint32_t index);
  void contribute(uint32_t index, size_t slot, Value* edge_mask);
  bool is_copied_for_all(uint32_t step) const;
  void go_to_next(uint32_t index, const std::vector<Value*>& edge_masks);
  void emit_copies_for_all();

  LaunchFrame& frame_;
  Values& values_;
  Lowering& lowering_;
  CodeLimit& limit_;
  SkipIdlePackets idle_;
  StepMasks masks_;
  Edges edges_;
  BarrierSpill spill_;
  IndexTests index_tests_;
  std::vector<llvm::BasicBlock*> heads_, bodies_;  // by step
  llvm::BasicBlock* packet_end_ = nullptr;
  // Steps, and the basic blocks for their copies.
  std::vector<std::pair<uint32_t, llvm::BasicBlock*>> copies_for_all_;
};

}  // namespace km::simt
