// Splits a function with very many blocks into several, because the time of many LLVM passes grows
// at least quadratically with a function's size. Each part is a function of some thousand
// instructions. Values that several parts use are in one frame in memory; the function calls one
// part after the other, and each returns the number of the next.
#pragma once

#include <llvm/IR/Function.h>

#include <cstdint>

namespace km::simt {

struct CutLimits {
  // A function is split if it exceeds one of these limits, or both of the following ones.
  uint32_t most_blocks = 800;
  uint32_t most_instructions = 500'000;
  uint32_t many_blocks = 300;
  uint32_t many_instructions = 30'000;
  // The maximum number of instructions of a part; each block counts as kBlockInstructions more.
  uint32_t part_instructions = 12'000;
};
constexpr uint32_t kBlockInstructions = 128;

/// Splits the function if it exceeds the limits; its first two blocks, which run once, stay.
/// Returns the number of parts; 0: unchanged.
uint32_t cut_function(llvm::Function& function, const CutLimits& limits);

/// True if the function is a part of a split function.
bool is_part(const llvm::Function& function);

}  // namespace km::simt
