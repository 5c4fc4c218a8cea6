// Instructions whose operands and results are registers only.
#pragma once

#include <vector>

#include "simt/codegen/values.h"

namespace km::simt {

/// Lowers mov, createpolicy, and the arithmetic of simt/arithmetic.
class Computations : private EmitterBase {
 public:
  Computations(CodeBuilder& builder, const CodePlan& plan, Values& values)
      : EmitterBase(builder, plan), values_(values) {}

  /// Lowers mov in its three forms: a copy, packing of several registers into one, and unpacking.
  void lower_mov(const Inst& inst);
  /// Lowers clusterlaunchcontrol.query_cancel: three numbers of the answer's 128 bits are the first
  /// block of the cluster that was taken over, the last tells whether there is one.
  void lower_query_cancel(const Inst& inst);
  /// Lowers createpolicy: a CPU has no policies of caches, so that all are 0.
  void lower_policy(const Inst& inst);
  /// Lowers arithmetic, as one scalar operation if the results are equal in all lanes.
  void lower_arithmetic(const Inst& inst);

 private:
  bool operands_are_uniform(const Inst& inst);
  void finish(const Inst& inst, const std::vector<Value*>& results);

  Values& values_;
};

}  // namespace km::simt
