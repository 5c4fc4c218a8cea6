// The first half of build_kernel(): basic blocks without SSA form.
#pragma once

#include "simt/kernel/kernel.h"

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
                                                      BlockEnds ends);
/// Normalises the control-flow graph: one latch per loop, an entry without predecessors, and a
/// separate block for every plain return. Returns an instruction near an irreducible loop, which
/// has several entries; null if there is none.
Result<const ptx::Instruction*> normalise_basic_blocks(const ptx::Module& module,
                                                       std::vector<RawBasicBlock>& blocks);

}  // namespace km::simt
