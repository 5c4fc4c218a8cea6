#include "simt/codegen/lower/tensors/tensor_copies.h"

#include <llvm/IR/ValueSymbolTable.h>

#include <algorithm>
#include <array>
#include <bit>

#include "simt/analysis/memory/memory_access.h"
#include "simt/arithmetic/loops.h"
#include "simt/codegen/lower/lanes/lane_loops.h"
#include "simt/forms/tensor_copy_form.h"
#include "simt/runtime/tensors/tensor_runtime.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

/// A buffer in the entry function's frame. All instructions share it, because each has finished
/// with it before the next starts.
llvm::Value* TensorCopies::slots() {
  constexpr const char* kName = "tensor_slots";
  if (slots_ == nullptr) slots_ = builder_.entry()->getValueSymbolTable()->lookup(kName);
  if (slots_ == nullptr) slots_ = builder_.bytes(sizeof(TensorCopySlots), kName);
  return slots_;
}

llvm::Value* TensorCopies::slot(uint64_t offset_bytes) {
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), slots(), offset_bytes);
}

void TensorCopies::store(Value* lanes, uint64_t offset_bytes) {
  b_.CreateAlignedStore(lanes, slot(offset_bytes), llvm::Align(8));
}

/// The lanes' addresses of an operand in brackets, or of the first element of a tuple.
llvm::Value* TensorCopies::address_lanes(const Inst& inst, const Operand& operand, Space space) {
  Operand place = operand;
  place.kind = Operand::Kind::address;
  return addresses_.lanes_of(addresses_.address_of(inst, place, space));
}

/// Stores the elements of a vector, or a single operand, as one 32-bit word per lane each.
void TensorCopies::store_list(const Inst& inst, const Operand& operand, Type type,
                              uint64_t offset_bytes, uint32_t most) {
  const bool is_vector = operand.kind == Operand::Kind::vector;
  const uint32_t count = is_vector ? std::min(operand.count, most) : 1;
  auto* words = vector_of(b_.getInt32Ty());
  for (uint32_t i = 0; i < count; ++i) {
    const Operand& element =
        is_vector ? kernel_.function->operand_pool[operand.first + i] : operand;
    Value* content = values_.operand(inst, element, type, true, false);
    store(b_.CreateZExtOrTrunc(content, words), offset_bytes + i * sizeof(uint32_t) * kWarpLanes);
  }
}

void TensorCopies::store_ranks(const Inst& inst, const Operand& operand) {
  store_list(inst, operand, Type::b16, offsetof(TensorCopySlots, ranks), 1);
  auto* wide = b_.getInt64Ty();
  b_.CreateStore(b_.CreateZExt(registers_.rank_in_cluster(), wide),
                 slot(offsetof(TensorCopySlots, own_rank)));
  b_.CreateStore(b_.CreateZExt(registers_.cluster_bits(), wide),
                 slot(offsetof(TensorCopySlots, cluster_bits)));
  b_.CreateStore(b_.CreateZExt(registers_.cluster_blocks(), wide),
                 slot(offsetof(TensorCopySlots, cluster_blocks)));
}

void TensorCopies::lower_copy(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  if (ptx.has(Modifier::prefetch)) return;
  TensorCopyForm form = *arithmetic::tensor_copy_form(ptx);
  form.line = builder_.current_line();
  const bool loads = form.operation == TensorOperation::load;
  const Operand& tuple = ptx.operands[loads ? 1 : 0];
  const Operand& box = ptx.operands[loads ? 0 : 1];
  const auto& pool = kernel_.function->operand_pool;
  const Operand& map = pool[tuple.first];
  const bool named = map.symbol != ptx::kNone;
  store(address_lanes(inst, map, named ? kernel_.symbol_of(map).space : Space::generic),
        offsetof(TensorCopySlots, maps));
  store(address_lanes(inst, box, Space::shared), offsetof(TensorCopySlots, shared));
  store_list(inst, pool[tuple.first + 1], Type::b32, offsetof(TensorCopySlots, coordinates),
             kMostTensorDimensions);
  for (uint32_t i = 0; i < kMostPixelDimensions; ++i) {
    store(llvm::Constant::getNullValue(vector_of(b_.getInt32Ty())),
          offsetof(TensorCopySlots, offsets) + i * sizeof(uint32_t) * kWarpLanes);
  }
  unsigned next = 3;
  if (loads && form.mode == TensorMode::im2col) {
    store_list(inst, ptx.operands[next++], Type::b16, offsetof(TensorCopySlots, offsets),
               kMostPixelDimensions);
  }
  if (form.is_multicast) store_ranks(inst, ptx.operands[next]);
  const auto bytes = std::bit_cast<std::array<uint8_t, sizeof form>>(form);
  auto* constant =
      builder_.private_constant(llvm::ConstantDataArray::get(context_, bytes), "km_tensor_copy");
  constant->setAlignment(llvm::Align(alignof(TensorCopyForm)));
  auto* pointer = b_.getPtrTy();
  auto* type =
      llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, b_.getInt32Ty(), pointer}, false);
  frame_.call_runtime(offsetof(TensorRuntime, copy_tensor), type,
                      {frame_.state(), constant, mask_bits(), slots()});
  if (!loads) return;
  Value* sizes = b_.CreateAlignedLoad(vector_of(b_.getInt64Ty()),
                                      slot(offsetof(TensorCopySlots, sizes)), llvm::Align(8));
  if (form.is_multicast) return complete_everywhere(inst, sizes);
  mbarriers_.complete_transactions(inst, ptx.operands[2], sizes);
}

/// Completes the transactions of the mbarrier at the same place in each block of the cluster whose
/// bit is set.
void TensorCopies::complete_everywhere(const Inst& inst, Value* sizes) {
  const Operand& barrier = inst.ptx->operands[2];
  auto* wide = vector_of(b_.getInt64Ty());
  Value* ranks = b_.CreateAlignedLoad(vector_of(b_.getInt32Ty()),
                                      slot(offsetof(TensorCopySlots, ranks)), llvm::Align(8));
  const std::vector<Value*> arguments = {
      address_lanes(inst, barrier, space_of(kernel_, inst, barrier)),
      sizes,
      b_.CreateZExt(ranks, wide),
      b_.CreateZExt(splat(registers_.rank_in_cluster()), wide),
      b_.CreateZExt(splat(registers_.cluster_bits()), wide),
      b_.CreateZExt(splat(registers_.cluster_blocks()), wide)};
  checks_.reports().report_multicast(inst, {arguments[0], arguments[2], arguments[3], arguments[4],
                                            arguments[5], nullptr, nullptr});
  for_lanes(builder_, "complete_everywhere", b_.getVoidTy(), arguments,
            [&](llvm::IRBuilder<>& b, const std::vector<Value*>& lane) -> Value* {
              emit_loop(b, lane[5], 1, [&](Value* rank) {
                Value* bit = b.CreateAnd(b.CreateLShr(lane[2], rank), b.getInt64(1));
                Value* distance = b.CreateShl(b.CreateSub(rank, lane[3]), lane[4]);
                emit_if(
                    b, b.CreateIsNotNull(bit),
                    [&] { complete_bytes(b, b.CreateAdd(lane[0], distance), lane[1]); }, [] {});
              });
              return nullptr;
            });
}

void TensorCopies::lower(const Inst& inst) {
  if (inst.ptx->opcode == ptx::Opcode::cp) return lower_copy(inst);
  if (inst.ptx->has(Modifier::replace)) return lower_replace(inst);
  lower_copy_of_map(inst);
}

void TensorCopies::lower_replace(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const Operand& place = ptx.operands[0];
  const Address at = addresses_.address_of(inst, place, space_of(kernel_, inst, place));
  checks_.check_lanes(inst, {addresses_.lanes_of(at), i64(sizeof(TensorMap)), alignof(TensorMap)},
                      mask());
  store(addresses_.lanes_of(at), offsetof(TensorCopySlots, maps));
  const bool has_ordinal = ptx.operand_count > 2;
  const Operand& source = ptx.operands[ptx.operand_count - 1];
  Value* content = values_.operand(inst, source, ptx.type(), true, true);
  store(b_.CreateZExtOrTrunc(content, vector_of(b_.getInt64Ty())),
        offsetof(TensorCopySlots, shared));
  const auto field = static_cast<uint64_t>(arithmetic::tensor_map_field(ptx));
  const uint64_t ordinal = has_ordinal ? std::min<uint64_t>(ptx.operands[1].bits, UINT32_MAX) : 0;
  llvm::Type *pointer = b_.getPtrTy(), *word = b_.getInt32Ty();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(),
                                       {pointer, word, word, word, word, pointer, pointer}, false);
  frame_.call_runtime(
      offsetof(TensorRuntime, replace_tensor_field), type,
      {frame_.state(), i32(field), i32(ordinal), mask_bits(), i32(builder_.current_line()),
       slot(offsetof(TensorCopySlots, maps)), slot(offsetof(TensorCopySlots, shared))});
}

/// Lowers tensormap.cp_fenceproxy, which copies a tensor map from shared to global memory and then
/// fences.
void TensorCopies::lower_copy_of_map(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  Value* to = addresses_.lanes_of(addresses_.address_of(inst, ptx.operands[0], Space::global));
  Value* from = addresses_.lanes_of(addresses_.address_of(inst, ptx.operands[1], Space::shared));
  for (Value* lanes : {to, from}) {
    checks_.check_lanes(inst, {lanes, i64(sizeof(TensorMap)), alignof(TensorMap)}, mask());
  }
  for_lanes(builder_, "copy_tensor_map", b_.getVoidTy(), {to, from},
            [&](llvm::IRBuilder<>& b, const std::vector<Value*>& lane) -> Value* {
              auto* type = llvm::FixedVectorType::get(b.getInt64Ty(), 2);
              for (uint64_t offset = 0; offset < sizeof(TensorMap); offset += 16) {
                const auto at = [&](Value* base) {
                  return b.CreateIntToPtr(b.CreateAdd(base, b.getInt64(offset)), b.getPtrTy());
                };
                Value* part = b.CreateAlignedLoad(type, at(lane[1]), llvm::Align(16));
                b.CreateAlignedStore(part, at(lane[0]), llvm::Align(16));
              }
              return nullptr;
            });
  b_.CreateFence(llvm::AtomicOrdering::AcquireRelease);
}

}  // namespace km::simt
