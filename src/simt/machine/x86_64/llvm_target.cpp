#include "simt/machine/llvm_target.h"

// These functions are declared here, because llvm/Support/TargetSelect.h refers to every target
// that LLVM was built with, and the plugin links this one only.
extern "C" {
void LLVMInitializeX86AsmPrinter();
void LLVMInitializeX86Target();
void LLVMInitializeX86TargetInfo();
void LLVMInitializeX86TargetMC();
}

namespace km::simt {

const char* llvm_triple() { return "x86_64-unknown-linux-gnu"; }

void initialise_llvm_target() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
}

void add_machine_attributes(llvm::Function& function, const Machine& machine) {
  if (machine.vector_bytes() < 64) return;
  function.addFnAttr("prefer-vector-width", "512");
  function.addFnAttr("min-legal-vector-width", "512");
}

}  // namespace km::simt
