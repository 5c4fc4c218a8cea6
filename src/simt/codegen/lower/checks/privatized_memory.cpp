#include "simt/codegen/lower/checks/privatized_memory.h"

namespace km::simt {

llvm::Value* PrivatizedMemory::field(uint64_t offset) {
  return builder_.load_field(frame_.state(), offset, b_.getInt64Ty(), false);
}

void PrivatizedMemory::flush_if_overlapping(const MemoryAccess& access, const Inst& inst,
                                            const Address& address) {
  if (!is_global(access.space) || is_atomic(inst) || reads_constants(*inst.ptx)) return;
  if (address.base == nullptr) return;  // PrivatizedAtomics refuses kernels with varying accesses
  const auto [low, high] = extremes_of(address.offsets, lanes_);
  const uint64_t rest = static_cast<uint64_t>(high - low) + access.size_bytes - 1;
  Value* last = b_.CreateAdd(address.base, i64(static_cast<uint64_t>(low) + rest));
  Value* distance = b_.CreateSub(last, field(offsetof(BlockState, privatized_begin)));
  Value* reach = b_.CreateAdd(field(offsetof(BlockState, privatized_bytes)), i64(rest));
  Value* meets = b_.CreateICmpULT(distance, reach);
  if (address.ok != nullptr) meets = b_.CreateOr(meets, b_.CreateNot(address.ok));
  builder_.branch_unlikely(meets, [&] {
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getInt32Ty()}, false);
    frame_.call_runtime(offsetof(RuntimeTable, flush_privatized), type,
                        {frame_.state(), i32(builder_.current_line())});
  });
}

llvm::Value* PrivatizedMemory::is_privatized(Value* at) {
  Value* distance = b_.CreateSub(at, field(offsetof(BlockState, privatized_begin)));
  return b_.CreateICmpULT(distance, field(offsetof(BlockState, privatized_bytes)));
}

llvm::Value* PrivatizedMemory::copy_of(Value* at) {
  Value* distance = b_.CreateSub(at, field(offsetof(BlockState, privatized_begin)));
  return b_.CreateAdd(field(offsetof(BlockState, privatized)), distance);
}

void PrivatizedMemory::count_down(Value* at, llvm::Type* element) {
  Value* place = b_.CreateConstGEP1_64(b_.getInt8Ty(), frame_.state(),
                                       offsetof(BlockState, privatize_countdown));
  Value* left = b_.CreateSub(b_.CreateLoad(b_.getInt64Ty(), place), i64(1));
  b_.CreateStore(left, place);
  builder_.branch_unlikely(b_.CreateICmpEQ(left, i64(0)), [&] {
    auto* type = llvm::FunctionType::get(b_.getVoidTy(),
                                         {b_.getPtrTy(), b_.getInt64Ty(), b_.getInt32Ty()}, false);
    frame_.call_runtime(offsetof(RuntimeTable, privatize_atomics), type,
                        {frame_.state(), at, i32(element->getScalarSizeInBits() / 8)});
  });
}

/// The places of lanes that are passed as 32-bit indices, which take half the registers of
/// addresses. The private range consists of the `count` indices from `first` on; if its bounds are
/// no such indices, no place is privatised.
PrivatizedMemory::Places PrivatizedMemory::indexed_places(const LaneIndex& index) {
  const unsigned shift = static_cast<unsigned>(__builtin_ctz(index.scale));
  Value* begin = field(offsetof(BlockState, privatized_begin));
  Value* count = b_.CreateLShr(field(offsetof(BlockState, privatized_bytes)), shift);
  Value* distance = b_.CreateSub(begin, index.base);
  Value* first = b_.CreateAShr(distance, shift);
  Value* narrow = b_.CreateTrunc(first, b_.getInt32Ty());
  Value* fits = b_.CreateICmpEQ(b_.CreateSExt(narrow, b_.getInt64Ty()), first);
  fits = b_.CreateAnd(fits, b_.CreateICmpEQ(b_.CreateShl(first, shift), distance));
  fits = b_.CreateAnd(fits, b_.CreateICmpSLE(b_.CreateAdd(first, count), i64(uint64_t{1} << 31)));
  Value* own = b_.CreateSub(index.lanes, splat(narrow));
  Value* outside = b_.CreateICmpUGE(own, splat(b_.CreateTrunc(count, b_.getInt32Ty())));
  Value* none = b_.CreateNot(builder_.any(builder_.and_masks(mask(), outside)));
  return {b_.CreateAnd(fits, none), b_.CreateShl(own, shift)};
}

PrivatizedMemory::Places PrivatizedMemory::places_of(const Address& address) {
  const LaneIndex index = address.index.lanes ? address.index : addresses_.index_of(address);
  if (index.lanes != nullptr) return indexed_places(index);
  Value* begin = field(offsetof(BlockState, privatized_begin));
  Value* own = b_.CreateSub(addresses_.lanes_of(address), splat(begin));
  Value* outside = b_.CreateICmpUGE(own, splat(field(offsetof(BlockState, privatized_bytes))));
  return {b_.CreateNot(builder_.any(builder_.and_masks(mask(), outside))),
          b_.CreateTrunc(own, vector_of(b_.getInt32Ty()))};
}

}  // namespace km::simt
