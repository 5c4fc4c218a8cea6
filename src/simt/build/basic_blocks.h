// The first half of build_kernel(): basic blocks without SSA.
#pragma once

#include "simt/kernel.h"

namespace km::simt {

/// A block under construction; targets are block numbers.
struct RawBasicBlock {
  std::vector<const ptx::Instruction*> insts;
  std::vector<uint32_t> targets;
  Terminator terminator = Terminator::exit;
  ptx::RegisterId condition = kNone;
  bool condition_negated = false;
  const ptx::Instruction* terminator_ptx = nullptr;
};

Result<std::vector<RawBasicBlock>> build_basic_blocks(const ptx::Module& module,
                                                      const ptx::Function& function,
                                                      bool independent_threads);
/// One latch per loop, an entry without predecessors, a private block for every plain return.
/// Gives an instruction near a loop that is entered at more than one place, null: there is none.
Result<const ptx::Instruction*> normalise_basic_blocks(const ptx::Module& module,
                                                       std::vector<RawBasicBlock>& blocks);

}  // namespace km::simt
