#include "simt/codegen/modes/strategy.h"

#include "simt/codegen/modes/fibers.h"
#include "simt/codegen/modes/independent_threads.h"
#include "simt/codegen/modes/run_to_completion.h"

namespace km::simt {

std::unique_ptr<Strategy> make_strategy(Generator& generator) {
  const Plan& plan = generator.plan.base;
  if (plan.mode == Mode::run_to_completion) return std::make_unique<RunToCompletion>(generator);
  if (plan.has_independent_threads()) return std::make_unique<IndependentThreads>(generator);
  return std::make_unique<Fibers>(generator);
}

}  // namespace km::simt
