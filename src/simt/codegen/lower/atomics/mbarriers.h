// Mbarriers, for mbarrier objects.
#pragma once

#include "simt/codegen/lower/checks/access_checks.h"
#include "simt/codegen/values.h"

namespace km::simt {

/// Completes `size_bytes` of the transactions that the barrier at `address` expects. Both are i64.
void complete_bytes(llvm::IRBuilder<>& b, llvm::Value* address, llvm::Value* size_bytes);

/// Arrives once at the barrier at `address`, an i64.
void complete_arrival(llvm::IRBuilder<>& b, llvm::Value* address);

/// Lowers the operations on mbarrier objects.
class Mbarriers : private EmitterBase {
 public:
  Mbarriers(CodeBuilder& builder, const CodePlan& plan, Values& values, Addresses& addresses,
            AccessChecks& checks)
      : EmitterBase(builder, plan), values_(values), addresses_(addresses), checks_(checks) {}

  /// Lowers mbarrier instructions and cp.async.mbarrier.arrive.
  void lower_mbarrier(const Inst& inst);
  /// Completes the transactions of an asynchronous copy or store; `sizes` are i64.
  void complete_transactions(const Inst& inst, const ptx::Operand& barrier, Value* sizes);

 private:
  void lower_arrive(const Inst& inst);
  void lower_phase_test(const Inst& inst);

  Values& values_;
  Addresses& addresses_;
  AccessChecks& checks_;
};

}  // namespace km::simt
