// Instructions that compute registers from registers alone.
#pragma once

#include <vector>

#include "simt/codegen/values.h"

namespace km::simt {

/// Lowers mov, createpolicy, and arithmetic by the functions in simt/arithmetic.
class Computations : public Room {
 public:
  Computations(CodeBuilder& builder, const CodePlan& plan, Values& values)
      : Room(builder, plan), values_(values) {}

  /// Lowers mov: copies, packing and unpacking.
  void lower_mov(const Inst& inst);
  /// Lowers createpolicy: a CPU has no policies of caches, so that all are 0.
  void lower_policy(const Inst& inst);
  /// Lowers arithmetic, once for all lanes if the result is the same for them.
  void lower_arithmetic(const Inst& inst);

 private:
  bool operands_are_uniform(const Inst& inst);
  void finish(const Inst& inst, const std::vector<Value*>& results);

  Values& values_;
};

}  // namespace km::simt
