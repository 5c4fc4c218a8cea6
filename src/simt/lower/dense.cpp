// Lanes side by side, for processors whose masked accesses are slow or that have none: one plain
// access where all lanes can make it; else, and where it is misaligned, the runtime is called.
// There are many of these in a kernel, so that what each takes to compile counts.
#include <bit>

#include "simt/emit/emitter.h"

namespace km::simt {

constexpr llvm::Align kElementsAlign = llvm::Align::Constant<64>();

/// Whether the access needs no test of its alignment before it.
bool Emitter::tests_alignment(const Address& address, const Access& access) const {
  return !has_avx512() && !plan_.variant.checked && !access.is_volatile && address.ok == nullptr &&
         is_dense(address, access);
}

/// AccessSite as it is passed.
llvm::Value* Emitter::access_site(uint64_t size_bytes, int64_t step_bytes) {
  const AccessSite site{current_line(), static_cast<uint16_t>(size_bytes),
                        static_cast<int16_t>(step_bytes)};
  return i64(std::bit_cast<uint64_t>(site));
}

/// Null: known to be aligned.
llvm::Value* Emitter::is_aligned(const Address& address, uint64_t size_bytes) {
  if (address.align_bits >= static_cast<unsigned>(__builtin_ctzll(size_bytes))) return nullptr;
  return b_.CreateICmpEQ(b_.CreateAnd(address.base, i64(size_bytes - 1)), i64(0));
}

llvm::Value* Emitter::dense_memory() {
  if (dense_memory_ == nullptr) dense_memory_ = bytes(sizeof(uint64_t) * lanes_, "elements");
  return dense_memory_;
}

llvm::CallInst* Emitter::call_lane_mover(uint64_t entry, const Address& address,
                                         const Access& access) {
  llvm::Type *pointer = b_.getPtrTy(), *wide = b_.getInt64Ty();
  const uint64_t size_bytes = ptx::size_bytes(access.type);
  auto* type = llvm::FunctionType::get(b_.getVoidTy(),
                                       {pointer, wide, b_.getInt32Ty(), wide, pointer}, false);
  auto* call =
      call_runtime(entry, type,
                   {state_, address.base, mask_bits(),
                    access_site(size_bytes, static_cast<int64_t>(size_bytes)), dense_memory()});
  call->setCallingConv(llvm::CallingConv::PreserveAll);
  return call;
}

std::vector<llvm::Value*> Emitter::load_dense(const Address& address, const Access& access) {
  auto* type = vector_of(type_of(access.type));
  const uint64_t size_bytes = ptx::size_bytes(access.type);
  Value* plain = is_aligned(address, size_bytes);
  if (mask() != nullptr) {
    // Where one lane may read its part of a page, the others may read theirs.
    constexpr uint64_t kPageBytes = 4096;
    Value* offset = b_.CreateAnd(address.base, i64(kPageBytes - 1));
    Value* on_page = b_.CreateICmpULE(offset, i64(kPageBytes - lanes_ * size_bytes));
    plain = and_masks(plain, b_.CreateAnd(on_page, any(mask())));
  }
  auto all_lanes = [&]() -> std::vector<Value*> {
    Value* pointer = b_.CreateIntToPtr(address.base, b_.getPtrTy());
    return {beside_context(b_.CreateAlignedLoad(type, pointer, llvm::Align(size_bytes)))};
  };
  if (plain == nullptr) return all_lanes();
  return choose(plain, all_lanes, [&]() -> std::vector<Value*> {
    auto* call = call_lane_mover(offsetof(RuntimeTable, load_lanes), address, access);
    call->setMemoryEffects(llvm::MemoryEffects::readOnly() |
                           llvm::MemoryEffects::argMemOnly(llvm::ModRefInfo::ModRef));
    return {b_.CreateAlignedLoad(type, dense_memory(), kElementsAlign)};
  });
}

std::vector<llvm::Value*> Emitter::store_dense(const Address& address, const Access& access,
                                               Value* content) {
  const uint64_t size_bytes = ptx::size_bytes(access.type);
  auto all_lanes = [&]() -> std::vector<Value*> {
    Value* pointer = b_.CreateIntToPtr(address.base, b_.getPtrTy());
    b_.CreateAlignedStore(content, pointer, llvm::Align(size_bytes));
    return {};
  };
  Value* plain = is_aligned(address, size_bytes);
  if (mask() != nullptr) plain = and_masks(plain, all(mask()));
  if (plain == nullptr) return all_lanes();
  return choose(plain, all_lanes, [&]() -> std::vector<Value*> {
    b_.CreateAlignedStore(content, dense_memory(), kElementsAlign);
    call_lane_mover(offsetof(RuntimeTable, store_lanes), address, access);
    return {};
  });
}

}  // namespace km::simt
