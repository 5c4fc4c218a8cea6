// WarpgroupMatrices, for wgmma. Each warp of a warpgroup multiplies its 16 rows of A by all of B. A
// product is complete when its instruction is, which is one of the orders that PTX allows. The
// warps synchronise at wgmma.wait_group, after which the program may overwrite matrices that other
// warps read.
#pragma once

#include "simt/codegen/values.h"

namespace km::simt {

/// Lowers wgmma to a call of the runtime, with the registers of all lanes in memory. All
/// instructions use the same memory, so LLVM need not move sums that the next product continues.
class WarpgroupMatrices : private EmitterBase {
 public:
  WarpgroupMatrices(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame, Values& values)
      : EmitterBase(builder, plan), frame_(frame), values_(values) {}

  /// Lowers one instruction. Fences and commits of groups generate no code.
  void lower(const Inst& inst);

 private:
  Value* register_pointer(uint32_t index);
  const ptx::Operand& element(const ptx::Operand& vector, uint32_t index) const;
  void store(const Inst& inst, const ptx::Operand& operand, uint32_t index);
  Value* of_warp(const Inst& inst, const ptx::Operand& operand, ptx::Type type);

  LaunchFrame& frame_;
  Values& values_;
};

/// The number of the barrier of the current warp's warpgroup, an i32.
llvm::Value* warpgroup_barrier(CodeBuilder& builder, LaunchFrame& frame);

}  // namespace km::simt
