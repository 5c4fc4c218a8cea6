#include "simt/codegen/modes/generate.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "simt/codegen/launch_assumptions.h"
#include "simt/codegen/modes/generator.h"
#include "simt/codegen/modes/strategy.h"
#include "simt/object/target.h"
#include "simt/passes/cut/cut_function.h"

namespace km::simt {

namespace {

/// The number of steps with masks of their own above which functions are cut at fewer basic blocks.
/// Each such mask is computed from earlier ones, and LLVM's time grows with the square of their
/// number.
constexpr uint32_t kManyMasks = 96;
constexpr uint32_t kMostBlocksWithManyMasks = 150;

bool has_many_masks(const LinearPlan& plan) {
  const auto count = std::count_if(plan.steps.begin(), plan.steps.end(), [](const Step& step) {
    return step.mask == Step::Mask::variable;
  });
  return count > kManyMasks;
}

CutLimits cut_limits(const Plan& plan) {
  CutLimits limits;
  if (std::any_of(plan.linear.begin(), plan.linear.end(), has_many_masks)) {
    limits.most_blocks = kMostBlocksWithManyMasks;
  }
  return limits;
}

/// Creates the ObjectMeta, which Code::load() reads from the object.
void emit_meta(Generator& g) {
  CodeBuilder& builder = g.builder;
  llvm::IRBuilder<>& b = builder.ir();
  std::vector<llvm::Constant*> fields{
      b.getInt32(ObjectMeta::kMagic),      b.getInt32(static_cast<uint32_t>(g.plan.base.mode)),
      b.getInt64(g.frame.scratch_bytes()), b.getInt32(256 * 1024),
      b.getInt32(g.plan.base.waits),       b.getInt32(!g.plan.nontemporal.is_empty()),
      b.getInt32(g.frame.reads_block())};
  std::vector<llvm::Type*> types;
  for (const llvm::Constant* each : fields) types.push_back(each->getType());
  auto* type = llvm::StructType::get(builder.context(), types);
  auto* meta =
      llvm::cast<llvm::GlobalVariable>(builder.module().getOrInsertGlobal(kMetaSymbol, type));
  meta->setInitializer(llvm::ConstantStruct::get(type, fields));
  meta->setConstant(true);
  meta->setSection(".rodata.km_meta");
}

}  // namespace

Result<Object> generate(const CodePlan& plan, llvm::TargetMachine& machine,
                        const Interruption& interruption) {
  CodeBuilder builder(plan.base, machine);
  Generator generator(builder, plan, interruption);
  const std::unique_ptr<Strategy> strategy = make_strategy(generator);
  strategy->lay_out();
  builder.create_entry();
  generator.frame.load();
  generator.lowering.begin();
  generator.frame.create_variables();
  strategy->run();
  Status& status = generator.limit.status();
  if (status) {
    KM_ASSERT(std::all_of(builder.entry()->begin(), builder.entry()->end(),
                          [](const llvm::BasicBlock& each) { return each.getTerminator(); }),
              "each basic block of the entry function has a terminator");
    emit_meta(generator);
    emit_launch_assumptions(builder, plan.base);
  }
  builder.finish();
  KM_TRY(std::move(status));
  cut_function(*builder.entry(),
               plan.base.has_independent_threads() ? CutLimits() : cut_limits(plan.base));
  return emit_object(builder.module(), machine, &interruption);
}

}  // namespace km::simt
