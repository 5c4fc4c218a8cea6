// The masks of a region's steps.
#pragma once

#include <map>

#include "simt/codegen/modes/skip_idle_packets.h"

namespace km::simt {

/// Keeps the mask of each step in a variable, unless another step or the region's entry has the
/// same one. Null masks stand for all lanes.
class StepMasks : public Room {
 public:
  StepMasks(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame, SkipIdlePackets& idle)
      : Room(builder, plan), frame_(frame), idle_(idle) {}

  /// Creates the variable of the region's entry mask.
  void create_entry_mask();
  /// Stores the mask that the region begins with.
  void store_entry_mask(Value* mask) { builder_.store_mask(entry_mask_, mask); }
  /// Begins a region, and creates the variables of its steps.
  void begin_region(uint32_t region);
  /// Makes the code that a packet begins the region with; it skips to `packet_end` if no lane of it
  /// has come here.
  void begin_packet(uint32_t region, llvm::BasicBlock* packet_end);
  /// Begins the copy of a step that runs for all lanes.
  void begin_copy(uint32_t step);
  /// Ends the last copy.
  void end_copies() { copied_step_ = kEndOfRegion; }
  /// Loads the mask of a step of the region.
  Value* load(uint32_t index);
  /// Makes the mask of a step empty.
  void clear(uint32_t step);
  /// Adds lanes that go from step `index` to the successor.
  void contribute(uint32_t index, BlockId successor, Value* edge_mask);

 private:
  LaunchFrame& frame_;
  SkipIdlePackets& idle_;
  llvm::AllocaInst* entry_mask_ = nullptr;
  std::map<BlockId, llvm::AllocaInst*> mask_variables_;
  std::map<BlockId, llvm::Constant*> known_masks_;  // the same in every packet that runs
  uint32_t copied_step_ = kEndOfRegion;             // is being made for all lanes
};

}  // namespace km::simt
