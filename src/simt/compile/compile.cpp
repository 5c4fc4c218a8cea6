// compile(): plans one variant of a kernel and generates its code.
#include "simt/codegen/modes/generate.h"
#include "simt/object/isolated.h"
#include "simt/object/target.h"
#include "simt/plan/code/choose_plan.h"
#include "simt/plan/code/code_plan.h"
#include "simt/plan/code/explain.h"
#include "simt/program/program.h"
#include "simt/stage_dump.h"

namespace km::simt {

namespace {

Result<Object> compile_variant(const ProgramImpl& program, uint32_t index, const Variant& variant,
                               const Interruption& interruption) {
  KM_TRY(interruption.check());
  PlannedKernel planned;
  KM_TRY(choose_plan(program, index, variant, planned));
  const std::string& name = planned.plan.kernel->function->name;
  if (dump_enabled("masks")) {
    dump_stage("masks, the plan,", name, dump(planned, program.kernels()[index]));
  }
  const CodePlan plan(planned.plan);
  if (dump_enabled("plan")) dump_stage("plan", name, dump(plan));
  if (dump_enabled("lines")) {
    dump_stage("lines", name, explain(plan, program.kernels()[index]));
  }
  KM_TRY(interruption.check());
  KM_ASSIGN(auto machine, make_target_machine(variant.machine));
  return generate(plan, *machine, interruption);
}

}  // namespace

Result<Object> compile(const Program& program, uint32_t kernel, const Variant& variant,
                       const Interruption* interruption) {
  const auto& impl = static_cast<const ProgramImpl&>(program);
  if (kernel >= impl.kernels().size()) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "kernel %u of %zu", kernel, impl.kernels().size());
  }
  const std::string& refusal = impl.kernels()[kernel].refusal;
  if (!refusal.empty()) return Error{KM_ERROR_UNSUPPORTED_PTX, refusal};
  const auto& block = variant.block;
  const uint64_t threads = variant.threads();
  const bool any = block[0] == 0 && block[1] == block[2] && block[1] <= 1;
  if (!any && (threads == 0 || threads > kMaxBlockThreads)) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "a variant is made for any block size or for one of 1 to %u threads, not for "
                      "%ux%ux%u",
                      kMaxBlockThreads, block[0], block[1], block[2]);
  }
  return run_isolated(
      [program = impl.shared_from_this(), kernel, variant](const Interruption& own) {
        return compile_variant(*program, kernel, variant, own);
      },
      interruption);
}

}  // namespace km::simt
