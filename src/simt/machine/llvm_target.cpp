#include "simt/machine/llvm_target.h"

namespace km::simt {

Machine machine_of(const llvm::TargetMachine& target) {
  const llvm::StringRef processor = target.getTargetCPU();
  return Machine::of_llvm_processor(std::string_view(processor.data(), processor.size()));
}

}  // namespace km::simt
