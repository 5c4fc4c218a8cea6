#include "simt/machine/x86_64/llvm_target.h"

// These functions are declared here, because llvm/Support/TargetSelect.h refers to every target
// that LLVM was built with, and the plugin links ours only.
extern "C" {
void LLVMInitializeX86AsmPrinter();
void LLVMInitializeX86Target();
void LLVMInitializeX86TargetInfo();
void LLVMInitializeX86TargetMC();
}

namespace km::simt::x86_64 {
namespace {

class Target : public LlvmTarget {
 public:
  void initialise() const override {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  }

  void add_attributes(llvm::Function& function, const Machine& machine) const override {
    if (machine.vector_bytes() < 64) return;
    function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr("min-legal-vector-width", "512");
  }
};

}  // namespace

const LlvmTarget& llvm_target() {
  static const Target target;
  return target;
}

}  // namespace km::simt::x86_64
