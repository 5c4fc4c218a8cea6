// StepMasks, the masks of a region's steps.
#pragma once

#include <map>

#include "simt/codegen/modes/skip_idle_packets.h"

namespace km::simt {

/// Keeps the mask of each step in a variable, unless the step shares the mask of another step or of
/// the region's entry. A null mask means that all lanes are active.
class StepMasks : private EmitterBase {
 public:
  StepMasks(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame, SkipIdlePackets& idle)
      : EmitterBase(builder, plan), frame_(frame), idle_(idle) {}

  /// Creates the variable of the region's entry mask.
  void create_entry_mask();
  /// Stores the entry mask of the current packet.
  void store_entry_mask(Value* mask) { builder_.store_mask(entry_mask_, mask); }
  /// Starts a region and creates the variables of its steps.
  void begin_region(uint32_t region);
  /// Generates the start of a packet: it clears the masks that accumulate, and jumps to
  /// `packet_end` if no lane of the packet has reached the region.
  void begin_packet(uint32_t region, llvm::BasicBlock* packet_end);
  /// Starts the copy of a step that runs with all lanes active.
  void begin_copy(uint32_t step);
  /// Ends the last copy.
  void end_copies() { copied_step_ = kEndOfRegion; }
  /// Loads the mask of a step of the current region.
  Value* load(uint32_t index);
  /// Clears the mask of a step.
  void clear(uint32_t step);
  /// Adds the lanes of an edge from step `index` to the mask of the successor.
  void contribute(uint32_t index, BlockId successor, Value* edge_mask);

 private:
  LaunchFrame& frame_;
  SkipIdlePackets& idle_;
  llvm::AllocaInst* entry_mask_ = nullptr;
  std::map<BlockId, llvm::AllocaInst*> mask_variables_;
  std::map<BlockId, llvm::Constant*> known_masks_;  // equal in all packets that run
  uint32_t copied_step_ = kEndOfRegion;  // its copy is being generated, with all lanes active
};

}  // namespace km::simt
