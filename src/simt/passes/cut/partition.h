// Groups the blocks of a function into parts.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Function.h>

#include <cstdint>
#include <vector>

#include "simt/passes/cut/cut_function.h"

namespace km::simt {

using BlockList = std::vector<llvm::BasicBlock*>;

/// The function's blocks except the first two, in parts: in control-flow order, and with each loop
/// in one part if it fits. Unreachable blocks are in none.
std::vector<BlockList> partition(llvm::Function& function, uint32_t part_instructions);

/// Splits blocks, except the first, that exceed `most_instructions`. Returns false if none does.
bool split_long_blocks(llvm::Function& function, uint32_t most_instructions);

}  // namespace km::simt
