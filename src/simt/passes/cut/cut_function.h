// A function of very many blocks becomes several, since the time of many of LLVM's passes grows
// with the square of a function's size, and more. Each part is a function of some thousand
// instructions. What several of them use lies in one frame in memory; the function itself calls one
// part after the other, as each says when it returns.
#pragma once

#include <llvm/IR/Function.h>

#include <cstdint>

namespace km::simt {

struct CutLimits {
  // A function is cut that has more blocks or instructions than these, or more than both of the
  // following.
  uint32_t most_blocks = 800;
  uint32_t most_instructions = 500'000;
  uint32_t many_blocks = 300;
  uint32_t many_instructions = 30'000;
  // A part has no more than so many instructions, blocks counted as kBlockInstructions each.
  uint32_t part_instructions = 12'000;
};
constexpr uint32_t kBlockInstructions = 128;

/// Cuts the function if it is beyond the limits. Its first two blocks, which run once, stay. Gives
/// how many parts there are, 0: it was left as it is.
uint32_t cut_function(llvm::Function& function, const CutLimits& limits);

/// The function is a part of one that was cut.
bool is_part(const llvm::Function& function);

}  // namespace km::simt
