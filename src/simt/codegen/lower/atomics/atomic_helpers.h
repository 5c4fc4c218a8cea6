// Atomic operations, and the functions of the module that make them for lanes.
#pragma once

#include "simt/arithmetic/reductions.h"
#include "simt/codegen/addresses.h"

namespace km::simt {

/// LLVM's operation for atom, red or cp.reduce, without regard to cas.
arithmetic::Op operation_of(const ptx::Instruction& ptx);

/// Makes atomic operations. Shared memory needs no lock prefix: the blocks of a cluster run on one
/// thread at a time.
class AtomicHelpers : public Room {
 public:
  AtomicHelpers(CodeBuilder& builder, const CodePlan& plan) : Room(builder, plan) {}

  /// Makes one operation with `builder`, in place; gives the old value. `shared`: on memory that no
  /// other thread uses at the time.
  Value* operation(llvm::IRBuilder<>& builder, const ptx::Instruction& instruction, Value* pointer,
                   Value* first, Value* second, bool shared);
  /// True if the operation is few instructions on integers.
  static bool is_short(const ptx::Instruction& instruction);
  /// A function that makes the operation for every active lane in turn, lowest first; `gives`: it
  /// returns the old values. A short operation has code without a loop for when all lanes are
  /// active.
  llvm::Function* lanes_helper(const ptx::Instruction& instruction, bool shared, bool gives);
  /// A function that makes the operation on memory that no other thread uses, and whose old values
  /// nobody reads. Two offsets into the memory leave a vector at a time.
  llvm::Function* private_helper(const ptx::Instruction& instruction, llvm::Type* content_type);
};

}  // namespace km::simt
