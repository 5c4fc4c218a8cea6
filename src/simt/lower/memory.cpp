// Loads and stores by the shape of their address: uniform, offsets known at compile time, or any.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <map>
#include <set>

#include "simt/emit/emitter.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

/// Lanes lie side by side: one vector access.
bool Emitter::is_dense(const Address& address, const Access& access) const {
  if (address.offsets == nullptr || access.count != 1) return false;
  const auto size = static_cast<int64_t>(ptx::size_bytes(access.type));
  for (uint32_t l = 0; l < lanes_; ++l) {
    if ((*address.offsets)[l] != size * l) return false;
  }
  return true;
}

/// Elements from the lowest to behind the highest one touched, when the gaps are small enough to
/// read over (gaps below a page cannot fault when their ends do not).
std::optional<int64_t> Emitter::wide_span(const Address& address, const Access& access) const {
  if (address.offsets == nullptr || access.is_volatile) return std::nullopt;
  const auto size = static_cast<int64_t>(ptx::size_bytes(access.type));
  int64_t high = 0;
  for (uint32_t l = 0; l < lanes_; ++l) {
    const int64_t offset = (*address.offsets)[l];
    if (offset < 0 || offset % size != 0) return std::nullopt;
    high = std::max(high, offset);
  }
  const int64_t elements = high / size + access.count;
  if (elements > int64_t{4} * lanes_) return std::nullopt;
  return elements;
}

// ---- Loads.

void Emitter::lower_load(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const Operand& source = ptx.operands[1];
  Access access;
  access.type = ptx.types[ptx.type_count - 1];
  const Operand& target = ptx.operands[0];
  access.count = target.kind == Operand::Kind::vector ? target.count : 1;
  access.is_volatile = is_strong_access(ptx);
  const ptx::Space space = space_of(kernel_, inst, source);
  access.invariant = space == ptx::Space::param;
  const Address address = addresses_.address_of(inst, source, space);
  checks_.check_access(inst, address);
  prefetch(inst, address, access);
  Value* content = load_with_neighbours(inst, address, access);
  const std::vector<Value*> results =
      content ? std::vector<Value*>{content} : load_parts(address, access);
  if (ptx.has(Modifier::acquire)) b_.CreateFence(llvm::AtomicOrdering::Acquire);
  for (unsigned i = 0; i < access.count; ++i) {
    const Operand& part = access.count == 1 && target.kind == Operand::Kind::reg
                              ? target
                              : kernel_.function->operand_pool[target.first + i];
    if (part.kind == Operand::Kind::reg)
      values_.define_result(inst, part.reg, results[i], access.type);
  }
}

/// 128 bits at once, as other threads see them.
llvm::Value* Emitter::load_whole(const Address& address) {
  auto load_at = [](llvm::IRBuilder<>& b, Value* at) {
    auto* type = llvm::FixedVectorType::get(b.getInt64Ty(), 2);
    Value* pointer = b.CreateIntToPtr(at, b.getPtrTy());
    Value* whole = b.CreateAlignedLoad(type, pointer, llvm::Align(16), true);
    return b.CreateBitCast(whole, b.getInt128Ty());
  };
  if (address.lanes == nullptr && address.offsets == nullptr) return load_at(b_, address.base);
  frame_.note_line();
  return loops_.for_lanes("load_whole", type_of(Type::b128), {addresses_.lanes_of(address)},
                          [&](llvm::IRBuilder<>& b, const std::vector<Value*>& lane) -> Value* {
                            return load_at(b, lane[0]);
                          });
}

void Emitter::store_whole(const Address& address, Value* content) {
  frame_.note_line();
  loops_.for_lanes("store_whole", b_.getVoidTy(), {addresses_.lanes_of(address), content},
                   [](llvm::IRBuilder<>& b, const std::vector<Value*>& lane) -> Value* {
                     auto* type = llvm::FixedVectorType::get(b.getInt64Ty(), 2);
                     Value* at = b.CreateIntToPtr(lane[0], b.getPtrTy());
                     b.CreateAlignedStore(b.CreateBitCast(lane[1], type), at, llvm::Align(16),
                                          true);
                     return nullptr;
                   });
}

/// Elements of 128 bits are two of 64.
std::vector<llvm::Value*> Emitter::load_parts(const Address& address, const Access& access) {
  if (access.type != Type::b128) return load(address, access);
  if (access.is_volatile && access.count == 1) return {load_whole(address)};
  Access halves = access;
  halves.type = Type::b64;
  halves.count *= 2;
  const std::vector<Value*> parts = load(address, halves);
  std::vector<Value*> results;
  for (unsigned i = 0; i < halves.count; i += 2) {
    llvm::Type* wide = type_of(Type::b128);
    if (parts[i]->getType()->isVectorTy()) wide = vector_of(wide);
    Value* high = b_.CreateShl(b_.CreateZExt(parts[i + 1], wide), 64);
    results.push_back(b_.CreateOr(high, b_.CreateZExt(parts[i], wide)));
  }
  return results;
}

void Emitter::store_parts(const Address& address, const Access& access,
                          const std::vector<Value*>& values) {
  if (access.type != Type::b128) return store(address, access, values);
  if (access.is_volatile && access.count == 1) return store_whole(address, values[0]);
  Access halves = access;
  halves.type = Type::b64;
  halves.count *= 2;
  std::vector<Value*> parts;
  for (Value* whole : values) {
    llvm::Type* narrow = b_.getInt64Ty();
    if (whole->getType()->isVectorTy()) narrow = vector_of(narrow);
    parts.push_back(b_.CreateTrunc(whole, narrow));
    parts.push_back(b_.CreateTrunc(b_.CreateLShr(whole, 64), narrow));
  }
  store(address, halves, parts);
}

std::vector<llvm::Value*> Emitter::load(const Address& address, const Access& access) {
  if (address.lanes != nullptr) return load_lanes(address, access);
  if (address.offsets == nullptr) return load_uniform(address, access);
  if (access.is_volatile) return gather_at(address, access);
  Value* usable = address.ok ? address.ok : b_.getTrue();
  const bool dense = is_dense(address, access);
  if (!dense && !wide_span(address, access) && (access.count > 1 || !inline_apart_.take())) {
    return gather_at(address, access);
  }
  if (!dense) usable = b_.CreateAnd(usable, builder_.all(mask()));
  Access rare = access;
  rare.is_rare = !has_avx512();
  return builder_.choose(
      usable, [&] { return load_offsets(address, access); },
      [&] { return gather_at(address, rare); });
}

std::vector<llvm::Value*> Emitter::load_uniform(const Address& address, const Access& access) {
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

std::vector<llvm::Value*> Emitter::load_offsets(const Address& address, const Access& access) {
  if (is_dense(address, access)) return load_dense(address, access);
  return wide_span(address, access) ? load_wide(address, access) : load_each(address, access);
}

/// One load over all lanes, then each lane picks its elements.
std::vector<llvm::Value*> Emitter::load_wide(const Address& address, const Access& access) {
  const auto elements = static_cast<unsigned>(*wide_span(address, access));
  auto* type = llvm::FixedVectorType::get(type_of(access.type), elements);
  const auto size = static_cast<int64_t>(ptx::size_bytes(access.type));
  Value* pointer = b_.CreateIntToPtr(address.base, b_.getPtrTy());
  Value* whole = builder_.beside_context(
      b_.CreateAlignedLoad(type, pointer, llvm::Align(static_cast<uint64_t>(size))));
  if (is_permuted(address, access)) return permuted_columns(whole);
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

/// One plain load for each distinct place, which is quicker than any gather: the distances from the
/// base are constants.
std::vector<llvm::Value*> Emitter::load_each(const Address& address, const Access& access) {
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

/// Stores lane by lane, the lowest first.
void Emitter::store_each(const Address& address, const Access& access, Value* content) {
  const llvm::Align align(ptx::size_bytes(access.type));
  for (uint32_t l = 0; l < lanes_; ++l) {
    Value* at = b_.CreateAdd(address.base, i64(static_cast<uint64_t>((*address.offsets)[l])));
    b_.CreateAlignedStore(b_.CreateExtractElement(content, l), b_.CreateIntToPtr(at, b_.getPtrTy()),
                          align);
  }
}

std::vector<llvm::Value*> Emitter::load_gather(const LaneIndex& index, const Access& access,
                                               Value* lanes) {
  if (has_rows(access)) return load_rows(access, lanes);
  auto* element = type_of(access.type);
  const uint64_t size = ptx::size_bytes(access.type);
  std::vector<Value*> results;
  for (unsigned i = 0; i < access.count; ++i) {
    auto* type = vector_of(element);
    if (has_avx512() && size >= 4 && !access.is_volatile) {
      Value* pointers = addresses_.lane_pointers(index, lanes, i * size);
      Value* active = mask();
      if (active == nullptr) active = llvm::Constant::getAllOnesValue(vector_of(b_.getInt1Ty()));
      results.push_back(b_.CreateMaskedGather(type, pointers, llvm::Align(size), active,
                                              llvm::Constant::getNullValue(type)));
      continue;
    }
    frame_.note_line();
    std::vector<Value*> arguments = addresses_.lane_arguments(index, lanes, i * size);
    arguments.push_back(mask_bits());
    auto* helper = lane_helpers_.gather_helper(element, access.is_volatile, scale_of(index));
    results.push_back(b_.CreateCall(helper, arguments));
  }
  return results;
}

std::vector<llvm::Value*> Emitter::gather_at(const Address& address, const Access& access) {
  const LaneIndex index = has_rows(access) ? LaneIndex() : addresses_.index_of(address);
  return load_gather(index, access, index.lanes ? nullptr : addresses_.lanes_of(address));
}

// ---- Stores.

void Emitter::lower_store(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const Operand &target = ptx.operands[0], &source = ptx.operands[1];
  Access access;
  access.type = ptx.types[ptx.type_count - 1];
  access.count = source.kind == Operand::Kind::vector ? source.count : 1;
  access.is_volatile = is_strong_access(ptx);
  access.streams = code_plan_.nontemporal.contains(inst);
  if (ptx.has(Modifier::release)) b_.CreateFence(llvm::AtomicOrdering::Release);
  const Address address = addresses_.address_of(inst, target, space_of(kernel_, inst, target));
  checks_.check_access(inst, address);
  const bool uniform = address.lanes == nullptr && address.offsets == nullptr;
  std::vector<Value*> values;
  for (unsigned i = 0; i < access.count; ++i) {
    const Operand& part = source.kind == Operand::Kind::vector
                              ? kernel_.function->operand_pool[source.first + i]
                              : source;
    bool lanes = !uniform;
    if (part.kind == Operand::Kind::reg)
      lanes |= !values_.shape_of(inst.read(part.reg)).is_uniform();
    if (part.kind == Operand::Kind::special) lanes = true;
    values.push_back(values_.operand(inst, part, access.type, lanes, true));
  }
  store_parts(address, access, values);
  if (!ptx.has(Modifier::async)) return;
  mbarriers_.complete_transactions(inst, ptx.operands[2],
                                   i64(access.count * ptx::size_bytes(access.type)));
}

void Emitter::store(const Address& address, const Access& access,
                    const std::vector<Value*>& values) {
  if (address.lanes != nullptr) return store_scatter(address.index, access, values, address.lanes);
  if (address.offsets == nullptr) return store_uniform(address, access, values);
  Value* usable = address.ok ? address.ok : b_.getTrue();
  const auto elements = wide_span(address, access);
  const bool dense = is_dense(address, access);
  const bool interleaved =
      elements && *elements == static_cast<int64_t>(access.count) * lanes_ &&
      std::set<int64_t>(address.offsets->begin(), address.offsets->begin() + lanes_).size() ==
          lanes_;
  const bool apart = !dense && !interleaved;
  Access rare = access;
  rare.is_rare = !apart && !has_avx512();
  auto slow = [&]() -> std::vector<Value*> {
    scatter_at(address, rare, values);
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
    if (dense) return store_dense(address, access, values[0]);
    return builder_.choose(builder_.all(mask()), whole, slow);
  };
  builder_.choose(usable, here, slow);
}

/// All active lanes write one place: one of them wins, here the highest.
void Emitter::store_uniform(const Address& address, const Access& access,
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

void Emitter::store_offsets(const Address& address, const Access& access,
                            const std::vector<Value*>& values) {
  // Lanes and elements interleave without gaps: one store of all of them in order.
  if (is_permuted(address, access)) return store_row(address, access, permuted_rows(values));
  const auto size = static_cast<int64_t>(ptx::size_bytes(access.type));
  std::vector<int> pick(access.count * lanes_);
  for (uint32_t l = 0; l < lanes_; ++l) {
    for (unsigned i = 0; i < access.count; ++i) {
      pick[(*address.offsets)[l] / size + i] = static_cast<int>(i * lanes_ + l);
    }
  }
  Value* whole = llvm::concatenateVectors(b_, values);
  store_row(address, access, b_.CreateShuffleVector(whole, pick));
}

void Emitter::scatter_at(const Address& address, const Access& access,
                         const std::vector<Value*>& values) {
  const LaneIndex index = has_rows(access) ? LaneIndex() : addresses_.index_of(address);
  store_scatter(index, access, values, index.lanes ? nullptr : addresses_.lanes_of(address));
}

void Emitter::store_scatter(const LaneIndex& index, const Access& access,
                            const std::vector<Value*>& values, Value* lanes) {
  if (has_rows(access)) return store_rows(access, values, lanes);
  const uint64_t size = ptx::size_bytes(access.type);
  for (unsigned i = 0; i < access.count; ++i) {
    Value* content = splat(values[i]);
    if (has_avx512() && size >= 4 && !access.is_volatile) {
      Value* pointers = addresses_.lane_pointers(index, lanes, i * size);
      b_.CreateMaskedScatter(content, pointers, llvm::Align(size), mask());
      continue;
    }
    frame_.note_line();
    std::vector<Value*> arguments = addresses_.lane_arguments(index, lanes, i * size);
    arguments.insert(arguments.end(), {content, mask_bits()});
    auto* element = content->getType()->getScalarType();
    b_.CreateCall(lane_helpers_.scatter_helper(element, access.is_volatile, scale_of(index)),
                  arguments);
  }
}

}  // namespace km::simt
