#include "simt/machine/aarch64/llvm_target.h"

// These functions are declared here, because llvm/Support/TargetSelect.h refers to every target
// that LLVM was built with, and the plugin links ours only.
extern "C" {
void LLVMInitializeAArch64AsmPrinter();
void LLVMInitializeAArch64Target();
void LLVMInitializeAArch64TargetInfo();
void LLVMInitializeAArch64TargetMC();
}

namespace km::simt::aarch64 {
namespace {

class Target : public LlvmTarget {
 public:
  void initialise() const override {
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  }

  void add_attributes(llvm::Function&, const Machine&) const override {}
};

}  // namespace

const LlvmTarget& llvm_target() {
  static const Target target;
  return target;
}

}  // namespace km::simt::aarch64
