#include "simt/plan/code/explain.h"

#include <algorithm>
#include <cstdio>

#include "base/printable.h"
#include "base/text.h"
#include "ptx/place.h"
#include "simt/analysis/memory/memory_access.h"
#include "simt/plan/memory/lane_runs.h"

namespace km::simt {

using ptx::Opcode;

namespace {

/// One instruction. Its cost for a packet is counted in vector instructions.
struct Note {
  const char* kind;
  std::string text;
  double cost;
};

class Explanation {
 public:
  explicit Explanation(const CodePlan& plan)
      : plan_(plan), base_(plan.base), kernel_(*plan.base.kernel), runs_(plan.base) {}

  /// The notes of all blocks.
  std::string text();

 private:
  void add(const ptx::Instruction& ptx, BlockId block, const Note& note);
  void add_block(BlockId block);
  Note note_of(const Inst& inst, BlockId block);
  bool is_edge(ValueId condition, BlockId block, unsigned depth) const;
  Note branch(const BasicBlock& content, BlockId block) const;
  Note local_access(const std::string& what, const Shape& shape) const;
  Note access(const Inst& inst, const MemoryAccess& access, BlockId block);
  Note atomic(const Inst& inst, const MemoryAccess& access) const;
  Note division(const Inst& inst, bool is_uniform) const;
  Note barrier(BlockId block) const;
  bool is_uniform(const Inst& inst) const;

  const CodePlan& plan_;
  const Plan& base_;
  const Kernel& kernel_;
  LaneRuns runs_;
  std::string text_;
};

std::string Explanation::text() {
  for (BlockId block = 0; block < kernel_.blocks.size(); ++block) add_block(block);
  return std::move(text_);
}

/// Instructions that passes have added have no line, and their costs are parts of others'.
void Explanation::add(const ptx::Instruction& ptx, BlockId block, const Note& note) {
  constexpr uint32_t kMostDepth = 6;
  uint32_t line = ptx.location.line;
  std::string file;
  if (ptx.source_line < kernel_.function->source_lines.size()) {
    const ptx::SourceLine& source = kernel_.function->source_lines[ptx.source_line];
    if (const auto found = ptx::source_file(*kernel_.module, source)) {
      file = *found;
      line = source.line;
    }
  }
  if (line == 0) return;
  double cost = note.cost;
  const uint32_t depth = std::min(kMostDepth, base_.shapes->loops.depth(block));
  for (uint32_t i = 0; i < depth; ++i) cost *= 8;
  char number[32];
  std::snprintf(number, sizeof number, "%.2f", cost);
  text_ += std::string(note.kind) + "\t" + file + "\t" + std::to_string(line) + "\t" + number +
           "\t" + note.text + "\n";
}

void Explanation::add_block(BlockId block) {
  const BasicBlock& content = kernel_.blocks[block];
  for (const Inst& inst : content.insts) add(*inst.ptx, block, note_of(inst, block));
  const bool diverges = base_.shapes->divergent_branch[block] != 0;
  if (content.terminator_ptx == nullptr || !diverges) return;
  add(*content.terminator_ptx, block, branch(content, block));
}

/// True if a condition compares what has known distances between threads with what is one for the
/// warp, so that it parts the threads of few warps.
bool Explanation::is_edge(ValueId condition, BlockId block, unsigned depth) const {
  constexpr unsigned kMostDepth = 4;
  const Value& value = kernel_.values[condition];
  if (value.block == kNone || value.instruction == kNone || depth > kMostDepth) return false;
  const Inst& inst = kernel_.blocks[value.block].insts[value.instruction];
  return std::all_of(inst.reads.begin(), inst.reads.end(), [&](const auto& read) {
    return !base_.shapes->at(kernel_, read.second, block).is_varying() ||
           (kernel_.values[read.second].type == ptx::Type::pred &&
            is_edge(read.second, block, depth + 1));
  });
}

Note Explanation::branch(const BasicBlock& content, BlockId block) const {
  const Shapes& shapes = *base_.shapes;
  const auto some = [&](auto is_so) {
    return std::any_of(content.succs.begin(), content.succs.end(), is_so);
  };
  const uint32_t loop = shapes.loops.innermost[block];
  const bool leaves = loop != UINT32_MAX && shapes.divergent_loop[loop] != 0 &&
                      some([&](BlockId next) { return !shapes.loops.contains(loop, next); });
  if (content.condition != kNone && is_edge(content.condition, block, 0)) {
    return {"edge",
            leaves ? "threads of a warp leave the loop one round apart at most"
                   : "parts the threads of the warps at the bound",
            2};
  }
  if (leaves) return {"loop", "threads of a warp leave the loop in different rounds", 2};
  if (some([&](BlockId next) { return shapes.divergent_join[next] != 0; })) {
    return {"guard", "some threads of a warp skip what follows", 2};
  }
  return {"branch", "threads of a warp take different sides", 2};
}

bool Explanation::is_uniform(const Inst& inst) const {
  return !inst.writes.empty() &&
         std::all_of(inst.writes.begin(), inst.writes.end(), [&](const auto& write) {
           return base_.shapes->values[write.second].is_uniform();
         });
}

Note Explanation::note_of(const Inst& inst, BlockId block) {
  const ptx::Instruction& ptx = *inst.ptx;
  if (const auto found = memory_access(kernel_, inst)) {
    return is_atomic(inst) ? atomic(inst, *found) : access(inst, *found, block);
  }
  const bool uniform = is_uniform(inst);
  if (ends_in_barrier(kernel_.blocks[block]) && &inst == &kernel_.blocks[block].insts.back()) {
    return barrier(block);
  }
  switch (ptx.opcode) {
    case Opcode::div:
    case Opcode::rem:
      return division(inst, uniform);
    case Opcode::call:
      return {"call", "a call", 20};
    case Opcode::sqrt:
    case Opcode::rcp:
      return {"work", "", uniform ? 1.0 : 4.0};
    default:
      return {"work", "", uniform ? 0.25 : 1.0};
  }
}

/// An access to local memory. One of all lanes at one index is contiguous if their elements lie
/// side by side.
Note Explanation::local_access(const std::string& what, const Shape& shape) const {
  const double lanes = base_.lanes;
  if (!base_.layout->is_side_by_side()) {
    return {"local", what + ": the array of each thread lies apart", lanes / 4};
  }
  if (shape.is_varying()) return {"local", what + ": an index of each thread's own", 1.25 * lanes};
  return {"contiguous", what + ": one index for a warp", 2};
}

Note Explanation::access(const Inst& inst, const MemoryAccess& access, BlockId block) {
  const std::string what =
      std::string(inst.ptx->opcode == Opcode::st ? "store to " : "load from ") +
      std::string(ptx::text_of(access.space)) + " memory";
  const double lanes = base_.lanes;
  if (access.space == ptx::Space::param) return {"work", "", 0.25};
  const Shape shape = access.place->reg == ptx::kNone
                          ? Shape::uniform(true)
                          : base_.shapes->at(kernel_, inst.read(access.place->reg), block);
  if (access.space == ptx::Space::local) return local_access(what, shape);
  if (shape.is_uniform()) return {"uniform", what + ": one address for a warp", 1};
  const LaneRun run = shape.is_offset() ? run_of(base_.shapes->offsets[shape.offsets], base_.lanes)
                                        : runs_.of(inst.read(access.place->reg));
  const auto size_bytes = static_cast<int64_t>(access.size_bytes);
  const bool whole = run.lanes == base_.lanes;
  if (run.step == size_bytes && whole && shape.is_offset()) {
    return {"contiguous", what + ": contiguous", size_bytes <= 8 ? 2.0 : 4.0};
  }
  if (run.step == size_bytes && run.lanes >= 8) {
    return {"runs", what + ": runs of " + std::to_string(run.lanes) + " threads are contiguous",
            3 * lanes / run.lanes + 3};
  }
  if (whole && shape.is_offset()) {
    const std::string distance = counted(static_cast<uint64_t>(std::abs(run.step)), "byte");
    const char* const way = run.step < 0 ? " back from thread to thread" : " from thread to thread";
    return {"strided", what + ": " + distance + way, lanes};
  }
  return {"gathered", what + ": an address of each thread's own", 1.25 * lanes};
}

Note Explanation::atomic(const Inst& inst, const MemoryAccess& access) const {
  const double lanes = base_.lanes;
  if (plan_.privatized.is_privatized(inst)) {
    return {"privatized", "atomic addition, collected by each worker thread until the end",
            3 * lanes};
  }
  const bool shared = access.space == ptx::Space::shared;
  return {shared ? "atomic-shared" : "atomic",
          std::string("atomic operation on ") + std::string(ptx::text_of(access.space)) +
              " memory: one thread after the other",
          (shared ? 4 : 20) * lanes};
}

Note Explanation::division(const Inst& inst, bool is_uniform) const {
  const ptx::Instruction& ptx = *inst.ptx;
  if (!ptx::is_integer(ptx.type())) return {"work", "", is_uniform ? 2.0 : 8.0};
  if (base_.shapes->constant(inst, ptx.operands[2])) return {"work", "", is_uniform ? 1.0 : 4.0};
  if (is_uniform) return {"work", "", 4};
  return {"division", "integer division by a number that is known at run time only",
          (ptx::size_bits(ptx.type()) > 32 ? 4.0 : 2.0) * base_.lanes};
}

Note Explanation::barrier(BlockId block) const {
  if (!base_.splits_at_barriers) {
    return {"barrier", "barrier: warps change places, each with a stack of its own", 30};
  }
  const uint32_t region = base_.regions.after_barrier[block];
  if (region >= base_.regions.live_in.size()) return {"barrier", "barrier", 2};
  const uint64_t kept = base_.regions.live_in[region].size();
  return {"barrier", "barrier: keeps " + counted(kept, "value") + " of each thread",
          2 + 2 * static_cast<double>(kept)};
}

}  // namespace

std::string explain(const CodePlan& plan, const KernelInfo& info) {
  const char letter = static_cast<char>('a' + static_cast<int>(plan.base.mode) - 1);
  std::string head = std::string("plan\t") + letter + "\t" + std::to_string(plan.base.lanes) +
                     "\t" + printable_name(info.mode_reason) + "\n";
  return head + Explanation(plan).text();
}

}  // namespace km::simt
