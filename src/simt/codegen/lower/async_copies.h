// cp.async and cp.async.bulk. A copy is executed at once, which is one of the orders that PTX
// allows: a group is complete when it is committed, and waiting for it generates no code.
#pragma once

#include "simt/codegen/lower/atomics/mbarriers.h"
#include "simt/codegen/lower/memory/shaped_access.h"

namespace km::simt {

/// Lowers all forms of cp except those of tensors.
class AsyncCopies : private EmitterBase {
 public:
  AsyncCopies(CodeBuilder& builder, const CodePlan& plan, SpecialRegisters& registers,
              Values& values, Addresses& addresses, AccessChecks& checks, ShapedAccess& accesses,
              Mbarriers& mbarriers)
      : EmitterBase(builder, plan),
        registers_(registers),
        values_(values),
        addresses_(addresses),
        checks_(checks),
        accesses_(accesses),
        mbarriers_(mbarriers) {}

  /// Lowers one instruction.
  void lower_cp(const Inst& inst);
  /// Lowers st.bulk: fills shared memory with zeros.
  void lower_fill(const Inst& inst);
  /// Lowers clusterlaunchcontrol.try_cancel. Its answer is always that no cluster was taken over:
  /// blocks are handed out to threads of the host, which need no block to go on in place of
  /// another.
  void lower_try_cancel(const Inst& inst);

 private:
  /// The operands of a bulk copy, read and checked.
  struct BulkCopy {
    Value *to = nullptr, *from = nullptr, *sizes = nullptr;  // vectors with one element per lane
    bool to_shared = false;
  };

  void report_groups(const Inst& inst);
  void lower_async_copy(const Inst& inst);
  void count_copy(const Inst& inst, const Address& address, AccessKind kind, Value* lanes);
  void copy_part(const Inst& inst, const Address& to, const Address& from, Value* sizes);
  BulkCopy bulk_copy_of(const Inst& inst);
  void report_target(const Inst& inst, const BulkCopy& copy, CopyKind kind);
  Value* byte_masks(const Inst& inst);
  void lower_bulk_copy(const Inst& inst);
  void copy_masked(const Inst& inst, const BulkCopy& copy);
  void multicast(const Inst& inst, const BulkCopy& copy);
  void lower_bulk_reduction(const Inst& inst);

  SpecialRegisters& registers_;
  Values& values_;
  Addresses& addresses_;
  AccessChecks& checks_;
  ShapedAccess& accesses_;
  Mbarriers& mbarriers_;
};

}  // namespace km::simt
