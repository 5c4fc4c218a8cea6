// Special registers, and the addresses of parameters and variables.
#pragma once

#include "simt/codegen/launch_frame.h"

namespace km::simt {

/// Generates the values that depend only on the launch, the block and the thread.
class SpecialRegisters : private EmitterBase {
 public:
  SpecialRegisters(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame)
      : EmitterBase(builder, plan), frame_(frame) {}

  /// The content of a special register: a vector if it differs between lanes and `as_vector` is
  /// set, otherwise a scalar, which is lane 0's.
  Value* special_register(const ptx::Operand& operand, bool as_vector);
  /// The address of a kernel parameter in the argument buffer.
  Value* parameter_address(const ptx::Operand& operand);
  /// The address of a variable in the form that instructions of its state space use: an offset for
  /// shared memory, otherwise a host address. For local memory with `as_vector` it is a vector,
  /// because each lane has its own copy.
  Value* symbol_address(const ptx::Operand& operand, bool as_vector);
  /// The address at which local memory begins: lane 0's, or with `as_vector` each lane's.
  Value* local_begin(bool as_vector);
  /// True if a generic address, a scalar or a vector, is in the window of shared memory that starts
  /// at `base`.
  Value* is_in_window(Value* address, Value* base);
  /// True if a generic address is in the shared memory of any block of the cluster.
  Value* is_cluster_address(Value* address);
  /// True if a generic address is in shared memory: of the cluster if the kernel uses other blocks'
  /// shared memory, otherwise of the block, which is a cheaper test.
  Value* is_shared_address(Value* address);

  // ---- Clusters. The shared memories of a cluster's blocks are in one window, 2^n bytes apart in
  // the order of their ranks.
  /// %cluster_ctarank, in which x is the fastest dimension.
  Value* rank_in_cluster();
  /// %cluster_nctarank, the number of blocks in the cluster.
  Value* cluster_blocks();
  /// The exponent n of the distance between shared memories, as an i32.
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
