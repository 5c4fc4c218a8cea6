// Packets without work: between two barriers, what stands behind `if (threadIdx.x < n)` is all that
// is done, so that once a packet is beyond n, those that follow need not run at all.
#pragma once

#include "simt/codegen/launch_frame.h"
#include "simt/plan/code/idle_packets.h"

namespace km::simt {

/// Ends the loop over packets early if no later packet has work.
class SkipIdlePackets : public Room {
 public:
  SkipIdlePackets(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame)
      : Room(builder, plan), frame_(frame), packets_(plan.base, plan.masks, plan.spills) {}

  /// Begins with a region, to which all answers refer.
  void begin(uint32_t region) { packets_.begin(region); }
  /// The threads that have something to do in the region; nothing: not known beforehand.
  const std::optional<Workers>& workers() const { return packets_.workers(); }
  /// True if, once no lane of a packet comes to `step`, no later packet has anything to do.
  bool is_rest_idle(uint32_t step) { return packets_.is_rest_idle(step); }
  /// The lanes, of every packet that runs, that `block` sends to the work; null: not known.
  llvm::Constant* working_lanes(BlockId block);
  /// Makes the running packet the region's last one.
  void end_packets();

 private:
  LaunchFrame& frame_;
  IdlePackets packets_;
};

}  // namespace km::simt
