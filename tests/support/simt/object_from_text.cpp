#include "support/simt/object_from_text.h"

#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/SourceMgr.h>

namespace km::simt::testing {

Result<Object> object_from_text(const std::string& text, const Machine& machine) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic complaint;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, complaint, context);
  if (!module) {
    return make_error(KM_ERROR_INTERNAL, "line %d: %s", complaint.getLineNo(),
                      complaint.getMessage().str().c_str());
  }
  KM_ASSIGN(const std::unique_ptr<llvm::TargetMachine> target, make_target_machine(machine));
  prepare_module(*module, *target);
  return emit_object(*module, *target);
}

std::string meta_text(Mode mode, uint64_t scratch_bytes, uint32_t stack_bytes) {
  return "\n@km_meta = constant { i32, i32, i64, i32, i32, i32, i32 } { i32 " +
         std::to_string(ObjectMeta::kMagic) + ", i32 " + std::to_string(uint32_t(mode)) + ", i64 " +
         std::to_string(scratch_bytes) + ", i32 " + std::to_string(stack_bytes) +
         ", i32 0, i32 0, i32 1 }\n";
}

}  // namespace km::simt::testing
