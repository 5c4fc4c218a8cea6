// Which blocks of a function that is cut go together.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Function.h>

#include <cstdint>
#include <vector>

#include "simt/passes/cut/cut_function.h"

namespace km::simt {

using BlockList = std::vector<llvm::BasicBlock*>;

/// The function's blocks but the first two, in parts: in the order of control, and with loops in
/// one part each where they fit. Blocks that no control reaches are in none.
std::vector<BlockList> partition(llvm::Function& function, uint32_t part_instructions);

/// Cuts blocks but the first into pieces of at most so many instructions. False: all were shorter.
bool split_long_blocks(llvm::Function& function, uint32_t most_instructions);

}  // namespace km::simt
