// Interleaves the instructions of packets that run side by side between barriers.
#pragma once

#include <llvm/IR/Instruction.h>
#include <llvm/IR/PassManager.h>

namespace km::simt {

/// The metadata of arithmetic that InterleavePackets may reorder.
constexpr const char* kInterleavedMetadata = "km.interleaved";

/// True for arithmetic of which each packet may have a dependency chain.
bool is_interleaved_arithmetic(const llvm::Instruction& instruction);

/// In straight-line code for several packets, each packet's instructions follow those of the one
/// before. If each packet has a dependency chain, the processor's window covers too few of them at
/// once. The pass orders instructions with kInterleavedMetadata by their dependency depth.
class InterleavePackets : public llvm::PassInfoMixin<InterleavePackets> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace km::simt
