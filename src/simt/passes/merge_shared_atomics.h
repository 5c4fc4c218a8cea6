// Merges consecutive reductions whose addresses come from the same vector.
#pragma once

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <cstdint>

namespace km::simt {

/// The metadata of stores that record the PTX line of a fault. Reductions that cannot fault need
/// none.
constexpr const char* kLineMetadata = "km.line";

/// Marks `call` as a reduction: it adds a scalar (or performs `operation`) on words of memory; its
/// arguments are the memory, 32-bit offsets into it, the scalar, and the lanes as bits. Offsets
/// below `extent_bytes` cannot fault.
void mark_reduction(llvm::CallInst& call, llvm::AtomicRMWInst::BinOp operation,
                    uint64_t extent_bytes);

/// Merges consecutive reductions with the same operation, whose offsets are computed from one
/// vector by few steps with constants (as histograms do with the bytes of a word): elements are
/// extracted once, two at a time, and scalar code computes all their offsets. Extracting an element
/// takes longer than the addition to memory.
void merge_shared_atomics(llvm::Module& module);

}  // namespace km::simt
