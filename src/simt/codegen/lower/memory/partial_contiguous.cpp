#include "simt/codegen/lower/memory/partial_contiguous.h"

#include <algorithm>
#include <bit>

namespace km::simt {

namespace {

/// Shuffle indices 0, 1 ... `count` - 1, padded to `wanted` indices by `count`, which is the second
/// vector's first element.
llvm::SmallVector<int> first_of(uint32_t count, uint32_t wanted) {
  llvm::SmallVector<int> indices;
  for (uint32_t i = 0; i < wanted; ++i) indices.push_back(static_cast<int>(std::min(i, count)));
  return indices;
}

}  // namespace

/// Calls a runtime function that moves the active lanes between memory and the column buffer. It
/// preserves all registers, so that the code around it need not spill.
llvm::CallInst* PartialContiguous::call_lane_mover(uint64_t entry, const Address& address,
                                                   uint64_t size_bytes) {
  llvm::Type *pointer = b_.getPtrTy(), *wide = b_.getInt64Ty();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(),
                                       {pointer, wide, b_.getInt32Ty(), wide, pointer}, false);
  Value* site = checks_.access_site(size_bytes, static_cast<int64_t>(size_bytes));
  auto* call = frame_.call_runtime(
      entry, type, {frame_.state(), address.base, mask_bits(), site, columns_.memory()});
  call->setCallingConv(llvm::CallingConv::PreserveAll);
  return call;
}

/// False if lanes lie below the block's shared memory, where nothing is mapped. Inactive lanes may,
/// as in `tile[tid - 1]` for all but thread 0. A masked access is right there, but x86 processors
/// suppress the fault by an assist of about 1 us, which the runtime's function need not. Null: the
/// space has no window.
llvm::Value* PartialContiguous::starts_in_window(const Address& address) {
  if (address.space != ptx::Space::shared) return nullptr;
  return b_.CreateICmpUGE(address.base, frame_.shared());
}

/// Loads the active lanes when a full vector load might fault.
llvm::Value* PartialContiguous::load_some(const Address& address, const Access& access) {
  const uint64_t size_bytes = ptx::size_bytes(access.type);
  auto masked = [&]() -> std::vector<Value*> {
    auto* type = vector_of(type_of(access.type));
    Value* pointer = b_.CreateIntToPtr(address.base, b_.getPtrTy());
    // A zero in inactive lanes makes LLVM 19 loop for ever when it selects instructions for some
    // 64-bit products: tests/fuzz/found/product_of_missing_lanes.ptx.
    const bool zero = !machine().has_int64_products() || !type->getScalarType()->isIntegerTy(64);
    Value* none = zero ? llvm::Constant::getNullValue(type) : llvm::ConstantInt::get(type, 1);
    return {b_.CreateMaskedLoad(type, pointer, llvm::Align(size_bytes), mask(), none)};
  };
  auto moved = [&]() -> std::vector<Value*> {
    auto* call = call_lane_mover(offsetof(RuntimeTable, load_lanes), address, size_bytes);
    call->setMemoryEffects(llvm::MemoryEffects::readOnly() |
                           llvm::MemoryEffects::argMemOnly(llvm::ModRefInfo::ModRef));
    return {columns_.load(columns_.memory(), access)[0]};
  };
  if (!machine().has_masked_loads(size_bytes)) return moved()[0];
  Value* inside = starts_in_window(address);
  return inside == nullptr ? masked()[0] : builder_.choose(inside, masked, moved)[0];
}

/// True if all lanes may be loaded: they are on one page, and an active lane accesses it anyway.
llvm::Value* PartialContiguous::may_all_read(const Address& address, uint64_t size_bytes) {
  Value* on_page = addresses_.lies_on_one_page(address.base, lanes_ * size_bytes);
  return b_.CreateAnd(on_page, builder_.any(mask()));
}

/// The number of active lanes if the mask is a constant with only the lowest lanes set, and that
/// number is a power of two, so that a narrower vector fits; otherwise 0.
uint32_t PartialContiguous::first_lanes() {
  const auto* known = llvm::dyn_cast_or_null<llvm::Constant>(mask());
  if (known == nullptr) return 0;
  uint32_t count = 0;
  while (count < lanes_ && known->getAggregateElement(count)->isOneValue()) ++count;
  for (uint32_t lane = count; lane < lanes_; ++lane) {
    if (!known->getAggregateElement(lane)->isZeroValue()) return 0;
  }
  return std::has_single_bit(count) ? count : 0;
}

/// Loads all lanes whenever that cannot fault, because masked loads are slow on some processors and
/// hardware prefetchers ignore them.
std::vector<llvm::Value*> PartialContiguous::load(const Address& address, const Access& access) {
  const uint64_t size_bytes = ptx::size_bytes(access.type);
  auto whole = [&]() -> std::vector<Value*> {
    auto* type = vector_of(type_of(access.type));
    Value* pointer = b_.CreateIntToPtr(address.base, b_.getPtrTy());
    return {builder_.beside_context(b_.CreateAlignedLoad(type, pointer, llvm::Align(size_bytes)))};
  };
  auto partly = [&]() -> std::vector<Value*> { return {load_some(address, access)}; };
  if (mask() == nullptr) return whole();
  if (const uint32_t count = first_lanes()) {
    Value* pointer = b_.CreateIntToPtr(address.base, b_.getPtrTy());
    auto* type = llvm::FixedVectorType::get(type_of(access.type), count);
    Value* low =
        builder_.beside_context(b_.CreateAlignedLoad(type, pointer, llvm::Align(size_bytes)));
    return {
        b_.CreateShuffleVector(low, llvm::Constant::getNullValue(type), first_of(count, lanes_))};
  }
  return builder_.choose(may_all_read(address, size_bytes), whole, partly);
}

/// Stores only the active lanes.
void PartialContiguous::store_some(const Address& address, const Access& access, Value* content) {
  const uint64_t size_bytes = ptx::size_bytes(access.type);
  auto masked = [&]() -> std::vector<Value*> {
    Value* pointer = b_.CreateIntToPtr(address.base, b_.getPtrTy());
    b_.CreateMaskedStore(content, pointer, llvm::Align(size_bytes), mask());
    return {};
  };
  auto moved = [&]() -> std::vector<Value*> {
    columns_.store(columns_.memory(), access, {content});
    call_lane_mover(offsetof(RuntimeTable, store_lanes), address, size_bytes);
    return {};
  };
  Value* inside = machine().has_masked_stores() ? starts_in_window(address) : nullptr;
  if (inside != nullptr) {
    builder_.choose(inside, masked, moved);
  } else if (machine().has_masked_stores()) {
    masked();
  } else {
    moved();
  }
}

/// Stores all lanes by a plain store if all are active, because a masked store costs several plain
/// ones on some processors. In shared memory, which no other host thread accesses, a machine
/// without masked stores can write back the old elements of inactive lanes.
std::vector<llvm::Value*> PartialContiguous::store(const Address& address, const Access& access,
                                                   Value* content) {
  const llvm::Align align(ptx::size_bytes(access.type));
  Value* pointer = b_.CreateIntToPtr(address.base, b_.getPtrTy());
  auto whole = [&]() -> std::vector<Value*> {
    writer_.store(address, access, content);
    return {};
  };
  auto partly = [&]() -> std::vector<Value*> {
    store_some(address, access, content);
    return {};
  };
  auto blended = [&]() -> std::vector<Value*> {
    Value* old = builder_.beside_context(b_.CreateAlignedLoad(content->getType(), pointer, align));
    b_.CreateAlignedStore(b_.CreateSelect(mask(), content, old), pointer, align);
    return {};
  };
  auto some = [&]() -> std::vector<Value*> {
    if (machine().has_masked_stores() || address.space != ptx::Space::shared) return partly();
    return builder_.choose(may_all_read(address, align.value()), blended, partly);
  };
  if (const uint32_t count = first_lanes()) {
    b_.CreateAlignedStore(b_.CreateShuffleVector(content, first_of(count, count)), pointer, align);
    return {};
  }
  return builder_.choose(builder_.all(mask()), whole, some);
}

}  // namespace km::simt
