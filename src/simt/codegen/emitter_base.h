// EmitterBase, the base class of most parts of the code generator.
#pragma once

#include "simt/codegen/builder.h"
#include "simt/plan/code/code_plan.h"

namespace km::simt {

/// Gives an emitter the builder and the plan, their parts and the builder's most frequent functions
/// under short names, so that lines which make code read as that code. It has no state of its own:
/// emitters inherit it privately, and a class that needs only one or two of these holds them
/// itself.
class EmitterBase {
 protected:
  using Value = llvm::Value;

  EmitterBase(CodeBuilder& builder, const CodePlan& plan)
      : builder_(builder),
        b_(builder.ir()),
        context_(builder.context()),
        position_(builder.position()),
        code_plan_(plan),
        plan_(plan.base),
        kernel_(*plan.base.kernel),
        lanes_(plan.base.lanes) {}

  llvm::Type* type_of(ptx::Type type) { return builder_.type_of(type); }
  llvm::FixedVectorType* vector_of(llvm::Type* element) const {
    return builder_.vector_of(element);
  }
  const Machine& machine() const { return plan_.machine(); }
  Value* i32(uint64_t value) { return builder_.i32(value); }
  Value* i64(uint64_t value) { return builder_.i64(value); }
  Value* splat(Value* scalar) { return builder_.splat(scalar); }
  Value* mask() const { return builder_.mask(); }
  Value* mask_bits() { return builder_.mask_bits(); }

  CodeBuilder& builder_;
  llvm::IRBuilder<>& b_;
  llvm::LLVMContext& context_;
  Position& position_;
  const CodePlan& code_plan_;
  const Plan& plan_;
  const Kernel& kernel_;
  const uint32_t lanes_;
};

}  // namespace km::simt
