// The registry of passes: names, and what they stand for.
#include "simt/passes/registry.h"

#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>

#include <algorithm>
#include <string_view>

namespace km::simt {
namespace {

TEST(PassRegistry, NamesAscend) {
  const auto passes = own_passes();
  ASSERT_FALSE(passes.empty());
  const auto wrong = std::adjacent_find(passes.begin(), passes.end(), [](auto& a, auto& b) {
    return std::string_view(a.name) >= std::string_view(b.name);
  });
  EXPECT_EQ(wrong, passes.end()) << wrong->name;
}

TEST(PassRegistry, AnUnknownNameAddsNothing) {
  llvm::FunctionPassManager passes;
  EXPECT_FALSE(add_own_pass(passes, "no-such-pass"));
  EXPECT_FALSE(add_own_pass(passes, ""));
  EXPECT_TRUE(passes.isEmpty());
}

TEST(PassRegistry, EachNameAddsAPassThatRuns) {
  llvm::LLVMContext context;
  llvm::Module module("test", context);
  llvm::IRBuilder<> b(context);
  auto* type = llvm::FunctionType::get(b.getVoidTy(), false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "f", module);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  b.CreateRetVoid();
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  for (const OwnPass& pass : own_passes()) {
    SCOPED_TRACE(pass.name);
    llvm::FunctionPassManager passes;
    ASSERT_TRUE(add_own_pass(passes, pass.name));
    EXPECT_FALSE(passes.isEmpty());
    passes.run(*function, functions);
    EXPECT_FALSE(llvm::verifyFunction(*function));
    EXPECT_EQ(function->getInstructionCount(), 1u);
  }
}

}  // namespace
}  // namespace km::simt
