#include "simt/passes/codegen_passes.h"

#include <llvm/CodeGen/MachineFunction.h>
#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/StackProtector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Pass.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "simt/passes/cut/partition.h"

namespace km::simt {
namespace {

/// The maximum number of instructions of a block, above that of ordinary kernels.
constexpr uint32_t kMostInstructions = 2'000;

class CutBlocks final : public llvm::FunctionPass {
 public:
  static inline char ID = 0;
  CutBlocks() : FunctionPass(ID) {}
  llvm::StringRef getPassName() const override { return "Cut long blocks"; }
  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override {
    usage.addPreserved<llvm::StackProtector>();  // instruction selection needs its results
  }
  bool runOnFunction(llvm::Function& function) override {
    return split_long_blocks(function, kMostInstructions);
  }
};

/// Instruction selection and later passes take most of the compile time and run per function, so
/// emptying the remaining functions ends the compilation early.
class EmptyUnwanted final : public llvm::FunctionPass {
 public:
  static inline char ID = 0;
  explicit EmptyUnwanted(const Interruption* interruption)
      : FunctionPass(ID), interruption_(interruption) {}
  llvm::StringRef getPassName() const override { return "Empty unwanted functions"; }
  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override {
    usage.addPreserved<llvm::StackProtector>();
  }
  bool runOnFunction(llvm::Function& function) override {
    if (check(interruption_)) return false;
    const auto linkage = function.getLinkage();
    function.deleteBody();
    function.setLinkage(linkage);
    auto* entry = llvm::BasicBlock::Create(function.getContext(), "entry", &function);
    llvm::IRBuilder<>(entry).CreateUnreachable();
    return true;
  }

 private:
  const Interruption* const interruption_;
};

/// Empties functions between instruction selection and later passes, at a point where no analysis
/// results exist that the change would invalidate.
class EmptyUnwantedCode final : public llvm::MachineFunctionPass {
 public:
  static inline char ID = 0;
  explicit EmptyUnwantedCode(const Interruption* interruption)
      : MachineFunctionPass(ID), interruption_(interruption) {}
  llvm::StringRef getPassName() const override { return "Empty unwanted code"; }
  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  bool runOnMachineFunction(llvm::MachineFunction& function) override {
    if (check(interruption_)) return false;
    function.reset();
    function.initTargetMachineFunctionInfo(function.getSubtarget());
    function.getTarget().registerMachineRegisterInfoCallback(function);
    function.push_back(function.CreateMachineBasicBlock());
    return true;
  }

 private:
  const Interruption* const interruption_;
};

}  // namespace

void add_codegen_passes(llvm::TargetPassConfig& config, const Interruption* interruption) {
  // The passes are inserted after the last pass before instruction selection that always runs. LLVM
  // owns them.
  const llvm::AnalysisID last = &llvm::StackProtector::ID;
  config.insertPass(last, std::make_unique<CutBlocks>().release());
  if (interruption == nullptr) return;
  config.insertPass(last, std::make_unique<EmptyUnwanted>(interruption).release());
  config.insertPass(&llvm::FinalizeISelID,
                    std::make_unique<EmptyUnwantedCode>(interruption).release());
}

}  // namespace km::simt
