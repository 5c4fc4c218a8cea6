#include "simt/codegen/lower/memory/shaped_access.h"

#include <llvm/Analysis/VectorUtils.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/assert.h"
#include "ptx/names.h"
#include "simt/codegen/lower/lanes/integer_parts.h"
#include "simt/codegen/lower/lanes/lane_loops.h"

namespace km::simt {

using ptx::Type;

/// The type of an indivisible access to 128 bits: of an access to an integer, if it has to be
/// atomic for LLVM, else of one that LLVM makes one instruction of.
llvm::Type* ShapedAccess::whole_type() {
  if (!machine().has_indivisible_vectors()) return b_.getInt128Ty();
  return llvm::FixedVectorType::get(b_.getInt64Ty(), 2);
}

/// Loads 128 bits at once, so that another thread's store is never seen in part.
llvm::Value* ShapedAccess::load_whole(const Address& address) {
  auto load_at = [type = whole_type()](llvm::IRBuilder<>& b, Value* at) {
    Value* pointer = b.CreateIntToPtr(at, b.getPtrTy());
    auto* whole = b.CreateAlignedLoad(type, pointer, llvm::Align(16), true);
    if (type->isIntegerTy()) whole->setAtomic(llvm::AtomicOrdering::Monotonic);
    return b.CreateBitCast(whole, b.getInt128Ty());
  };
  if (address.lanes == nullptr && address.offsets == nullptr) return load_at(b_, address.base);
  frame_.note_line();
  return for_lanes(builder_, "load_whole", type_of(Type::b128), {addresses_.lanes_of(address)},
                   [&](llvm::IRBuilder<>& b, const std::vector<Value*>& lane) -> Value* {
                     return load_at(b, lane[0]);
                   });
}

namespace {

/// The type of a single access that moves a whole strong vector, so that another thread's store is
/// never seen in part. Type::none if it is no vector, or wider than any machine can move at once.
Type whole_vector(const Access& access) {
  if (!access.is_volatile || access.count < 2) return Type::none;
  return ptx::bits_type(access.count * ptx::size_bits(access.type));
}

Access one_access(const Access& access, Type type) {
  Access one = access;
  one.type = type;
  one.count = 1;
  return one;
}

}  // namespace

/// Loads a strong vector by a single access and extracts the elements.
std::vector<llvm::Value*> ShapedAccess::load_vector(const Address& address, const Access& access,
                                                    Type whole) {
  Value* content = load_parts(address, one_access(access, whole))[0];
  std::vector<Value*> results = parts_of(b_, content, ptx::size_bits(access.type));
  for (Value*& part : results) part = builder_.as_type(part, type_of(access.type));
  return results;
}

/// Combines the elements of a strong vector and stores them by a single access.
void ShapedAccess::store_vector(const Address& address, const Access& access, Type whole,
                                const std::vector<Value*>& values) {
  const bool lanes =
      std::ranges::any_of(values, [](Value* value) { return value->getType()->isVectorTy(); });
  auto* const narrow = b_.getIntNTy(ptx::size_bits(access.type));
  std::vector<Value*> parts;
  for (Value* value : values) {
    parts.push_back(builder_.as_type(lanes ? splat(value) : value, narrow));
  }
  store_parts(address, one_access(access, whole), {joined(b_, parts, ptx::size_bits(whole))});
}

std::vector<llvm::Value*> ShapedAccess::load_parts(const Address& address, const Access& access) {
  const Type vector = whole_vector(access);
  if (vector != Type::none) return load_vector(address, access, vector);
  if (access.type != Type::b128) return load(address, access);
  if (access.is_volatile && access.count == 1) return {load_whole(address)};
  Access halves = access;
  halves.type = Type::b64;
  halves.count *= 2;
  const std::vector<Value*> parts = load(address, halves);
  std::vector<Value*> results;
  for (unsigned i = 0; i < halves.count; i += 2) {
    results.push_back(joined(b_, std::span(parts).subspan(i, 2), 128));
  }
  return results;
}

std::vector<llvm::Value*> ShapedAccess::load(const Address& address, const Access& access) {
  if (address.lanes != nullptr) return segments_.load(address, access);
  if (address.offsets == nullptr) return load_uniform(address, access);
  if (access.is_volatile) return gathers_.load_at(address, access);
  Value* usable = address.ok ? address.ok : b_.getTrue();
  const bool contiguous = is_contiguous(address, access, lanes_);
  if (!contiguous && !wide_span(address, access, lanes_) &&
      (access.count > 1 || !inline_apart_.take())) {
    return gathers_.load_at(address, access);
  }
  if (!contiguous) usable = b_.CreateAnd(usable, builder_.all(mask()));
  Access rare = access;
  rare.is_rare = !machine().has_gather_scatter();
  return builder_.choose(
      usable, [&] { return load_offsets(address, access); },
      [&] { return gathers_.load_at(address, rare); });
}

/// Loads scalars from an address that is uniform.
std::vector<llvm::Value*> ShapedAccess::load_uniform(const Address& address, const Access& access) {
  const uint64_t size = ptx::size_bytes(access.type);
  auto* type = type_of(access.type);
  std::vector<Value*> results;
  for (unsigned i = 0; i < access.count; ++i) {
    Value* at = i ? b_.CreateAdd(address.base, i64(i * size)) : address.base;
    auto* load = b_.CreateAlignedLoad(type, b_.CreateIntToPtr(at, b_.getPtrTy()), llvm::Align(size),
                                      access.is_volatile);
    if (access.invariant) {
      load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
    }
    results.push_back(builder_.beside_context(load));
  }
  return results;
}

/// Loads from constant offsets, when the base form of the address is known to be valid.
std::vector<llvm::Value*> ShapedAccess::load_offsets(const Address& address, const Access& access) {
  if (is_contiguous(address, access, lanes_)) return contiguous_.load(address, access);
  return wide_span(address, access, lanes_) ? load_wide(address, access)
                                            : load_each(address, access);
}

/// Loads the whole span of the lanes by one vector load, from which shuffles select each lane's
/// elements.
std::vector<llvm::Value*> ShapedAccess::load_wide(const Address& address, const Access& access) {
  const auto elements = static_cast<unsigned>(*wide_span(address, access, lanes_));
  auto* type = llvm::FixedVectorType::get(type_of(access.type), elements);
  const auto size = static_cast<int64_t>(ptx::size_bytes(access.type));
  Value* pointer = b_.CreateIntToPtr(address.base, b_.getPtrTy());
  Value* whole = builder_.beside_context(
      b_.CreateAlignedLoad(type, pointer, llvm::Align(static_cast<uint64_t>(size))));
  if (rows_.is_permuted(address, access)) return rows_.permuted_columns(whole);
  std::vector<Value*> results;
  for (unsigned i = 0; i < access.count; ++i) {
    std::vector<int> pick;
    for (uint32_t l = 0; l < lanes_; ++l) {
      pick.push_back(static_cast<int>((*address.offsets)[l] / size + i));
    }
    results.push_back(b_.CreateShuffleVector(whole, pick));
  }
  return results;
}

/// Loads each distinct address once by a scalar load, which is faster than a gather because the
/// offsets from the base are constants.
std::vector<llvm::Value*> ShapedAccess::load_each(const Address& address, const Access& access) {
  auto* element = type_of(access.type);
  const llvm::Align align(ptx::size_bytes(access.type));
  std::map<int64_t, Value*> loaded;
  Value* content = llvm::PoisonValue::get(vector_of(element));
  for (uint32_t l = 0; l < lanes_; ++l) {
    auto [entry, is_new] = loaded.try_emplace((*address.offsets)[l], nullptr);
    if (is_new) {
      Value* at = b_.CreateAdd(address.base, i64(static_cast<uint64_t>(entry->first)));
      entry->second = b_.CreateAlignedLoad(element, b_.CreateIntToPtr(at, b_.getPtrTy()), align);
    }
    content = b_.CreateInsertElement(content, entry->second, l);
  }
  return {content};
}

/// Stores 128 bits at once, so that no thread sees a part of them.
void ShapedAccess::store_whole(const Address& address, Value* content) {
  frame_.note_line();
  for_lanes(builder_, "store_whole", b_.getVoidTy(), {addresses_.lanes_of(address), content},
            [type = whole_type()](llvm::IRBuilder<>& b, const std::vector<Value*>& lane) -> Value* {
              Value* at = b.CreateIntToPtr(lane[0], b.getPtrTy());
              auto* store =
                  b.CreateAlignedStore(b.CreateBitCast(lane[1], type), at, llvm::Align(16), true);
              if (type->isIntegerTy()) store->setAtomic(llvm::AtomicOrdering::Monotonic);
              return nullptr;
            });
}

void ShapedAccess::store_parts(const Address& address, const Access& access,
                               const std::vector<Value*>& values) {
  const Type vector = whole_vector(access);
  if (vector != Type::none) return store_vector(address, access, vector, values);
  if (access.type != Type::b128) return store(address, access, values);
  if (access.is_volatile && access.count == 1) return store_whole(address, values[0]);
  Access halves = access;
  halves.type = Type::b64;
  halves.count *= 2;
  std::vector<Value*> parts;
  for (Value* whole : values) {
    for (Value* part : parts_of(b_, whole, 64)) parts.push_back(part);
  }
  store(address, halves, parts);
}

void ShapedAccess::store(const Address& address, const Access& access,
                         const std::vector<Value*>& values) {
  KM_ASSERT(values.size() == access.count, "the number of values is the number of elements stored");
  if (address.lanes != nullptr) return gathers_.store(address.index, access, values, address.lanes);
  if (address.offsets == nullptr) return store_uniform(address, access, values);
  Value* usable = address.ok ? address.ok : b_.getTrue();
  const auto elements = wide_span(address, access, lanes_);
  const bool contiguous = is_contiguous(address, access, lanes_);
  const bool interleaved =
      elements && *elements == static_cast<int64_t>(access.count) * lanes_ &&
      std::set<int64_t>(address.offsets->begin(), address.offsets->begin() + lanes_).size() ==
          lanes_;
  const bool apart = !contiguous && !interleaved;
  Access rare = access;
  rare.is_rare = !apart && !machine().has_gather_scatter();
  auto slow = [&]() -> std::vector<Value*> {
    gathers_.store_at(address, rare, values);
    return {};
  };
  if (access.is_volatile || (apart && (access.count > 1 || !inline_apart_.take()))) {
    slow();
    return;
  }
  auto whole = [&]() -> std::vector<Value*> {
    if (interleaved) {
      store_offsets(address, access, values);
    } else {
      store_each(address, access, splat(values[0]));
    }
    return {};
  };
  auto here = [&] {
    if (contiguous) return contiguous_.store(address, access, values[0]);
    return builder_.choose(builder_.all(mask()), whole, slow);
  };
  builder_.choose(usable, here, slow);
}

/// Stores to a uniform address. PTX leaves open which active lane wins; here it is the highest.
void ShapedAccess::store_uniform(const Address& address, const Access& access,
                                 const std::vector<Value*>& values) {
  const uint64_t size = ptx::size_bytes(access.type);
  Value* last = nullptr;
  for (unsigned i = 0; i < access.count; ++i) {
    Value* content = values[i];
    if (content->getType()->isVectorTy()) {
      if (last == nullptr) {
        Value* zeros = b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, mask_bits(), b_.getFalse());
        last = b_.CreateAnd(b_.CreateSub(i32(31), zeros), i32(lanes_ - 1));
      }
      content = b_.CreateExtractElement(content, last);
    }
    Value* at = i ? b_.CreateAdd(address.base, i64(i * size)) : address.base;
    b_.CreateAlignedStore(content, b_.CreateIntToPtr(at, b_.getPtrTy()), llvm::Align(size),
                          access.is_volatile);
  }
}

/// Stores all elements of the span by one vector store.
void ShapedAccess::store_offsets(const Address& address, const Access& access,
                                 const std::vector<Value*>& values) {
  // The elements of all lanes fill the span without gaps, so one shuffle puts them in order.
  if (rows_.is_permuted(address, access))
    return writer_.store(address, access, rows_.permuted_rows(values));
  const auto size = static_cast<int64_t>(ptx::size_bytes(access.type));
  std::vector<int> pick(access.count * lanes_);
  for (uint32_t l = 0; l < lanes_; ++l) {
    for (unsigned i = 0; i < access.count; ++i) {
      const auto place = static_cast<size_t>((*address.offsets)[l] / size + i);
      KM_ASSERT(place < pick.size(), "the elements of all lanes fill the span without gaps");
      pick[place] = static_cast<int>(i * lanes_ + l);
    }
  }
  Value* whole = llvm::concatenateVectors(b_, values);
  writer_.store(address, access, b_.CreateShuffleVector(whole, pick));
}

/// Stores lane by lane, lowest first, so that the highest lane wins if addresses are equal.
void ShapedAccess::store_each(const Address& address, const Access& access, Value* content) {
  const llvm::Align align(ptx::size_bytes(access.type));
  for (uint32_t l = 0; l < lanes_; ++l) {
    Value* at = b_.CreateAdd(address.base, i64(static_cast<uint64_t>((*address.offsets)[l])));
    b_.CreateAlignedStore(b_.CreateExtractElement(content, l), b_.CreateIntToPtr(at, b_.getPtrTy()),
                          align);
  }
}

}  // namespace km::simt
