// TensorCores, for tcgen05. Products and copies are complete when their instruction is, which is
// one of the orders that PTX allows, so waits and fences generate no code and a commit arrives at
// once.
#pragma once

#include "simt/codegen/lower/atomics/mbarriers.h"
#include "simt/forms/tensor_core_form.h"

namespace km::simt {

/// Lowers tcgen05 to calls of the runtime, with registers and operands of all lanes in memory.
class TensorCores : private EmitterBase {
 public:
  TensorCores(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame, Values& values,
              Addresses& addresses, AccessChecks& checks)
      : EmitterBase(builder, plan),
        frame_(frame),
        registers_(builder, plan, frame),
        values_(values),
        addresses_(addresses),
        checks_(checks) {}

  /// Lowers an instruction of a warp: allocation, loads and stores.
  void lower_memory(const Inst& inst);
  /// Lowers an instruction of one thread: products, copies, shifts and commits.
  void lower_core(const Inst& inst);

 private:
  void lower_management(const Inst& inst);
  void lower_move(const Inst& inst);
  void lower_commit(const Inst& inst);
  void lower_product(const Inst& inst);
  void run(TensorCoreForm form);

  template <class Form>
  Value* constant(Form form, const char* name);
  Value* memory(uint64_t size_bytes, const char* name, uint64_t offset_bytes);
  Value* of_warp(const Inst& inst, const ptx::Operand& operand, ptx::Type type);
  Value* tensor_address(const Inst& inst, const ptx::Operand& operand);
  const ptx::Operand& element(const ptx::Operand& vector, uint32_t index) const;
  void store_slot(Value* lanes, uint64_t offset_bytes);
  void store_slot(const Inst& inst, const ptx::Operand& operand, ptx::Type type,
                  uint64_t offset_bytes);

  LaunchFrame& frame_;
  SpecialRegisters registers_;
  Values& values_;
  Addresses& addresses_;
  AccessChecks& checks_;
};

}  // namespace km::simt
