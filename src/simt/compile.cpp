// compile(): plans one variant of a kernel and has it emitted.
#include <algorithm>

#include "simt/emit/dump.h"
#include "simt/emit/emitter.h"
#include "simt/emit/guarded.h"
#include "simt/program.h"

namespace km::simt {

namespace {

/// Barrier regions share blocks by copying them; beyond this, suspended warps are smaller.
bool copies_too_much(const Kernel& kernel, const Regions& regions) {
  uint64_t once = 0;
  for (const Block& block : kernel.blocks) once += block.insts.size() + 1;
  return emitted_instructions(kernel, regions) > 4 * once + 2000;
}

bool has_barrier(const Kernel& kernel) {
  return std::any_of(kernel.blocks.begin(), kernel.blocks.end(),
                     [](const Block& block) { return block.end == End::barrier; });
}

Error needs_split_warps(const KernelInfo& info, const std::string& reason) {
  return make_error(KM_ERROR_UNSUPPORTED_PTX,
                    "%s for this block size; '%s' then needs split warps (execution mode c), which "
                    "this version of the cpu backend does not have",
                    reason.c_str(), info.name.c_str());
}

/// Decides mode, lanes and regions; leaves `plan` ready for the emitter.
Status choose_plan(const KernelInfo& info, const AnalysedKernel& analysed, Plan& plan,
                   Shapes& shapes) {
  const Kernel& kernel = analysed.kernel;
  const auto& block = plan.variant.block;
  const uint64_t threads = uint64_t{block[0]} * block[1] * block[2];
  ShapeOptions options;
  options.block = block;
  options.assume_no_wrap = plan.variant.assume_no_wrap;
  options.local_stride_bytes = analysed.layout.local_stride_bytes();
  options.lanes = choose_lanes(kernel, block);
  shapes = analyse_shapes(kernel, options);
  Classification classification = classify(kernel, shapes);
  if (classification.mode == Mode::suspendable_warps && threads <= kWarpLanes &&
      options.lanes == kWarpLanes) {
    classification.mode = Mode::run_to_completion;  // one warp waits for nobody
  }
  plan.split = false;
  if (classification.mode == Mode::run_to_completion && has_barrier(kernel) &&
      threads > options.lanes) {
    plan.split = !copies_too_much(kernel, find_regions(kernel, true));
    if (!plan.split) classification.mode = Mode::suspendable_warps;
  }
  if (classification.mode == Mode::suspendable_warps && options.lanes != kWarpLanes) {
    options.lanes = kWarpLanes;
    shapes = analyse_shapes(kernel, options);
    const Classification again = classify(kernel, shapes);
    if (again.mode == Mode::split_warps) return needs_split_warps(info, again.reason);
  }
  if (classification.mode == Mode::split_warps) {
    return needs_split_warps(info, classification.reason);
  }
  plan.mode = classification.mode;
  plan.lanes = options.lanes;
  plan.packets = static_cast<uint32_t>((threads + plan.lanes - 1) / plan.lanes);
  plan.regions = find_regions(kernel, plan.split);
  return {};
}

Result<Object> compile_variant(const ProgramImpl& program, uint32_t index, const Variant& variant) {
  const AnalysedKernel& analysed = program.analysed(index);
  const KernelInfo& info = program.kernels()[index];
  Shapes shapes;
  Plan plan;
  plan.kernel = &analysed.kernel;
  plan.shapes = &shapes;
  plan.layout = &analysed.layout;
  plan.variable_of_symbol = &program.variable_of_symbol();
  plan.params = &info.params;
  plan.variant = variant;
  KM_TRY(choose_plan(info, analysed, plan, shapes));
  for (const Region& region : plan.regions.list) {
    plan.linear.push_back(linearize(analysed.kernel, shapes, region, plan.split));
    if (dump_enabled("masks")) {
      dump_stage("masks", info.name, dump(analysed.kernel, plan.linear.back()));
    }
    const BlockId waiting = plan.linear.back().barrier_with_waiting_lanes;
    if (plan.mode == Mode::suspendable_warps && waiting != kNone) {
      return needs_split_warps(
          info, describe(program.module(), *analysed.kernel.blocks[waiting].terminator) +
                    " is passed by while lanes of the warp wait elsewhere");
    }
  }
  KM_ASSIGN(auto machine, make_target_machine(variant.isa));
  Emitter emitter(plan, *machine);
  return emitter.run(*machine);
}

}  // namespace

Result<Object> compile(const Program& program, uint32_t kernel, const Variant& variant) {
  const auto& impl = static_cast<const ProgramImpl&>(program);
  if (kernel >= impl.kernels().size()) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "kernel %u of %zu", kernel, impl.kernels().size());
  }
  const uint64_t threads = uint64_t{variant.block[0]} * variant.block[1] * variant.block[2];
  if (threads == 0 || threads > 1024) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "a variant is made for one block size of 1 to 1024 threads, not %ux%ux%u",
                      variant.block[0], variant.block[1], variant.block[2]);
  }
  return run_guarded([&] { return compile_variant(impl, kernel, variant); });
}

}  // namespace km::simt
