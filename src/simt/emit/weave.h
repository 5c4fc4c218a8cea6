// Passes over what packets do between barriers.
#pragma once

#include <llvm/IR/Instruction.h>
#include <llvm/IR/PassManager.h>

namespace km::simt {

/// Names the metadata of arithmetic that WeavePackets may take in turn.
constexpr const char* kWovenMetadata = "km.woven";

/// Arithmetic of which each packet may have a chain.
bool is_woven_arithmetic(const llvm::Instruction& instruction);

/// In straight code made of several packets each one's instructions come after those of the one
/// before; where every one waits for the last, a processor sees too few packets at once. Takes
/// instructions with kWovenMetadata in turn, by how many of them they wait for.
class WeavePackets : public llvm::PassInfoMixin<WeavePackets> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

/// A packet that stores what it keeps between barriers where it has loaded it from changes nothing:
/// no other value has this place in between.
class DropKeptStores : public llvm::PassInfoMixin<DropKeptStores> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace km::simt
