#include "simt/passes/pipeline.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/ErrorHandling.h>
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

#include "simt/passes/keep_logic_from_choices.h"
#include "simt/passes/masks/word_masks.h"
#include "simt/passes/merge_shared_atomics.h"
#include "simt/passes/nan/keep_signalling_nans.h"
#include "simt/passes/products/word_products.h"
#include "simt/passes/promote_variables.h"
#include "simt/passes/registry.h"

namespace km::simt {
namespace {

/// The analysis managers, in the order that their destructors require: the last one is destroyed
/// first.
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
  const auto own = [&](llvm::StringRef name) {
    if (!add_own_pass(passes, name)) llvm::report_fatal_error("no pass has the name " + name);
  };
  own("promote-variables");
  passes.addPass(UnlessInMemory(llvm::SROAPass(llvm::SROAOptions::PreserveCFG)));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/false));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(UnlessInMemory(
      llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true)));
  if (unroll) {
    // Unswitching gives a loop over packets one version for each outcome of a condition that is the
    // same for all of them.
    llvm::LoopPassManager unswitch;
    unswitch.addPass(llvm::SimpleLoopUnswitchPass(/*NonTrivial=*/true));
    passes.addPass(UnlessInMemory(
        llvm::createFunctionToLoopPassAdaptor(std::move(unswitch), /*UseMemorySSA=*/true)));
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(
        llvm::LoopUnrollPass(llvm::LoopUnrollOptions(/*OptLevel=*/2, /*OnlyWhenForced=*/true)));
    passes.addPass(llvm::InstCombinePass());
  }
  own("forward-stores");
  passes.addPass(UnlessInMemory(llvm::GVNPass(llvm::GVNOptions().setPRE(false).setLoadPRE(false))));
  own("bypass-nan-canonicalization");
  own("remove-redundant-spills");
  passes.addPass(llvm::ADCEPass());
  own("sink-values");
  if (unroll) own("interleave-packets");
  own("part-long-loads");
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
  merge_shared_atomics(module);
  keep_logic_from_choices(module, machine);
  make_word_products(module, machine);
  make_word_masks(module, machine);
  keep_signalling_nans(module, machine);
}

}  // namespace km::simt
