#include "simt/plan/code/choose_plan.h"

#include <algorithm>

#include "base/assert.h"
#include "base/text.h"
#include "ptx/forms.h"
#include "simt/analysis/memory/gathers.h"
#include "simt/stage_dump.h"
#include "simt/transform/exact_reads.h"
#include "simt/transform/inline/dynamic_stack.h"
#include "simt/transform/prune.h"

namespace km::simt {

namespace {

/// The limit for barrier regions, which duplicate the blocks they share; above it, fibers need less
/// code.
uint64_t most_instructions(const Kernel& kernel) {
  uint64_t once = 0;
  for (const BasicBlock& block : kernel.blocks) once += block.insts.size() + 1;
  return 4 * once + 2000;
}

uint64_t most_threads(const Variant& variant) {
  return variant.block[0] == 0 ? kMaxBlockThreads : variant.threads();
}

ShapeOptions options_for(const AnalysedKernel& analysed, const Variant& variant) {
  ShapeOptions options;
  options.block = variant.block;
  options.assume_no_wrap = variant.assume_no_wrap;
  options.layout = &analysed.layout_for(variant);
  options.local_stride_bytes = options.layout->local_stride_bytes();
  return options;
}

/// The plan for mode c, which runs every kernel with any block size.
Status plan_independent_threads(const ProgramImpl& program, const AnalysedKernel& analysed,
                                Plan& plan, PlannedKernel& own) {
  const bool is_scheduled = plan.variant.is_scheduled();
  const BlockEnds ends = is_scheduled ? BlockEnds::before_accesses : BlockEnds::at_warp_operations;
  KM_ASSIGN(own.independent_kernel, build_kernel(program.module(), *analysed.function, ends));
  ShapeOptions options = options_for(analysed, plan.variant);
  options.independent_threads = true;
  own.shapes = analyse_shapes(own.independent_kernel, options);
  own.classification = classify(own.independent_kernel, own.shapes);
  plan.kernel = &own.independent_kernel;
  plan.spin_loop = &own.classification.spin_loop;
  plan.mode = Mode::independent_threads;
  plan.waits = is_scheduled && plan.has_spin_loop();
  plan.lanes = kWarpLanes;
  plan.packets = 1;
  plan.splits_at_barriers = false;
  plan.regions = whole_kernel(own.independent_kernel);
  plan.linear = {order_blocks(own.independent_kernel, own.shapes, plan.regions.list[0])};
  return {};
}

/// True if the function has shared bodies, to which calls jump, and a stack: its lanes soon have
/// different positions in the code.
bool is_recursive(const Kernel& kernel) {
  const ptx::Function& function = *kernel.function;
  return has_stack(function) && std::any_of(function.code.begin(), function.code.end(),
                                            [](const ptx::Instruction& instruction) {
                                              return instruction.opcode == ptx::Opcode::brx;
                                            });
}

/// The number of lanes for a kernel with many gathers: with AVX-512, half as many lanes leave a
/// loop sooner; with AVX2, single threads are faster than vectors assembled lane by lane, or as few
/// lanes as exchange data. A block of one thread has one lane. Measured in
/// bench/experiments/lanes-for-gathers.md.
uint32_t lanes_for_gathers(const Kernel& kernel, const Shapes& shapes, const Variant& variant) {
  const uint32_t lanes = shapes.options.lanes;
  const uint32_t together = threads_together(kernel, shapes);
  if (together == 1 && (variant.threads() == 1 || is_recursive(kernel))) return 1;
  const uint32_t fewer =
      std::max(variant.machine.fewest_gather_lanes(), together == 1 ? 1 : std::max(8u, together));
  const auto& block = variant.block;
  const bool fits = uint64_t{block[1]} * block[2] <= 1 || block[0] % fewer == 0;
  if (fewer >= lanes || !fits) return lanes;
  return is_bound_by_gathers(kernel, shapes) ? fewer : lanes;
}

/// Analyses the kernel with the number of lanes that suits it.
Shapes analyse_with_lanes(const Kernel*& kernel, Kernel& pruned, ShapeOptions& options,
                          const Variant& variant) {
  Shapes shapes = analyse_and_prune(kernel, pruned, options);
  const uint32_t most = options.lanes;
  if (!variant.runs_in_step()) options.lanes = lanes_for_gathers(*kernel, shapes, variant);
  if (options.lanes == most) return shapes;
  shapes = analyse_and_prune(kernel, pruned, options);
  if (options.lanes > 1 || all_values_are_uniform(shapes)) return shapes;
  options.lanes = most;
  return analyse_and_prune(kernel, pruned, options);
}

/// True if the instruction can order a thread's accesses with those of another.
bool orders_threads(const ptx::Instruction& instruction) {
  using ptx::Family, ptx::Modifier;
  switch (ptx::family_of(instruction)) {
    case Family::load:
    case Family::store:
    case Family::atomic:
      return instruction.has(Modifier::acquire) || instruction.has(Modifier::release) ||
             instruction.has(Modifier::acq_rel);
    case Family::barrier:
    case Family::fence:
    case Family::mbarrier:
    case Family::async_copy:
    case Family::tensor:
    case Family::tensor_core:
    case Family::tensor_memory:
    case Family::warpgroup:
      return true;
    default:
      return false;
  }
}

/// The least mode for the variant. The checker follows warps from barrier to barrier, which regions
/// of a whole block would hide.
Mode least_mode(const Kernel& kernel, const Variant& variant) {
  const auto& code = kernel.function->code;
  const bool follows = (variant.tools & (check_tool::kRace | check_tool::kSync)) != 0 &&
                       std::any_of(code.begin(), code.end(), orders_threads);
  return follows ? std::max(variant.least_mode, Mode::fibers) : variant.least_mode;
}

/// Decides the mode, lanes and regions of a kernel whose lanes share control flow. Returns false if
/// only mode c can run it.
bool try_shared_control(const AnalysedKernel& analysed, Plan& plan, PlannedKernel& own) {
  Shapes& shapes = own.shapes;
  if (analysed.kernel.irreducible != nullptr ||
      plan.variant.least_mode == Mode::independent_threads || plan.variant.is_scheduled())
    return false;
  const uint64_t threads = most_threads(plan.variant);
  ShapeOptions options = options_for(analysed, plan.variant);
  // A profile counts what warps of the PTX text do.
  const bool counts = (plan.variant.tools & check_tool::kCounters) != 0;
  options.lanes = counts ? kWarpLanes : choose_lanes(analysed.kernel, plan.variant);
  options.decide_branches = !counts;
  shapes = counts ? analyse_and_prune(plan.kernel, own.pruned, options)
                  : analyse_with_lanes(plan.kernel, own.pruned, options, plan.variant);
  Classification& classification = own.classification;
  classification = classify(*plan.kernel, shapes);
  plan.spin_loop = &classification.spin_loop;
  if (classification.mode == Mode::fibers && threads <= kWarpLanes && options.lanes == kWarpLanes) {
    classification.mode = Mode::run_to_completion;  // a single warp never waits for another
  }
  classification.mode = std::max(classification.mode, least_mode(*plan.kernel, plan.variant));
  plan.splits_at_barriers = false;
  std::optional<Regions> regions;
  if (classification.mode == Mode::run_to_completion && plan.kernel->has_barrier() &&
      threads > options.lanes) {
    regions = find_regions(*plan.kernel, most_instructions(*plan.kernel));
    plan.splits_at_barriers = regions.has_value();
    if (!plan.splits_at_barriers) classification.mode = Mode::fibers;
  }
  if (classification.mode == Mode::fibers && options.lanes != kWarpLanes) {
    options.lanes = kWarpLanes;
    shapes = analyse_and_prune(plan.kernel, own.pruned, options);
    const Mode mode = classification.mode;
    classification = classify(*plan.kernel, shapes);
    classification.mode = std::max(classification.mode, mode);
  }
  if (classification.mode == Mode::independent_threads) return false;
  plan.mode = classification.mode;
  plan.waits = plan.has_spin_loop();
  plan.lanes = options.lanes;
  plan.packets = static_cast<uint32_t>((threads + plan.lanes - 1) / plan.lanes);
  const Kernel& kernel = *plan.kernel;
  plan.regions = regions ? std::move(*regions) : whole_kernel(kernel);
  keep_exact_reads(kernel, shapes, plan.regions);
  for (const Region& region : plan.regions.list) {
    std::optional<LinearPlan> linear = linearize(kernel, shapes, region, plan.splits_at_barriers);
    if (!linear) return false;
    plan.linear.push_back(std::move(*linear));
    if (dump_enabled("masks")) {
      dump_stage("masks", kernel.function->name, dump(kernel, plan.linear.back()));
    }
    const bool passed_by = plan.linear.back().barrier_with_waiting_lanes != kNone;
    if (plan.mode == Mode::fibers && passed_by) return false;
  }
  return true;
}

}  // namespace

Status choose_plan(const ProgramImpl& program, uint32_t kernel, const Variant& variant,
                   PlannedKernel& out) {
  const bool has_other_stack =
      variant.thread_stack_bytes != kThreadStackBytes && program.kernels()[kernel].has_stack;
  const bool is_marked =
      (variant.tools & check_tool::kInit) != 0 && program.may_be_undefined(kernel);
  if (has_other_stack || is_marked) {
    KM_ASSIGN(out.rebuilt, program.rebuild(kernel, variant.thread_stack_bytes, is_marked));
  }
  const AnalysedKernel& analysed = out.rebuilt ? *out.rebuilt : program.analysed(kernel);
  Plan& plan = out.plan;
  plan.kernel = &analysed.kernel;
  plan.shapes = &out.shapes;
  plan.layout = &analysed.layout_for(variant);
  plan.variable_of_symbol = &program.variable_of_symbol();
  plan.params = &program.kernels()[kernel].params;
  plan.variant = variant;
  const bool is_chosen = try_shared_control(analysed, plan, out);
  KM_ASSERT(!is_chosen || (plan.linear.size() == plan.regions.list.size() &&
                           uint64_t{plan.packets} * plan.lanes >= most_threads(variant)),
            "each region has its order of steps, and each thread its lane");
  KM_ASSERT(!is_chosen || plan.mode == Mode::run_to_completion || !plan.splits_at_barriers,
            "barriers end regions where blocks run one after the other");
  out.found = out.classification;
  if (is_chosen) return {};
  return plan_independent_threads(program, analysed, plan, out);
}

namespace {

/// The sentence that names the instruction that rules out mode a.
std::string reason_of(const Plan& plan, const Classification& found, const KernelInfo& info) {
  if (plan.mode == Mode::run_to_completion) return "";
  if (!found.reason.empty() && found.mode == plan.mode) return found.reason;
  if (info.mode == plan.mode) return info.mode_reason;
  if (plan.variant.least_mode == plan.mode) {
    return "KM_CPU_MODE asks for it, or blocks of a cluster wait for each other";
  }
  return plan.mode == Mode::fibers ? "regions between barriers would be too long"
                                   : "lanes would wait at too many places at once";
}

}  // namespace

std::string dump(const PlannedKernel& planned, const KernelInfo& info) {
  const Plan& plan = planned.plan;
  std::string text = "mode ";
  text += static_cast<char>('a' + static_cast<int>(plan.mode) - 1);
  text += ", packets of " + counted(plan.lanes, "lane");
  text += ", " + counted(plan.regions.list.size(), "region") + "\n";
  const std::string reason = reason_of(plan, planned.found, info);
  if (!reason.empty()) text += "because " + reason + "\n";
  if (plan.waits) text += "a loop waits for other blocks or warps\n";
  return text;
}

}  // namespace km::simt
