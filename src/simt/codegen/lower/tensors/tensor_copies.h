// TensorCopies, for copies between tensors and shared memory, and changes of tensor maps.
#pragma once

#include "simt/codegen/lower/atomics/mbarriers.h"
#include "simt/runtime/tensors/tensor_copy.h"

namespace km::simt {

/// Lowers cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and tensormap. The operands of all
/// lanes are stored in memory, and a function of the runtime executes the copy at once.
class TensorCopies : private EmitterBase {
 public:
  TensorCopies(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame, Values& values,
               Addresses& addresses, AccessChecks& checks, Mbarriers& mbarriers)
      : EmitterBase(builder, plan),
        frame_(frame),
        registers_(builder, plan, frame),
        values_(values),
        addresses_(addresses),
        checks_(checks),
        mbarriers_(mbarriers) {}

  /// Lowers one of these instructions. Prefetches generate no code.
  void lower(const Inst& inst);

 private:
  void lower_copy(const Inst& inst);
  Value* slots();
  Value* slot(uint64_t offset_bytes);
  void store(Value* lanes, uint64_t offset_bytes);
  Value* address_lanes(const Inst& inst, const ptx::Operand& operand, ptx::Space space);
  void store_list(const Inst& inst, const ptx::Operand& operand, ptx::Type type,
                  uint64_t offset_bytes, uint32_t most);
  void store_ranks(const Inst& inst, const ptx::Operand& operand);
  void complete_everywhere(const Inst& inst, Value* sizes);
  void lower_replace(const Inst& inst);
  void lower_copy_of_map(const Inst& inst);

  LaunchFrame& frame_;
  SpecialRegisters registers_;
  Values& values_;
  Addresses& addresses_;
  AccessChecks& checks_;
  Mbarriers& mbarriers_;
  Value* slots_ = nullptr;
};

}  // namespace km::simt
