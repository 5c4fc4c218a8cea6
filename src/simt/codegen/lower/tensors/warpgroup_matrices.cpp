#include "simt/codegen/lower/tensors/warpgroup_matrices.h"

#include <llvm/IR/ValueSymbolTable.h>

#include <array>
#include <bit>

#include "simt/forms/wgmma_form.h"
#include "simt/kernel/warpgroup_rules.h"
#include "simt/runtime/tensors/tensor_runtime.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Operand;
using ptx::Type;

namespace {

constexpr uint64_t kRegisterBytes = sizeof(uint32_t) * kWarpLanes;

}  // namespace

llvm::Value* warpgroup_barrier(CodeBuilder& builder, LaunchFrame& frame) {
  llvm::IRBuilder<>& b = builder.ir();
  llvm::Value* first = b.CreateLoad(b.getInt32Ty(), frame.first_thread());
  return b.CreateAdd(b.CreateUDiv(first, b.getInt32(kWarpgroupThreads)),
                     b.getInt32(kWarpgroupBarrier));
}

/// The place of a register of all lanes, in a buffer of the entry function's frame.
llvm::Value* WarpgroupMatrices::register_pointer(uint32_t index) {
  constexpr const char* kName = "wgmma_registers";
  Value* memory = builder_.entry()->getValueSymbolTable()->lookup(kName);
  if (memory == nullptr) memory = builder_.bytes(kWgmmaRegisters * kRegisterBytes, kName);
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), memory, index * kRegisterBytes);
}

const Operand& WarpgroupMatrices::element(const Operand& vector, uint32_t index) const {
  if (vector.kind != Operand::Kind::vector) return vector;
  return kernel_.function->operand_pool[vector.first + index];
}

void WarpgroupMatrices::store(const Inst& inst, const Operand& operand, uint32_t index) {
  if (operand.kind == Operand::Kind::sink) return;
  Value* content = values_.operand(inst, operand, Type::b32, true, true);
  b_.CreateAlignedStore(content, register_pointer(index), llvm::Align(64));
}

/// An operand that PTX requires to be equal in all lanes of the warp.
llvm::Value* WarpgroupMatrices::of_warp(const Inst& inst, const Operand& operand, Type type) {
  return builder_.of_first_lane(splat(values_.operand(inst, operand, type, true, false)),
                                mask_bits());
}

void WarpgroupMatrices::lower(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  if (!ptx.has(Modifier::mma_async)) return;
  WgmmaForm form = *arithmetic::wgmma_form(ptx);
  form.warp.wide = machine().kernel_set() != KernelSet::plain;
  form.line = builder_.current_line();
  const arithmetic::WgmmaOperands at = arithmetic::wgmma_operands(ptx);
  for (uint32_t r = 0; r < form.d_registers; ++r) {
    store(inst, element(ptx.operands[0], r), kWgmmaSums + r);
  }
  for (uint32_t r = 0; !form.a_in_shared && r < form.warp.a_registers; ++r) {
    store(inst, element(ptx.operands[1], r), kWgmmaFactors + r);
  }
  if (form.warp.sparse) store(inst, ptx.operands[at.metadata], kWgmmaMetadata);
  Value* a = form.a_in_shared ? of_warp(inst, ptx.operands[1], Type::b64) : i64(0);
  Value* b = of_warp(inst, ptx.operands[2], Type::b64);
  Value* adds = b_.CreateZExt(of_warp(inst, ptx.operands[at.scale_d], Type::pred), b_.getInt32Ty());
  static_assert(std::has_unique_object_representations_v<WgmmaForm>);
  const auto bytes = std::bit_cast<std::array<uint8_t, sizeof form>>(form);
  auto* constant =
      builder_.private_constant(llvm::ConstantDataArray::get(context_, bytes), "km_wgmma");
  constant->setAlignment(llvm::Align(alignof(WgmmaForm)));
  llvm::Type *pointer = b_.getPtrTy(), *wide = b_.getInt64Ty();
  auto* type = llvm::FunctionType::get(
      b_.getVoidTy(), {pointer, pointer, pointer, wide, wide, b_.getInt32Ty()}, false);
  frame_.call_runtime(offsetof(TensorRuntime, wgmma), type,
                      {frame_.state(), constant, register_pointer(0), a, b, adds});
  auto* words = vector_of(b_.getInt32Ty());
  for (uint32_t r = 0; r < form.d_registers; ++r) {
    const Operand& to = element(ptx.operands[0], r);
    if (to.kind != Operand::Kind::reg) continue;
    values_.define_result(
        inst, to.reg,
        b_.CreateAlignedLoad(words, register_pointer(kWgmmaSums + r), llvm::Align(64)), Type::b32);
  }
}

}  // namespace km::simt
