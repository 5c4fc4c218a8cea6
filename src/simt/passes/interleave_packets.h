// Packets that run side by side between barriers take turns.
#pragma once

#include <llvm/IR/Instruction.h>
#include <llvm/IR/PassManager.h>

namespace km::simt {

/// Names the metadata of arithmetic that InterleavePackets may take in turn.
constexpr const char* kInterleavedMetadata = "km.interleaved";

/// Arithmetic of which each packet may have a chain.
bool is_interleaved_arithmetic(const llvm::Instruction& instruction);

/// In straight code made of several packets each one's instructions come after those of the one
/// before; where every one waits for the last, a processor sees too few packets at once. Takes
/// instructions with kInterleavedMetadata in turn, by how many of them they wait for.
class InterleavePackets : public llvm::PassInfoMixin<InterleavePackets> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace km::simt
