// Special registers, and the addresses of parameters and variables.
#pragma once

#include "simt/codegen/launch_frame.h"

namespace km::simt {

/// Makes the values that follow from the launch, the block and the thread alone.
class SpecialRegisters : public Room {
 public:
  SpecialRegisters(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame)
      : Room(builder, plan), frame_(frame) {}

  /// The content of a special register, for lane 0 or as a vector. What is the same for all lanes
  /// is a scalar in both cases.
  Value* special_register(const ptx::Operand& operand, bool as_vector);
  /// The address of a kernel's parameter in the argument buffer.
  Value* parameter_address(const ptx::Operand& operand);
  /// The address of a variable as the instructions of its space take it; of every lane for local
  /// memory.
  Value* symbol_address(const ptx::Operand& operand, bool as_vector);
  /// True if a generic address, a scalar or a vector, lies in the window of shared memory that
  /// begins at `base`.
  Value* is_in_window(Value* address, Value* base);
  /// True if a generic address lies in the window, from the shared memory of the cluster's first
  /// block on.
  Value* is_cluster_address(Value* address);
  /// is_cluster_address(), if shared memory of other blocks may be used at all; else the test for
  /// the block's own.
  Value* is_shared_address(Value* address);

  // ---- Clusters. The shared memories of a cluster's blocks lie in one window, 2^n bytes apart in
  // the order of their ranks.
  /// %cluster_ctarank: x fastest.
  Value* rank_in_cluster();
  /// %cluster_nctarank.
  Value* cluster_blocks();
  /// The number n: i32.
  Value* cluster_bits();

 private:
  Value* thread_index(unsigned dimension, bool as_vector);
  Value* any_thread_index(unsigned dimension, bool as_vector);
  Value* lane_register(ptx::SpecialRegister special, bool as_vector);
  Value* time_register(ptx::SpecialRegister special);
  Value* cluster_size(unsigned dimension);
  Value* cluster_register(const ptx::Operand& operand);

  LaunchFrame& frame_;
};

}  // namespace km::simt
