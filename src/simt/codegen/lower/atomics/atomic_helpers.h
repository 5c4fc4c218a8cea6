// Functions that generate atomic operations, inline or as helpers that run them for each lane.
#pragma once

#include "simt/arithmetic/reductions.h"
#include "simt/codegen/builder.h"

namespace km::simt {

/// The LLVM operation of an atom, red or cp.reduce other than cas.
arithmetic::Op operation_of(const ptx::Instruction& ptx);

/// Generates one operation at the builder's position and returns the old value. `shared`: no other
/// host thread accesses the memory, so no atomic instruction is needed. Shared memory is such,
/// because the blocks of a cluster run on one host thread at a time.
llvm::Value* atomic_operation(llvm::IRBuilder<>& builder, const Machine& machine,
                              const ptx::Instruction& instruction, llvm::Value* pointer,
                              llvm::Value* first, llvm::Value* second, bool shared);
/// True if the operation takes few integer instructions, so that unrolling it for all lanes pays
/// off.
bool is_short_atomic(const ptx::Instruction& instruction);
/// A helper that runs the operation for each active lane, lowest first, and returns the old values
/// if `gives` is set. For a short operation with all lanes active, it has code without a loop.
llvm::Function* atomic_helper(CodeBuilder& codegen, const ptx::Instruction& instruction,
                              bool shared, bool gives);
/// A helper that runs the operation for each active lane on memory that no other host thread
/// accesses. Old values are not returned, so lanes' results need no vector.
llvm::Function* private_atomic_helper(CodeBuilder& codegen, const ptx::Instruction& instruction,
                                      llvm::Type* content_type);

}  // namespace km::simt
