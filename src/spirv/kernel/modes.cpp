#include "spirv/kernel/modes.h"

#include <algorithm>

#include "ptx/forms.h"
#include "simt/analysis/control/convergence.h"
#include "simt/analysis/reach.h"
#include "spirv/kernel/numbered_barriers.h"

namespace km::spirv {

namespace {

using ptx::Modifier;
using simt::BlockId;

/// Finds blocks that all threads of a block of threads reach together.
class UniformBlocks {
 public:
  UniformBlocks(const simt::Kernel& kernel, const simt::Shapes& shapes)
      : kernel_(kernel), shapes_(shapes), graph_(kernel.graph()), meets_(graph_, shapes.loops) {}

  bool contains(BlockId block) {
    simt::BlockSet target(graph_.size());
    target[block] = 1;
    const simt::BlockSet before = simt::reaching(kernel_, target);
    for (BlockId b = 0; b < graph_.size(); ++b) {
      if (shapes_.warp_branch[b] && before[b] && parts(b, block)) return false;
    }
    return true;
  }

 private:
  /// True if warps that part at the end of `branch` may come to `block` apart. To its own block a
  /// branch leads by a loop alone.
  bool parts(BlockId branch, BlockId block) {
    if (meets_again_in_loop(branch)) return false;
    if (branch == block) return shapes_.loops.innermost[branch] != UINT32_MAX;
    return !meets_.always_reaches(branch, block);
  }

  /// True if the sides of the branch meet before the next round of its loop.
  bool meets_again_in_loop(BlockId branch) {
    const uint32_t loop = shapes_.loops.innermost[branch];
    if (loop == UINT32_MAX) return false;
    const auto& latches = shapes_.loops.loops[loop].latches;
    return latches.size() == 1 && latches[0] != branch && meets_.always_reaches(branch, latches[0]);
  }

  const simt::Kernel& kernel_;
  const simt::Shapes& shapes_;
  simt::Graph graph_;
  simt::Reconvergence meets_;
};

/// A loop around a compare-and-swap whose expected content it has just read goes round only if
/// another thread has made progress.
bool is_lock_free(const simt::Kernel& kernel, const simt::LoopForest& loops, uint32_t loop) {
  bool has_swap = false;
  for (const BlockId b : loops.loops[loop].nodes) {
    for (const simt::Inst& inst : kernel.blocks[b].insts) {
      const auto& ptx = *inst.ptx;
      if (ptx::family_of(ptx) == ptx::Family::fence) return false;
      if (simt::is_strong_access(ptx) && ptx::family_of(ptx) == ptx::Family::load) return false;
      if (ptx.opcode != ptx::Opcode::atom) continue;
      if (!ptx.has(Modifier::cas)) return false;
      const ptx::Operand& expected = ptx.operands[2];
      if (expected.kind != ptx::Operand::Kind::reg) return false;
      const BlockId home = kernel.values[inst.read(expected.reg)].block;
      if (home == simt::kNone || !loops.contains(loop, home)) return false;
      has_swap = true;
    }
  }
  return has_swap;
}

Error refusal(const ptx::Module& module, const simt::Kernel& kernel, BlockId block,
              const DeviceFacts& facts, const char* reason) {
  const std::vector<simt::Inst>& insts = kernel.blocks[block].insts;
  const std::string what = insts.empty() ? "'" + kernel.function->name + "'"
                                         : simt::describe(module, *insts.front().ptx);
  return make_error(KM_ERROR_UNSUPPORTED_PTX, "%s is not supported on '%s': %s", what.c_str(),
                    facts.name.c_str(), reason);
}

}  // namespace

bool is_volatile_shared_store(const simt::Inst& inst) {
  return inst.ptx->opcode == ptx::Opcode::st && inst.ptx->has(Modifier::volatile_) &&
         (inst.ptx->has(Modifier::shared) || inst.ptx->has(Modifier::shared_cta));
}

bool runs_in_step(const simt::Inst& inst) {
  return simt::is_warp_operation(*inst.ptx) || is_volatile_shared_store(inst);
}

Result<ModeChoice> choose_mode(const ptx::Module& module, const simt::AnalysedKernel& analysed,
                               const simt::KernelInfo& info, const DeviceFacts& facts) {
  const simt::Kernel& kernel = analysed.kernel;
  simt::ShapeOptions options;
  options.block = {info.max_threads, 1, 1};
  if (info.required_block[0] != 0) options.block = info.required_block;
  for (auto& size : options.block) size = std::max(1u, size);
  options.local_stride_bytes = analysed.layout.local_stride_bytes();
  options.independent_threads = kernel.irreducible != nullptr;
  const simt::Shapes shapes = simt::analyse_shapes(kernel, options);
  const simt::Classification classes = simt::classify(kernel, shapes);
  ModeChoice choice;
  bool waits = false;
  for (uint32_t loop = 0; loop < classes.spin_loop.size(); ++loop) {
    if (!classes.spin_loop[loop] || is_lock_free(kernel, shapes.loops, loop)) continue;
    const BlockId header = shapes.loops.loops[loop].header;
    if (classes.mode == simt::Mode::run_to_completion) {
      return refusal(module, kernel, header, facts,
                     "it begins a loop that waits for other blocks, for whose progress no shader "
                     "may wait");
    }
    waits = true;
    for (const simt::Inst& inst : kernel.blocks[header].insts) {
      choice.spin_headers.push_back(inst.ptx);
    }
  }
  UniformBlocks uniform(kernel, shapes);
  bool is_uniform = kernel.irreducible == nullptr;
  for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
    for (const simt::Inst& inst : kernel.blocks[b].insts) {
      if (runs_in_step(inst)) is_uniform = is_uniform && uniform.contains(b);
    }
    if (!simt::ends_in_barrier(kernel.blocks[b])) continue;
    const bool is_native = !is_numbered_barrier(*kernel.blocks[b].terminator_ptx);
    is_uniform = is_uniform && is_native && uniform.contains(b);
  }
  if (waits || !is_uniform) choice.mode = Mode::stepped;
  return choice;
}

}  // namespace km::spirv
