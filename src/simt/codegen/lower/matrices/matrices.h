// Matrices, for mma and wmma.
#pragma once

#include <map>
#include <vector>

#include "simt/codegen/lower/checks/access_checks.h"
#include "simt/codegen/values.h"
#include "simt/runtime/mma_form.h"

namespace km::simt::arithmetic {
struct WmmaFragment;
struct WmmaPieces;
}  // namespace km::simt::arithmetic

namespace km::simt {

/// Lowers products of matrices, and moves fragments between memory and registers. The runtime works
/// on registers in memory, so a fragment that an instruction of the current basic block left there
/// is not stored again.
class Matrices : private EmitterBase {
 public:
  Matrices(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame, Values& values,
           Addresses& addresses, AccessChecks& checks)
      : EmitterBase(builder, plan),
        frame_(frame),
        values_(values),
        addresses_(addresses),
        checks_(checks) {}

  /// Starts a basic block, in which no register is known to be in memory.
  void begin_block() { fragment_places_.clear(); }
  /// Lowers one instruction of the family `matrix`.
  void lower(const Inst& inst) {
    inst.ptx->opcode == ptx::Opcode::mma ? lower_mma(inst) : lower_wmma(inst);
  }

 private:
  /// Lowers mma to a call of the runtime.
  void lower_mma(const Inst& inst);
  /// Lowers wmma's loads, stores and products.
  void lower_wmma(const Inst& inst);
  /// The position of a matrix in memory, which is the same for the whole warp, and the pointer to
  /// its registers.
  struct WmmaMatrix {
    Value *base = nullptr, *stride_bytes = nullptr;  // i64
    Value* registers = nullptr;
  };

  // ---- Fragments in memory.
  const ptx::Operand& tensor_register(const ptx::Operand& operand, uint32_t index) const;
  llvm::Constant* mma_form_constant(const MmaForm& form);
  void make_fragment_memory();
  Value* fragment_pointer(uint32_t place);
  void forget_fragments(uint32_t place, uint32_t size_bytes);
  uint32_t new_fragments(uint32_t count, ptx::Type type);
  Value* load_fragment(uint32_t place, ptx::Type type);
  std::vector<uint32_t> fragment_places(const Inst& inst,
                                        const std::vector<const ptx::Operand*>& sources,
                                        ptx::Type type);
  uint32_t fragments_in_row(const Inst& inst, const std::vector<const ptx::Operand*>& sources,
                            ptx::Type type);
  uint32_t result_place(const MmaForm& form, const std::vector<uint32_t>& places, ptx::Type type);
  void define_fragments(const Inst& inst, const ptx::Operand& target, uint32_t count,
                        uint32_t place, ptx::Type type);

  // ---- wmma.load and wmma.store.
  void lower_wmma_load(const Inst& inst);
  void lower_wmma_store(const Inst& inst);
  void move_wmma_lanes(llvm::IRBuilder<>& builder, llvm::Function& function,
                       const arithmetic::WmmaPieces& pieces, bool stores);
  llvm::Function* wmma_helper(const Inst& inst, const arithmetic::WmmaPieces& pieces, bool stores);
  Value* of_warp(Value* content);
  void check_wmma(const Inst& inst, const arithmetic::WmmaFragment& fragment,
                  const arithmetic::WmmaPieces& pieces, const WmmaMatrix& matrix);
  AccessReports::Manner stored_lines(const Inst& inst, const arithmetic::WmmaFragment& fragment,
                                     const arithmetic::WmmaPieces& pieces,
                                     const WmmaMatrix& matrix);
  void move_wmma(const Inst& inst, const arithmetic::WmmaFragment& fragment, unsigned address,
                 Value* registers);

  LaunchFrame& frame_;
  Values& values_;
  Addresses& addresses_;
  AccessChecks& checks_;
  llvm::AllocaInst* fragments_ = nullptr;
  std::map<const llvm::Value*, uint32_t> fragment_places_;
  uint32_t next_fragment_ = 0;
};

}  // namespace km::simt
