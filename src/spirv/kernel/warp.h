// Warp operations through shared memory, for devices whose subgroups are not warps. All threads of
// the block make each step together, so that the code must lie where the block is uniform.
#pragma once

#include <functional>

#include "spirv/kernel/shader.h"

namespace km::spirv {

class Warp {
 public:
  explicit Warp(Shader& shader) : s(shader), b(shader.b) {}

  /// `active`: whether the thread takes part; null: all threads of the block do.
  void lower(const simt::Inst& inst, V active);
  /// A bit for each lane of the warp for which `truth` holds.
  V ballot(V truth);

 private:
  void under(V active, const Shader::Body& body);
  V participants(V active);
  V all_lanes();
  /// The thread's word is put where the others of its warp find it, for as long as `body` runs.
  void exchange(V active, V content, const Shader::Body& body);
  V of_lane(V lane);
  void lower_shuffle(const simt::Inst& inst, V active);
  void lower_vote(const simt::Inst& inst, V active);
  void lower_match(const simt::Inst& inst, V active);
  void lower_redux(const simt::Inst& inst, V active);
  void lower_real_redux(const simt::Inst& inst, V active);
  /// Combines the words of each group, beginning with `neutral`.
  void reduce(const simt::Inst& inst, V active, V neutral, const std::function<V(V, V)>& combined);
  void lower_elect(const simt::Inst& inst, V active);
  void define_pair(const simt::Inst& inst, V value, V predicate);
  V members(const simt::Inst& inst, unsigned operand);

  Shader& s;
  llvm::IRBuilder<>& b;
};

}  // namespace km::spirv
