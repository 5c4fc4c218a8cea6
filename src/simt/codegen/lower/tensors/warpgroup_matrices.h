// wgmma. Each warp of a warpgroup multiplies its 16 rows of A by all of B. The products of a warp
// are complete when its instruction is, which is one of the orders that PTX allows; the warps meet
// at wgmma.wait_group, after which the program may change what they read.
#pragma once

#include "simt/codegen/values.h"

namespace km::simt {

/// Lowers products of warpgroups: registers of all lanes go to memory, always to the same place, so
/// that sums which stay there from one product to the next need not be moved; a function of the
/// runtime multiplies.
class WarpgroupMatrices : public Room {
 public:
  WarpgroupMatrices(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame, Values& values)
      : Room(builder, plan), frame_(frame), values_(values) {}

  /// Lowers wgmma. Fences and groups take no code.
  void lower(const Inst& inst);

 private:
  Value* register_pointer(uint32_t index);
  const ptx::Operand& element(const ptx::Operand& vector, uint32_t index) const;
  void store(const Inst& inst, const ptx::Operand& operand, uint32_t index);
  Value* of_warp(const Inst& inst, const ptx::Operand& operand, ptx::Type type);

  LaunchFrame& frame_;
  Values& values_;
};

/// i32, the number of the barrier at which the current warp's warpgroup meets.
llvm::Value* warpgroup_barrier(CodeBuilder& builder, LaunchFrame& frame);

}  // namespace km::simt
