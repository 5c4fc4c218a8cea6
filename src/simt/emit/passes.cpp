#include "simt/emit/passes.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimpleLoopUnswitch.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <optional>

#include "simt/emit/forward.h"
#include "simt/emit/joined_reductions.h"
#include "simt/emit/long_loads.h"
#include "simt/emit/promote.h"
#include "simt/emit/raw_nans.h"
#include "simt/emit/sink.h"
#include "simt/emit/ternary_logic.h"
#include "simt/emit/weave.h"

namespace km::simt {
namespace {

/// Analyses in the order in which they must be destroyed: the last one first.
struct Analyses {
  llvm::LoopAnalysisManager loop;
  llvm::FunctionAnalysisManager function;
  llvm::CGSCCAnalysisManager cgscc;
  llvm::ModuleAnalysisManager module;

  Analyses(llvm::Module& of, llvm::TargetMachine& machine,
           llvm::PassInstrumentationCallbacks& callbacks) {
    llvm::TargetLibraryInfoImpl library(llvm::Triple(of.getTargetTriple()));
    library.disableAllFunctions();
    function.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
    llvm::PassBuilder builder(&machine, llvm::PipelineTuningOptions(), std::nullopt, &callbacks);
    builder.registerModuleAnalyses(module);
    builder.registerCGSCCAnalyses(cgscc);
    builder.registerFunctionAnalyses(function);
    builder.registerLoopAnalyses(loop);
    builder.crossRegisterProxies(loop, function, cgscc, module);
  }
};

bool has_loop_hints(const llvm::Module& module) {
  const unsigned kind = module.getContext().getMDKindID("llvm.loop");
  for (const llvm::Function& function : module) {
    for (const llvm::BasicBlock& block : function) {
      const llvm::Instruction* end = block.getTerminator();
      if (end && end->getMetadata(kind)) return true;
    }
  }
  return false;
}

bool has_always_inline(const llvm::Module& module) {
  for (const llvm::Function& function : module) {
    if (function.hasFnAttribute(llvm::Attribute::AlwaysInline)) return true;
  }
  return false;
}

llvm::FunctionPassManager function_passes(bool unroll) {
  llvm::FunctionPassManager passes;
  passes.addPass(PromoteVariables());
  passes.addPass(UnlessInMemory(llvm::SROAPass(llvm::SROAOptions::PreserveCFG)));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/false));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(UnlessInMemory(
      llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true)));
  if (unroll) {
    // A loop over packets has one way through where a condition is the same for all of them.
    llvm::LoopPassManager unswitch;
    unswitch.addPass(llvm::SimpleLoopUnswitchPass(/*NonTrivial=*/true));
    passes.addPass(UnlessInMemory(
        llvm::createFunctionToLoopPassAdaptor(std::move(unswitch), /*UseMemorySSA=*/true)));
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(
        llvm::LoopUnrollPass(llvm::LoopUnrollOptions(/*OptLevel=*/2, /*OnlyWhenForced=*/true)));
    passes.addPass(llvm::InstCombinePass());
  }
  passes.addPass(ForwardStores());
  passes.addPass(UnlessInMemory(llvm::GVNPass(llvm::GVNOptions().setPRE(false).setLoadPRE(false))));
  passes.addPass(TakeRawNans());
  passes.addPass(DropKeptStores());
  passes.addPass(llvm::ADCEPass());
  passes.addPass(UnlessInMemory(SinkValues()));
  if (unroll) passes.addPass(WeavePackets());
  passes.addPass(PartLongLoads());
  return passes;
}

}  // namespace

void run_passes(llvm::Module& module, llvm::TargetMachine& machine,
                const Interruption* interruption) {
  llvm::PassInstrumentationCallbacks callbacks;
  if (interruption != nullptr) {
    callbacks.registerShouldRunOptionalPassCallback([interruption](llvm::StringRef, llvm::Any) {
      return static_cast<bool>(interruption->check());
    });
  }
  Analyses analyses(module, machine, callbacks);
  llvm::ModulePassManager passes;
  if (has_always_inline(module)) {
    passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  }
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(function_passes(has_loop_hints(module))));
  passes.run(module, analyses.module);
  join_reductions(module);
  keep_logic_from_choices(module, machine);
}

}  // namespace km::simt
