// MatrixMoves, for ldmatrix, stmatrix and movmatrix.
#pragma once

#include "simt/codegen/lower/checks/access_checks.h"
#include "simt/codegen/values.h"

namespace km::simt {

/// Lowers the family `matrix_move`, which moves 8x8 matrices between memory and registers and
/// transposes them.
class MatrixMoves : private EmitterBase {
 public:
  MatrixMoves(CodeBuilder& builder, const CodePlan& plan, Values& values, Addresses& addresses,
              AccessChecks& checks)
      : EmitterBase(builder, plan), values_(values), addresses_(addresses), checks_(checks) {}

  /// Lowers one instruction of the family.
  void lower(const Inst& inst);

 private:
  /// Lowers ldmatrix, which loads rows of 16 bytes into registers of all lanes.
  void lower_ldmatrix(const Inst& inst);
  /// Lowers stmatrix, which stores registers of all lanes as rows of 16 bytes.
  void lower_stmatrix(const Inst& inst);
  /// Lowers movmatrix, which transposes a matrix in registers.
  void lower_movmatrix(const Inst& inst);

  /// The arguments of a helper, after matrix_rows() has stored the addresses.
  struct MatrixRows {
    llvm::Type* type = nullptr;
    // Memory: the address of each lane's row, and a row that inactive lanes access.
    Value *addresses = nullptr, *spare = nullptr;
    Value *bits = nullptr, *first = nullptr;
  };

  Value* matrix_row(llvm::IRBuilder<>& b, const MatrixRows& rows, uint32_t row);
  MatrixRows matrix_rows(llvm::IRBuilder<>& b, llvm::Function* function);
  llvm::Function* load_matrix_helper();
  llvm::Function* store_matrix_helper();
  Value* transpose_matrix(Value* matrix);
  /// The rows of matrices in memory: an address for each lane, and the lanes that have one.
  struct Rows {
    Value *addresses = nullptr, *lanes = nullptr;
  };
  Rows rows_of(const Inst& inst, const ptx::Operand& place, uint32_t matrices);

  Values& values_;
  Addresses& addresses_;
  AccessChecks& checks_;
};

}  // namespace km::simt
