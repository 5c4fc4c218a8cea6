#include "simt/codegen/lower/tensors/tensor_cores.h"

#include <llvm/IR/ValueSymbolTable.h>

#include <array>
#include <bit>

#include "simt/analysis/memory/memory_access.h"
#include "simt/arithmetic/loops.h"
#include "simt/codegen/lower/lanes/lane_loops.h"
#include "simt/runtime/tensors/tensor_runtime.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

namespace {

constexpr uint64_t kRegisterBytes = sizeof(uint32_t) * kWarpLanes;
constexpr uint64_t kBarrierBytes = 8;

}  // namespace

/// A constant of the object with the form's bytes.
template <class Form>
llvm::Value* TensorCores::constant(Form form, const char* name) {
  form.line = builder_.current_line();
  static_assert(std::has_unique_object_representations_v<Form>);
  const auto bytes = std::bit_cast<std::array<uint8_t, sizeof form>>(form);
  auto* global = builder_.private_constant(llvm::ConstantDataArray::get(context_, bytes), name);
  global->setAlignment(llvm::Align(alignof(Form)));
  return global;
}

/// A place in a buffer of the entry function's frame, which all instructions share.
llvm::Value* TensorCores::memory(uint64_t size_bytes, const char* name, uint64_t offset_bytes) {
  Value* buffer = builder_.entry()->getValueSymbolTable()->lookup(name);
  if (buffer == nullptr) buffer = builder_.bytes(size_bytes, name);
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), buffer, offset_bytes);
}

/// An operand that PTX requires to be equal in all lanes of the warp.
llvm::Value* TensorCores::of_warp(const Inst& inst, const Operand& operand, Type type) {
  return builder_.of_first_lane(splat(values_.operand(inst, operand, type, true, false)),
                                mask_bits());
}

/// The lanes' tensor addresses of an operand in brackets, as i32.
llvm::Value* TensorCores::tensor_address(const Inst& inst, const Operand& operand) {
  auto* words = vector_of(b_.getInt32Ty());
  Value* offset = splat(i32(static_cast<uint32_t>(operand.offset)));
  if (operand.reg == ptx::kNone) return offset;
  Operand base = operand;
  base.kind = Operand::Kind::reg;
  const Type type = kernel_.function->registers[operand.reg].type;
  const Type bits = ptx::size_bits(type) == 64 ? Type::b64 : Type::b32;
  Value* lanes = values_.operand(inst, base, bits, true, false);
  return b_.CreateAdd(b_.CreateTrunc(splat(lanes), words), offset);
}

const Operand& TensorCores::element(const Operand& vector, uint32_t index) const {
  if (vector.kind != Operand::Kind::vector) return vector;
  return kernel_.function->operand_pool[vector.first + index];
}

void TensorCores::lower_memory(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  if (ptx.has(Modifier::wait_ld) || ptx.has(Modifier::wait_st)) return;
  if (ptx.has(Modifier::ld) || ptx.has(Modifier::st)) return lower_move(inst);
  lower_management(inst);
}

void TensorCores::lower_management(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const TensorManagementForm form = arithmetic::tensor_management_form(ptx);
  Value *columns = i32(0), *address = i32(0), *out = i64(0);
  if (form.operation == TensorManagement::allocate) {
    const Space space = ptx.has(Modifier::shared_cta) ? Space::shared : Space::generic;
    const Address at = addresses_.address_of(inst, ptx.operands[0], space);
    checks_.check_lanes(inst, at, sizeof(uint32_t));
    // The warp writes the word once; the runtime reports it, which knows the content.
    out = builder_.of_first_lane(addresses_.lanes_of(at), mask_bits());
  } else if (form.operation == TensorManagement::release) {
    address = of_warp(inst, ptx.operands[0], Type::b32);
  }
  if (form.operation != TensorManagement::relinquish) {
    columns = of_warp(inst, ptx.operands[1], Type::u32);
  }
  llvm::Type *pointer = b_.getPtrTy(), *word = b_.getInt32Ty();
  auto* type = llvm::FunctionType::get(
      b_.getVoidTy(), {pointer, pointer, word, word, word, b_.getInt64Ty()}, false);
  frame_.call_runtime(
      offsetof(TensorRuntime, manage_tensors), type,
      {frame_.state(), constant(form, "km_tensor_memory"), mask_bits(), columns, address, out});
}

void TensorCores::lower_move(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const TensorMoveForm form = arithmetic::tensor_move_form(ptx);
  const auto place = [&](uint32_t r) {
    return memory(kTensorRegisters * kRegisterBytes, "tensor_registers", r * kRegisterBytes);
  };
  const bool stores = form.move == TensorMove::store;
  const bool reduces = form.move == TensorMove::load_reduce;
  for (uint32_t r = 0; stores && r < form.registers; ++r) {
    const Operand& from = element(ptx.operands[ptx.operand_count - 1], r);
    if (from.kind == Operand::Kind::sink) continue;
    Value* content = values_.operand(inst, from, Type::b32, true, true);
    b_.CreateAlignedStore(content, place(r), llvm::Align(64));
  }
  const Operand& at = ptx.operands[stores ? 0 : reduces ? 2 : 1];
  Value* address = builder_.of_first_lane(tensor_address(inst, at), mask_bits());
  llvm::Type *pointer = b_.getPtrTy(), *word = b_.getInt32Ty();
  auto* type =
      llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, word, word, pointer}, false);
  frame_.call_runtime(
      offsetof(TensorRuntime, move_tensor), type,
      {frame_.state(), constant(form, "km_tensor_move"), mask_bits(), address, place(0)});
  const auto load = [&](const Operand& to, uint32_t r) {
    if (to.kind != Operand::Kind::reg) return;
    Value* content = b_.CreateAlignedLoad(vector_of(word), place(r), llvm::Align(64));
    values_.define_result(inst, to.reg, content, Type::b32);
  };
  for (uint32_t r = 0; !stores && r < form.registers; ++r) load(element(ptx.operands[0], r), r);
  if (reduces) load(ptx.operands[1], kTensorReduction);
}

void TensorCores::store_slot(Value* lanes, uint64_t offset_bytes) {
  Value* wide = b_.CreateZExtOrTrunc(splat(lanes), vector_of(b_.getInt64Ty()));
  b_.CreateAlignedStore(wide, memory(sizeof(TensorCoreSlots), "tensor_operands", offset_bytes),
                        llvm::Align(8));
}

void TensorCores::store_slot(const Inst& inst, const Operand& operand, Type type,
                             uint64_t offset_bytes) {
  Value* lanes = operand.kind == Operand::Kind::address
                     ? tensor_address(inst, operand)
                     : values_.operand(inst, operand, type, true, false);
  store_slot(lanes, offset_bytes);
}

void TensorCores::lower_core(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  if (ptx.has(Modifier::commit)) return lower_commit(inst);
  store_slot(inst, ptx.operands[0], Type::b32, offsetof(TensorCoreSlots, target));
  if (ptx.has(Modifier::mma)) return lower_product(inst);
  if (ptx.has(Modifier::cp)) {
    store_slot(inst, ptx.operands[1], Type::b64, offsetof(TensorCoreSlots, a));
  }
  run(arithmetic::tensor_core_form(ptx));
}

void TensorCores::lower_product(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const arithmetic::TensorCoreOperandPlaces at = arithmetic::tensor_core_operands(ptx);
  store_slot(inst, ptx.operands[1], Type::b64, offsetof(TensorCoreSlots, a));
  store_slot(inst, ptx.operands[2], Type::b64, offsetof(TensorCoreSlots, b));
  store_slot(inst, ptx.operands[at.instruction], Type::b32, offsetof(TensorCoreSlots, instruction));
  store_slot(inst, ptx.operands[at.adds], Type::pred, offsetof(TensorCoreSlots, adds));
  if (ptx.has(Modifier::sp)) {
    store_slot(inst, ptx.operands[3], Type::b32, offsetof(TensorCoreSlots, metadata));
  }
  if (at.scale_a != 0) {
    store_slot(inst, ptx.operands[at.scale_a], Type::b32, offsetof(TensorCoreSlots, scale_a));
    store_slot(inst, ptx.operands[at.scale_b], Type::b32, offsetof(TensorCoreSlots, scale_b));
  }
  if (at.zero_columns != 0) {
    store_slot(inst, ptx.operands[at.zero_columns], Type::b64,
               offsetof(TensorCoreSlots, zero_columns));
  }
  const Operand& disabled = ptx.operands[at.disabled];
  for (uint32_t i = 0; at.disabled != 0 && i < disabled.count; ++i) {
    store_slot(inst, element(disabled, i), Type::b32,
               offsetof(TensorCoreSlots, disabled) + i * sizeof(uint64_t) * kWarpLanes);
  }
  run(arithmetic::tensor_core_form(ptx));
}

void TensorCores::run(TensorCoreForm form) {
  form.wide = machine().kernel_set() != KernelSet::plain;
  auto* pointer = b_.getPtrTy();
  auto* type =
      llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, b_.getInt32Ty(), pointer}, false);
  frame_.call_runtime(offsetof(TensorRuntime, run_tensor_core), type,
                      {frame_.state(), constant(form, "km_tensor_core"), mask_bits(),
                       memory(sizeof(TensorCoreSlots), "tensor_operands", 0)});
}

/// Lowers a commit to an arrival at its mbarrier or, if it is multicast, at the mbarrier of the
/// same place in each block of the cluster whose bit is set.
void TensorCores::lower_commit(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const Operand& barrier = ptx.operands[0];
  const Address at = addresses_.address_of(inst, barrier, space_of(kernel_, inst, barrier));
  checks_.check_lanes(inst, at, kBarrierBytes);
  if (!ptx.has(Modifier::multicast_cluster)) {
    for_lanes(builder_, "tensor_commit", b_.getVoidTy(), {addresses_.lanes_of(at)},
              [&](llvm::IRBuilder<>& b, const std::vector<Value*>& lane) -> Value* {
                complete_arrival(b, lane[0]);
                return nullptr;
              });
    return;
  }
  auto* wide = vector_of(b_.getInt64Ty());
  Value* ranks = values_.operand(inst, ptx.operands[1], Type::b16, true, false);
  const std::vector<Value*> arguments = {addresses_.lanes_of(at), b_.CreateZExt(splat(ranks), wide),
                                         b_.CreateZExt(splat(registers_.rank_in_cluster()), wide),
                                         b_.CreateZExt(splat(registers_.cluster_bits()), wide),
                                         b_.CreateZExt(splat(registers_.cluster_blocks()), wide)};
  for_lanes(builder_, "tensor_commit_everywhere", b_.getVoidTy(), arguments,
            [&](llvm::IRBuilder<>& b, const std::vector<Value*>& lane) -> Value* {
              emit_loop(b, lane[4], 1, [&](Value* rank) {
                Value* bit = b.CreateAnd(b.CreateLShr(lane[1], rank), b.getInt64(1));
                Value* distance = b.CreateShl(b.CreateSub(rank, lane[2]), lane[3]);
                emit_if(
                    b, b.CreateIsNotNull(bit),
                    [&] { complete_arrival(b, b.CreateAdd(lane[0], distance)); }, [] {});
              });
              return nullptr;
            });
}

}  // namespace km::simt
