// Reductions in a row at places that come from the same vector.
#pragma once

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <cstdint>

namespace km::simt {

/// Names the metadata of stores that say which line of PTX faults, if one does. What cannot fault
/// needs none.
constexpr const char* kLineMetadata = "km.line";

/// `call` adds a scalar (or whatever `operation` does) to words of memory: its arguments are the
/// memory, 32-bit offsets into it, the scalar and the lanes as bits. Nothing faults below
/// `extent_bytes`.
void mark_reduction(llvm::CallInst& call, llvm::AtomicRMWInst::BinOp operation,
                    uint64_t extent_bytes);

/// Reductions in a row by the same operation, whose offsets are made from one vector by few steps
/// with constants (the bytes of a word, as histograms count them), become one: elements leave the
/// vector once, two at a time, and scalars make all offsets of them. A processor needs longer to
/// get a number out of a vector than to add to memory.
void merge_shared_atomics(llvm::Module& module);

}  // namespace km::simt
