// Arithmetic of PTX on LLVM values: one instruction at a time, on scalars (uniform values) and on
// vectors (one element a lane) alike. Knows nothing of blocks, masks, registers or memory.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <span>
#include <vector>

#include "ptx/ir.h"
#include "simt/engine.h"

namespace km::simt {

/// The LLVM type that holds a PTX type: i1 for predicates, float, double, iN for everything else
/// (f16, bf16 and packed types are kept as their bits).
llvm::Type* llvm_type(llvm::LLVMContext& context, ptx::Type type);

class Arithmetic {
 public:
  Arithmetic(llvm::IRBuilderBase& builder, Isa isa) : b_(builder), isa_(isa) {}

  /// True if lower() handles this instruction, modifiers and types included.
  static bool supports(const ptx::Instruction& instruction);

  /// The type in which operand `index` (as in Instruction::operands, destination is 0) is read or,
  /// for destinations, delivered; `element` tells d from p in d|p.
  static ptx::Type operand_type(const ptx::Instruction& instruction, unsigned index,
                                unsigned element = 0);

  /// Sources in operand order, each of llvm_type(operand_type(...)) or a vector of it; all scalars
  /// or all vectors of one length. Results: d, or d and p of d|p. Lanes that are inactive hold any
  /// (frozen) value and must not trap.
  std::vector<llvm::Value*> lower(const ptx::Instruction& instruction,
                                  std::span<llvm::Value* const> sources);

  /// NaNs made canonical (f32 0x7fffffff; f64 0xfff8000000000000, CUDA's CUDART_NAN and what x86
  /// makes itself); other values unchanged. f16 and bf16 results are canonical (0x7fff) already.
  llvm::Value* canonical_nan(llvm::Value* value);

 private:
  llvm::IRBuilderBase& b_;
  Isa isa_;
};

}  // namespace km::simt
