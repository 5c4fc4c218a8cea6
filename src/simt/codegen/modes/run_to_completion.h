// Mode a: loops over the blocks of a row of the grid, which run one after the other or interleaved.
#pragma once

#include "simt/codegen/modes/region_code.h"
#include "simt/codegen/modes/strategy.h"

namespace km::simt {

/// Generates the loops over blocks, barrier regions and packets.
class RunToCompletion final : public Strategy, private EmitterBase {
 public:
  explicit RunToCompletion(Generator& generator)
      : EmitterBase(generator.builder, generator.plan),
        frame_(generator.frame),
        lowering_(generator.lowering),
        region_(generator) {}

  void run() override;

 private:
  void emit_grid_loop();
  void emit_block();
  void emit_region(uint32_t region, llvm::BasicBlock* done);
  void leave_abandoned(llvm::BasicBlock* tail);
  Value* emit_side_by_side(Value* row_end);
  llvm::MDNode* unroll_hint(uint32_t packets);
  void mark_interleaved(llvm::BasicBlock* before);

  LaunchFrame& frame_;
  Lowering& lowering_;
  RegionCode region_;
};

}  // namespace km::simt
