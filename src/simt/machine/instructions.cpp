#include "simt/machine/instructions.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Module.h>

#include "simt/machine/llvm_target.h"

namespace km::simt::instructions {
namespace {

const InstructionSet& set_of(const llvm::IRBuilderBase& b) {
  return instruction_set_of(*b.GetInsertBlock()->getModule());
}

/// Passes a value through empty assembly; the constraint keeps it in a register of its class.
V through_assembly(llvm::IRBuilderBase& b, V value, const char* constraint) {
  auto* signature = llvm::FunctionType::get(value->getType(), {value->getType()}, false);
  const std::string constraints = std::string("=") + constraint + ",0";
  auto* nothing = llvm::InlineAsm::get(signature, "", constraints, /*hasSideEffects=*/false);
  return b.CreateCall(signature, nothing, {value});
}

}  // namespace

V rounded(llvm::IRBuilderBase& b, Operation operation, std::span<V const> values, Round round) {
  return set_of(b).rounded(b, operation, values, round);
}

V rounded_to_s32(llvm::IRBuilderBase& b, V real, Round round) {
  return set_of(b).rounded_to_s32(b, real, round);
}

V rounded_to_u32(llvm::IRBuilderBase& b, V real, Round round) {
  return set_of(b).rounded_to_u32(b, real, round);
}

V saturated_to_s32(llvm::IRBuilderBase& b, V real, Round round) {
  return set_of(b).saturated_to_s32(b, real, round);
}

V saturated_to_u32(llvm::IRBuilderBase& b, V real, Round round) {
  return set_of(b).saturated_to_u32(b, real, round);
}

V to_s32(llvm::IRBuilderBase& b, V real, bool nearest) {
  return set_of(b).to_s32(b, real, nearest);
}

V narrow_to_f16(llvm::IRBuilderBase& b, V real, Round round) {
  return set_of(b).narrow_to_f16(b, real, round);
}

V word_products(llvm::IRBuilderBase& b, V x, V y, bool is_signed) {
  return set_of(b).word_products(b, x, y, is_signed);
}

V ternary_logic(llvm::IRBuilderBase& b, uint8_t table, V x, V y, V z) {
  return set_of(b).ternary_logic(b, table, x, y, z);
}

V permuted(llvm::IRBuilderBase& b, V source, V index) {
  return set_of(b).permuted(b, source, index);
}

V permuted(llvm::IRBuilderBase& b, V low, V high, V index) {
  return set_of(b).permuted(b, low, high, index);
}

V opaque_vector(llvm::IRBuilderBase& b, V value) {
  return through_assembly(b, value, set_of(b).vector_register());
}

V in_own_register(llvm::IRBuilderBase& b, V word) {
  return through_assembly(b, word, set_of(b).byte_register());
}

void add_mark(llvm::IRBuilderBase& b) {
  auto* type = llvm::FunctionType::get(b.getVoidTy(), false);
  auto* call = b.CreateCall(llvm::InlineAsm::get(type, "", "", /*hasSideEffects=*/true));
  call->setDoesNotAccessMemory();
  call->setDoesNotThrow();
}

}  // namespace km::simt::instructions
