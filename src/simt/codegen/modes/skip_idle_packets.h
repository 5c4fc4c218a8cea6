// SkipIdlePackets, for regions whose work is all inside `if (threadIdx.x < n)`: packets whose
// threads are all beyond n need not run.
#pragma once

#include "simt/codegen/launch_frame.h"
#include "simt/plan/code/idle_packets.h"

namespace km::simt {

/// Ends the loop over packets once no later packet has work.
class SkipIdlePackets {
 public:
  SkipIdlePackets(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame)
      : builder_(builder), frame_(frame), packets_(plan.base, plan.masks, plan.spills) {}

  /// Selects the region to which all answers refer.
  void begin(uint32_t region) { packets_.begin(region); }
  /// The threads that have work in the region; nothing if the compiler does not know them.
  const std::optional<Workers>& workers() const { return packets_.workers(); }
  /// True if no later packet has work in the region once no lane of a packet reaches `step`.
  bool is_rest_idle(uint32_t step) { return packets_.is_rest_idle(step); }
  /// The lanes that the branch of `block` sends to the work, if they are equal in all packets that
  /// run; otherwise null.
  llvm::Constant* working_lanes(BlockId block);
  /// Generates code that makes the current packet the region's last one.
  void end_packets();

 private:
  CodeBuilder& builder_;
  LaunchFrame& frame_;
  IdlePackets packets_;
};

}  // namespace km::simt
