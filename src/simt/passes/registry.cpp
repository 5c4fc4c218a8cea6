#include "simt/passes/registry.h"

#include "simt/passes/bypass_nan_canonicalization.h"
#include "simt/passes/forward_stores.h"
#include "simt/passes/interleave_packets.h"
#include "simt/passes/part_long_loads.h"
#include "simt/passes/promote_variables.h"
#include "simt/passes/remove_redundant_spills.h"
#include "simt/passes/sink_values.h"

namespace km::simt {

namespace {

template <typename Pass>
void add(llvm::FunctionPassManager& passes) {
  passes.addPass(Pass());
}

/// Adds a pass that skips functions in which PromoteVariables left variables in memory.
template <typename Pass>
void add_unless_in_memory(llvm::FunctionPassManager& passes) {
  passes.addPass(UnlessInMemory(Pass()));
}

constexpr OwnPass kPasses[] = {
    {"bypass-nan-canonicalization", add<BypassNanCanonicalization>},
    {"forward-stores", add<ForwardStores>},
    {"interleave-packets", add<InterleavePackets>},
    {"part-long-loads", add<PartLongLoads>},
    {"promote-variables", add<PromoteVariables>},
    {"remove-redundant-spills", add<RemoveRedundantSpills>},
    {"sink-values", add_unless_in_memory<SinkValues>},
};

}  // namespace

std::span<const OwnPass> own_passes() { return kPasses; }

bool add_own_pass(llvm::FunctionPassManager& passes, llvm::StringRef name) {
  for (const OwnPass& pass : kPasses) {
    if (name != pass.name) continue;
    pass.add(passes);
    return true;
  }
  return false;
}

}  // namespace km::simt
