#include "simt/codegen/addresses.h"

#include <algorithm>
#include <bit>

#include "base/arch/constants.h"
#include "base/assert.h"
#include "simt/analysis/memory/memory_access.h"
#include "simt/codegen/parameter_addresses.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Operand;
using ptx::Type;

bool Addresses::is_at_hand(ValueId value) const {
  const BlockId home = kernel_.values[value].block;
  if (home == kNone || position_.region == 0 || is_rematerialised(kernel_, value)) return true;
  const auto& kept = plan_.regions.live_in[position_.region];
  if (std::binary_search(kept.begin(), kept.end(), value)) return true;
  const Region& region = plan_.regions.list[position_.region];
  return std::binary_search(region.blocks.begin(), region.blocks.end(), home) &&
         !plan_.shapes->dominators.dominates(home, region.entry);
}

/// Adds the other forms and the alignment of a varying address that the plan found.
void Addresses::add_form(Address& address, const Inst& inst, const Operand& operand) {
  const auto offset = static_cast<uint64_t>(operand.offset);
  if (address.space == ptx::Space::shared) {
    Value* own = builder_.coerce(values_.vector(address.varying),
                                 kernel_.values[address.varying].type, Type::b32);
    address.index = {b_.CreateAdd(frame_.shared(), i64(offset)), own, 1};
    address.low_lanes = offset == 0 ? own : b_.CreateAdd(own, splat(i32(offset)));
  }
  const AddressPlan* const found = code_plan_.addresses.find(inst);
  if (found == nullptr || memory_access(kernel_, inst)->place != &operand) return;
  const AddressPlan& plan = *found;
  const std::vector<ValueId> reads = code_plan_.addresses.reads(inst);
  if (!std::all_of(reads.begin(), reads.end(), [&](ValueId v) { return is_at_hand(v); })) return;
  if (plan.root) {
    address.congruent = i64(0);
    if (*plan.root != kNone) {
      address.congruent =
          builder_.coerce(values_.scalar(*plan.root), kernel_.values[*plan.root].type, Type::b64);
    }
    address.congruent = b_.CreateAdd(address.congruent, i64(offset));
  }
  if (!plan.indexed) return;
  const IndexedAddress& form = *plan.indexed;
  uint64_t distance = offset + static_cast<uint64_t>(form.offset);
  Value* index = values_.operand(*form.widening, form.index, Type::u32, true, true);
  // GEPs sign-extend indices, so an unsigned one is moved by -2^31 and the base by the opposite.
  if (form.is_unsigned) {
    index = b_.CreateXor(index, splat(i32(uint64_t{1} << 31)));
    distance += uint64_t{form.scale} << 31;
  }
  Value* base =
      builder_.coerce(values_.scalar(form.base), kernel_.values[form.base].type, Type::b64);
  address.index = {b_.CreateAdd(base, i64(distance)), index, form.scale};
}

llvm::Value* Addresses::lane_pointers(const LaneIndex& index, Value* lanes, uint64_t offset_bytes) {
  KM_ASSERT(index.lanes != nullptr || lanes != nullptr,
            "the lanes have either indices from a base or addresses");
  if (index.lanes == nullptr) {
    Value* at = offset_bytes ? b_.CreateAdd(lanes, splat(i64(offset_bytes))) : lanes;
    return b_.CreateIntToPtr(at, vector_of(b_.getPtrTy()));
  }
  Value* base = b_.CreateIntToPtr(b_.CreateAdd(index.base, i64(offset_bytes)), b_.getPtrTy());
  return b_.CreateGEP(b_.getIntNTy(8 * index.scale), base, index.lanes);
}

std::vector<llvm::Value*> Addresses::lane_arguments(const LaneIndex& index, Value* lanes,
                                                    uint64_t offset_bytes) {
  if (index.lanes != nullptr) {
    return {b_.CreateAdd(index.base, i64(offset_bytes)), index.lanes};
  }
  return {offset_bytes ? b_.CreateAdd(lanes, splat(i64(offset_bytes))) : lanes};
}

/// The address of a variable named by the operand. It is uniform except in local memory.
Address Addresses::symbol_address_of(const Operand& operand, ptx::Space space) {
  Address address;
  address.space = space;
  if (space == ptx::Space::param) {
    address.base = registers_.parameter_address(operand);
    address.align_bits = 64;
    return address;
  }
  const auto& symbol = kernel_.symbol_of(operand);
  const auto bits = static_cast<uint64_t>(symbol.align_bytes | operand.offset | 64);
  address.align_bits = static_cast<unsigned>(__builtin_ctzll(bits));
  if (space == ptx::Space::local && plan_.layout->is_side_by_side()) {
    address.base = registers_.symbol_address(operand, false);
    address.offsets = &local_distances_;
    address.exact = [this, &operand] { return registers_.symbol_address(operand, true); };
    return address;
  }
  if (space == ptx::Space::local) {
    address.lanes = registers_.symbol_address(operand, true);
    return address;
  }
  address.base = registers_.symbol_address(operand, false);
  if (space == ptx::Space::shared) address.base = b_.CreateAdd(frame_.shared(), address.base);
  return address;
}

Address Addresses::address_of(const Inst& inst, const Operand& operand, ptx::Space space) {
  if (operand.symbol != ptx::kNone) return symbol_address_of(operand, space);
  Address address;
  address.space = space;
  const bool shared = space == ptx::Space::shared;
  if (operand.reg == ptx::kNone) {
    address.base = i64(static_cast<uint64_t>(operand.offset));
    if (shared) address.base = b_.CreateAdd(frame_.shared(), address.base);
    return address;
  }
  const ValueId value = inst.read(operand.reg);
  const Shape shape = values_.shape_of(value);
  const bool narrow = ptx::size_bits(kernel_.values[value].type) == 32;
  const bool is_param = space == ptx::Space::param;
  auto finish = [this, shared, narrow, is_param, offset = operand.offset](Value* content) {
    const bool lanes = content->getType()->isVectorTy();
    auto wide = [&](Value* scalar) { return lanes ? splat(scalar) : scalar; };
    if (narrow && is_param) {
      content = whole_parameter_address(b_, frame_.params(), content);
    } else if (narrow) {
      auto* type = lanes ? static_cast<llvm::Type*>(vector_of(b_.getInt64Ty())) : b_.getInt64Ty();
      content = shared ? b_.CreateSExt(content, type) : b_.CreateZExt(content, type);
    } else if (shared) {
      content = b_.CreateSExt(
          b_.CreateTrunc(content, lanes ? static_cast<llvm::Type*>(vector_of(b_.getInt32Ty()))
                                        : b_.getInt32Ty()),
          lanes ? static_cast<llvm::Type*>(vector_of(b_.getInt64Ty())) : b_.getInt64Ty());
    }
    if (shared) content = b_.CreateAdd(content, wide(frame_.shared()));
    return offset ? b_.CreateAdd(content, wide(i64(static_cast<uint64_t>(offset)))) : content;
  };
  if (shape.is_varying()) {
    address.lanes = address.start = finish(values_.vector(value));
    address.varying = value;
    if (!shared && !narrow) {
      address.start = values_.vector(value);
      address.offset_bytes = static_cast<uint64_t>(operand.offset);
    }
    add_form(address, inst, operand);
    return address;
  }
  address.base = finish(values_.scalar(value));
  address.align_bits = std::min<unsigned>(
      shape.align,
      operand.offset == 0
          ? 64u
          : static_cast<unsigned>(__builtin_ctzll(static_cast<uint64_t>(operand.offset))));
  if (shape.is_offset()) {
    address.offsets = &plan_.shapes->offsets[shape.offsets];
    address.ok = values_.no_wrap(value);
    address.exact = [this, value, finish] { return finish(values_.vector(value)); };
  }
  return address;
}

/// True if the lanes access one place of their local memories.
bool Addresses::is_at_own_distance(const Address& address) const {
  return address.offsets != nullptr &&
         std::equal(local_distances_.begin(), local_distances_.begin() + lanes_,
                    address.offsets->begin());
}

/// The offset from the begin of the lane's memory becomes one over that of all lanes.
llvm::Value* Addresses::side_by_side(Value* address, bool as_vector) {
  Value* const begin = registers_.local_begin(as_vector);
  Value* const lanes = i64(lanes_);
  Value* const offset = b_.CreateSub(address, begin);
  return b_.CreateAdd(begin, b_.CreateMul(offset, as_vector ? splat(lanes) : lanes));
}

Address Addresses::side_by_side(const Address& address) {
  KM_ASSERT(plan_.layout->is_side_by_side() && address.space == ptx::Space::local,
            "only local memory has its elements side by side, and not in each kernel");
  Address place;
  place.space = address.space;
  place.align_bits = static_cast<unsigned>(std::countr_zero(plan_.layout->local_element_bytes));
  const bool is_single = address.lanes == nullptr && address.offsets == nullptr;
  if (!is_at_own_distance(address) && !is_single) {
    place.lanes = place.start = side_by_side(lanes_of(address), true);
    return place;
  }
  place.base = side_by_side(address.base, false);
  if (is_single) return place;
  place.offsets = &local_distances_;
  place.ok = address.ok;
  place.exact = [this, exact = address.exact] { return side_by_side(exact(), true); };
  return place;
}

Address Addresses::in_first_lane(const Address& address) {
  Address place;
  place.space = address.space;
  if (address.lanes == nullptr && (address.offsets == nullptr || is_at_own_distance(address))) {
    place.base = address.base;
    return place;
  }
  Value* const distances =
      b_.CreateSub(registers_.local_begin(true), splat(registers_.local_begin(false)));
  place.lanes = b_.CreateSub(lanes_of(address), distances);
  return place;
}

Address Addresses::moved(const Address& address, uint64_t distance_bytes) {
  Address place = address;
  place.forget_forms();
  place.align_bits =
      std::min<unsigned>(place.align_bits, static_cast<unsigned>(std::countr_zero(distance_bytes)));
  if (address.base != nullptr) place.base = b_.CreateAdd(address.base, i64(distance_bytes));
  if (address.lanes != nullptr) {
    place.lanes = place.start = b_.CreateAdd(address.lanes, splat(i64(distance_bytes)));
  }
  if (address.exact) {
    place.exact = [this, exact = address.exact, distance_bytes] {
      return b_.CreateAdd(exact(), splat(i64(distance_bytes)));
    };
  }
  return place;
}

llvm::Value* Addresses::lanes_of(const Address& address) {
  if (address.lanes != nullptr) return address.lanes;
  KM_ASSERT(address.base != nullptr, "an address has either a base or a vector of lanes");
  if (address.exact) return address.exact();
  return splat(address.base);
}

LaneIndex Addresses::index_of(const Address& address) {
  if (address.offsets == nullptr || address.ok != nullptr) return {};
  std::vector<uint32_t> distances;
  for (uint32_t l = 0; l < lanes_; ++l) {
    const int64_t offset = (*address.offsets)[l];
    if (offset != static_cast<int32_t>(offset)) return {};
    distances.push_back(static_cast<uint32_t>(offset));
  }
  return {address.base, llvm::ConstantDataVector::get(context_, distances), 1};
}

llvm::Value* Addresses::lies_on_one_page(Value* first, uint64_t size_bytes) {
  KM_ASSERT(size_bytes != 0 && size_bytes <= arch::kLeastPageBytes,
            "memory that is tested to be on one page fits into a page");
  Value* offset = b_.CreateAnd(first, i64(arch::kLeastPageBytes - 1));
  return b_.CreateICmpULE(offset, i64(arch::kLeastPageBytes - size_bytes));
}

}  // namespace km::simt
