// Lanes side by side, for processors whose masked accesses are slow or that have none: one plain
// access where all lanes can make it, else the runtime is called. There are many of these in a
// kernel, so that what each takes to compile counts.
#include <bit>

#include "simt/emit/emitter.h"

namespace km::simt {

constexpr llvm::Align kElementsAlign = llvm::Align::Constant<64>();

/// AccessSite as it is passed.
llvm::Value* Emitter::access_site(uint64_t size_bytes, int64_t step_bytes) {
  const AccessSite site{current_line(), static_cast<uint16_t>(size_bytes),
                        static_cast<int16_t>(step_bytes)};
  return i64(std::bit_cast<uint64_t>(site));
}

llvm::Value* Emitter::dense_memory() {
  if (dense_memory_ == nullptr) dense_memory_ = bytes(sizeof(uint64_t) * lanes_, "elements");
  return dense_memory_;
}

llvm::CallInst* Emitter::call_lane_mover(uint64_t entry, const Address& address,
                                         uint64_t size_bytes) {
  llvm::Type *pointer = b_.getPtrTy(), *wide = b_.getInt64Ty();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(),
                                       {pointer, wide, b_.getInt32Ty(), wide, pointer}, false);
  Value* site = access_site(size_bytes, static_cast<int64_t>(size_bytes));
  auto* call = call_runtime(entry, type, {state_, address.base, mask_bits(), site, dense_memory()});
  call->setCallingConv(llvm::CallingConv::PreserveAll);
  return call;
}

/// Some lanes of a packet, where not all of them may read.
llvm::Value* Emitter::load_some(const Address& address, const Access& access) {
  auto* type = vector_of(type_of(access.type));
  const uint64_t size_bytes = ptx::size_bytes(access.type);
  if (plan_.variant.isa == Isa::avx2 && size_bytes >= sizeof(uint32_t)) {
    Value* pointer = b_.CreateIntToPtr(address.base, b_.getPtrTy());
    Value* none = llvm::Constant::getNullValue(type);
    return b_.CreateMaskedLoad(type, pointer, llvm::Align(size_bytes), mask(), none);
  }
  auto* call = call_lane_mover(offsetof(RuntimeTable, load_lanes), address, size_bytes);
  call->setMemoryEffects(llvm::MemoryEffects::readOnly() |
                         llvm::MemoryEffects::argMemOnly(llvm::ModRefInfo::ModRef));
  return b_.CreateAlignedLoad(type, dense_memory(), kElementsAlign);
}

std::vector<llvm::Value*> Emitter::load_dense(const Address& address, const Access& access) {
  const uint64_t size_bytes = ptx::size_bytes(access.type);
  auto all_lanes = [&]() -> std::vector<Value*> {
    auto* type = vector_of(type_of(access.type));
    Value* pointer = b_.CreateIntToPtr(address.base, b_.getPtrTy());
    return {beside_context(b_.CreateAlignedLoad(type, pointer, llvm::Align(size_bytes)))};
  };
  if (mask() == nullptr) return all_lanes();
  // Processors do not read ahead of masked moves. Where one lane may read its part of a page, the
  // others may read theirs.
  constexpr uint64_t kPageBytes = 4096;
  Value* offset = b_.CreateAnd(address.base, i64(kPageBytes - 1));
  Value* on_page = b_.CreateICmpULE(offset, i64(kPageBytes - lanes_ * size_bytes));
  return choose(b_.CreateAnd(on_page, any(mask())), all_lanes,
                [&]() -> std::vector<Value*> { return {load_some(address, access)}; });
}

std::vector<llvm::Value*> Emitter::store_dense(const Address& address, const Access& access,
                                               Value* content) {
  const uint64_t size_bytes = ptx::size_bytes(access.type);
  auto all_lanes = [&]() -> std::vector<Value*> {
    Value* pointer = b_.CreateIntToPtr(address.base, b_.getPtrTy());
    b_.CreateAlignedStore(content, pointer, llvm::Align(size_bytes));
    return {};
  };
  return choose(all(mask()), all_lanes, [&]() -> std::vector<Value*> {
    b_.CreateAlignedStore(content, dense_memory(), kElementsAlign);
    call_lane_mover(offsetof(RuntimeTable, store_lanes), address, size_bytes);
    return {};
  });
}

}  // namespace km::simt
