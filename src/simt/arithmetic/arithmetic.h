// Lowers PTX arithmetic to LLVM values, one instruction at a time, for scalars (uniform values) and
// vectors (one element per lane). It does not depend on blocks, masks, registers or memory.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <span>
#include <vector>

#include "ptx/ir.h"
#include "simt/arithmetic/supported.h"
#include "simt/machine/machine.h"

namespace km::simt {

/// The LLVM type for a PTX type: i1 for predicates, float, double, and iN for all others (f16, bf16
/// and packed types are held as their bits).
llvm::Type* llvm_type(llvm::LLVMContext& context, ptx::Type type);

class Arithmetic {
 public:
  Arithmetic(llvm::IRBuilderBase& builder, const Machine& machine)
      : b_(builder), machine_(machine) {}

  /// The type of source operand `index` (numbered as in Instruction::operands), or of the result if
  /// `index` is 0; `element` selects d or p of d|p.
  static ptx::Type operand_type(const ptx::Instruction& instruction, unsigned index,
                                unsigned element = 0);

  /// Lowers an instruction. Sources are in operand order, each of llvm_type(operand_type(...)) or a
  /// vector of it; either all are scalars, or all are vectors of one length. Results are d, or d
  /// and p of d|p. Inactive lanes hold arbitrary (frozen) values, so no operation may trap.
  std::vector<llvm::Value*> lower(const ptx::Instruction& instruction,
                                  std::span<llvm::Value* const> sources);

  /// Replaces NaNs by the canonical one (f32 0x7fffffff; f64 0xfff8000000000000, which is
  /// CUDART_NAN and x86's own result); other values are unchanged. f16 and bf16 results are
  /// canonical (0x7fff) already.
  llvm::Value* canonical_nan(llvm::Value* value);

 private:
  llvm::IRBuilderBase& b_;
  Machine machine_;
};

}  // namespace km::simt
