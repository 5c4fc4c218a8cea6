// AtomicHelpers, which generates atomic operations, inline or as helpers that run them for each
// lane.
#pragma once

#include "simt/arithmetic/reductions.h"
#include "simt/codegen/builder.h"

namespace km::simt {

/// The LLVM operation of an atom, red or cp.reduce other than cas.
arithmetic::Op operation_of(const ptx::Instruction& ptx);

/// Makes one operation with `builder`, in place; gives the old value. `shared`: on memory that no
/// other thread uses at the time, as is shared memory: the blocks of a cluster run on one thread at
/// a time, so that it needs no lock prefix.
llvm::Value* atomic_operation(llvm::IRBuilder<>& builder, const Machine& machine,
                              const ptx::Instruction& instruction, llvm::Value* pointer,
                              llvm::Value* first, llvm::Value* second, bool shared);
/// True if the operation is few instructions on integers.
bool is_short_atomic(const ptx::Instruction& instruction);
/// A function that makes the operation for every active lane in turn, lowest first; `gives`: it
/// returns the old values. A short operation has code without a loop for when all lanes are
/// active.
llvm::Function* atomic_helper(CodeBuilder& codegen, const ptx::Instruction& instruction,
                              bool shared, bool gives);
/// A function that makes the operation on memory that no other thread uses, and whose old values
/// nobody reads. Two offsets into the memory leave a vector at a time.
llvm::Function* private_atomic_helper(CodeBuilder& codegen, const ptx::Instruction& instruction,
                                      llvm::Type* content_type);

}  // namespace km::simt
