#include "simt/codegen/lower/checks/access_checks.h"

#include <algorithm>
#include <array>
#include <bit>

#include "simt/codegen/lower/lanes/lane_helpers.h"
#include "simt/plan/memory/lane_runs.h"

namespace km::simt {

using ptx::Opcode;
using ptx::Operand;

namespace {

/// A range that holds no address at first. Zeros, which variables begin with, would hold null.
llvm::AllocaInst* empty_range(CodeBuilder& builder) {
  auto* const word = llvm::Type::getInt64Ty(builder.context());
  auto* const range = builder.variable(llvm::ArrayType::get(word, 2), "range");
  llvm::IRBuilder<> after(range->getNextNode()->getNextNode());  // the store of zeros is between
  after.CreateStore(after.getInt64(UINT64_MAX), range);
  return range;
}

}  // namespace

Address AccessChecks::check_access(const Inst& inst, Address address) {
  const MemoryAccess access = *memory_access(kernel_, inst);
  const bool goes_on = (plan_.variant.tools & check_tool::kMemory) != 0;
  if (goes_on && access.space != ptx::Space::param) return replace_invalid(inst, access, address);
  if (joint_.are_side_by_side(access)) {
    check_alignment(addresses_.in_first_lane(address), access.size_bytes);
    address = addresses_.side_by_side(address);
  } else {
    check_alignment(address, access.size_bytes);
  }
  if (code_plan_.privatized.is_used()) privatized_.flush_if_overlapping(access, inst, address);
  if (plan_.variant.checked && !is_within_symbol(kernel_, access))
    check_range(inst, access, address);
  return address;
}

/// The bytes from the first to the end of the last element of a lane.
uint64_t AccessChecks::extent_bytes(const MemoryAccess& access) const {
  if (!joint_.are_side_by_side(access)) return access.size_bytes;
  const uint64_t element_bytes = plan_.layout->local_element_bytes;
  return (access.size_bytes - element_bytes) * lanes_ + element_bytes;
}

/// The address that decides for the whole packet whether an access is aligned, because the
/// distances between lanes are multiples of the size; null: each lane decides. Nothing if all lanes
/// surely are.
std::optional<llvm::Value*> AccessChecks::deciding_address(const Address& address,
                                                           uint64_t size_bytes) {
  const bool apart =
      address.offsets == nullptr || are_multiples_apart(*address.offsets, lanes_, size_bytes);
  const auto bits = static_cast<unsigned>(__builtin_ctzll(size_bytes));
  if (apart && address.align_bits >= bits) return std::nullopt;
  return apart && address.lanes == nullptr ? address.base : address.congruent;
}

/// Tests alignment.
void AccessChecks::check_alignment(const Address& address, uint64_t size_bytes) {
  const std::optional<Value*> deciding = deciding_address(address, size_bytes);
  if (!deciding) return;
  if (*deciding == nullptr) {
    Value* const addresses = address.index.lanes ? nullptr : addresses_.lanes_of(address);
    if (!machine().has_mask_registers() && !inline_tests_.take()) {
      require_aligned(address.index, addresses, mask_bits(), size_bytes);
      return;
    }
    Value* low = address.low_lanes ? address.low_lanes : addresses_.lanes_of(address);
    Value* bad = misaligned_lanes(low, size_bytes);
    return builder_.branch_unlikely(builder_.any(bad), [&] {
      raise_misaligned(address.index, addresses, builder_.bits_of(bad), size_bytes);
    });
  }
  Value* misaligned = is_no_multiple(*deciding, size_bytes);
  builder_.branch_unlikely(misaligned, [&] { raise_misaligned(address, size_bytes); });
}

/// Checked mode: tests whether the access is in the range that this place used last, and otherwise
/// asks the runtime. If lanes are at known distances, one comparison decides for the whole packet.
void AccessChecks::check_range(const Inst& inst, const MemoryAccess& access,
                               const Address& address) {
  const JointAccesses::Group* const group = joint_.group_of(inst, access);
  if (group != nullptr && group->first != &inst) return;
  const std::vector<MemoryAccess> together =
      group != nullptr ? joint_.list_from(inst, access) : std::vector<MemoryAccess>{access};
  int64_t low = 0, high = 0;  // relative to this access
  for (const MemoryAccess& each : together) {
    const int64_t offset = each.place->offset - access.place->offset;
    low = std::min(low, offset);
    high = std::max(high, offset + static_cast<int64_t>(extent_bytes(each)));
  }
  const auto [least, most] = extremes_of(address.offsets, lanes_);
  low += least;
  high += most;
  auto* range = builder_.variable(llvm::ArrayType::get(b_.getInt64Ty(), 2), "range");
  Value* outside = reports_.outside_range(address, range, low);
  auto* addresses = builder_.variable(vector_of(b_.getInt64Ty()), "addresses");
  builder_.branch_unlikely(outside, [&] {
    b_.CreateStore(addresses_.lanes_of(address), addresses);
    auto* pointer = b_.getPtrTy();
    auto* type = llvm::FunctionType::get(b_.getVoidTy(),
                                         {pointer, pointer, pointer, b_.getInt32Ty(), pointer,
                                          b_.getInt32Ty(), b_.getInt64Ty(), pointer},
                                         false);
    frame_.call_runtime(
        offsetof(RuntimeTable, check_range), type,
        {frame_.record(), frame_.state(), addresses, mask_bits(), access_table(together),
         i32(together.size()), i64(static_cast<uint64_t>(high - low)), range});
  });
}

/// The active lanes whose addresses, or low halves of them, are no multiples of the size.
llvm::Value* AccessChecks::misaligned_lanes(Value* low, uint64_t size_bytes) {
  auto* rest = llvm::ConstantInt::get(low->getType(), size_bytes - 1);
  auto* none = llvm::Constant::getNullValue(low->getType());
  return builder_.and_masks(mask(), b_.CreateICmpNE(b_.CreateAnd(low, rest), none));
}

/// True (i1) if an address is no multiple of the size.
llvm::Value* AccessChecks::is_no_multiple(Value* address, uint64_t size_bytes) {
  return b_.CreateICmpNE(b_.CreateAnd(address, i64(size_bytes - 1)), i64(0));
}

/// True (i1) if an active lane's address may be no multiple of the size; null: none can.
llvm::Value* AccessChecks::is_misaligned(const Address& address, uint64_t size_bytes) {
  const std::optional<Value*> deciding = deciding_address(address, size_bytes);
  if (!deciding) return nullptr;
  if (*deciding != nullptr) return is_no_multiple(*deciding, size_bytes);
  return builder_.any(misaligned_lanes(addresses_.lanes_of(address), size_bytes));
}

/// No lane accesses invalid memory.
AccessChecks::Found AccessChecks::none_invalid(const Address& address) {
  auto* row = vector_of(b_.getInt64Ty());
  return {b_.getFalse(),
          address.lanes != nullptr ? address.lanes : llvm::Constant::getNullValue(row)};
}

/// Tests an access by itself, and asks the runtime if it is in no range that its place knows.
AccessChecks::Found AccessChecks::find_invalid(const Inst& inst, const MemoryAccess& access,
                                               const Address& address, const InvalidTest& test) {
  const auto [least, most] = extremes_of(address.offsets, lanes_);
  Value* suspicious = reports_.outside_range(address, test.range, least);
  if (test.misaligned != nullptr) suspicious = b_.CreateOr(suspicious, test.misaligned);
  auto* row = vector_of(b_.getInt64Ty());
  auto* addresses = builder_.variable(row, "addresses");
  const auto ask = [&]() -> Found {
    b_.CreateStore(addresses_.lanes_of(address), addresses);
    Value* bad = reports_.call_filter(
        note_of(inst, access), {addresses, access.held_bytes, test.extent_bytes, test.range});
    return {b_.CreateICmpNE(bad, i32(0)), b_.CreateLoad(row, addresses)};
  };
  return builder_.choose(suspicious, ask, [&] { return none_invalid(address); });
}

/// Tests an access. The first one of a group tests the memory of the others as well, so that they
/// need no test if all is in one range.
AccessChecks::Found AccessChecks::find_invalid(const Inst& inst, const MemoryAccess& access,
                                               const Address& address) {
  const std::pair<int64_t, int64_t> extremes = extremes_of(address.offsets, lanes_);
  const uint64_t own_bytes =
      static_cast<uint64_t>(extremes.second - extremes.first) + access.size_bytes;
  const InvalidTest own{empty_range(builder_), own_bytes,
                        is_misaligned(address, access.size_bytes)};
  JointAccesses::Group* const group = joint_.group_of(inst, access);
  if (group == nullptr) return find_invalid(inst, access, address, own);
  const bool is_first = group->first == &inst;
  auto* joint = is_first ? empty_range(builder_) : nullptr;
  const int64_t low_bytes = extremes.first + group->low_bytes;
  Value* is_unsure =
      is_first ? reports_.outside_range(address, joint, low_bytes) : group->may_be_invalid;
  if (own.misaligned != nullptr) is_unsure = b_.CreateOr(is_unsure, own.misaligned);
  const auto known = [&]() -> Found {
    Found none = none_invalid(address);
    none.push_back(b_.getFalse());
    return none;
  };
  const auto test = [&]() -> Found {
    Found found = find_invalid(inst, access, address, own);
    if (!is_first) return found.push_back(b_.getTrue()), found;
    reports_.narrow_range(own.range, joint, group->extent_bytes(extremes) - own_bytes);
    found.push_back(reports_.outside_range(address, joint, low_bytes));
    return found;
  };
  const Found found = builder_.choose(b_.CreateNot(is_unsure), known, test);
  if (is_first) group->may_be_invalid = found[2];
  return found;
}

/// Tests an access for the checker, which goes on: lanes at invalid addresses get that of memory
/// that nobody uses.
Address AccessChecks::replace_invalid(const Inst& inst, const MemoryAccess& access,
                                      const Address& address) {
  const Found found = find_invalid(inst, access, address);
  Address safe = address;
  safe.forget_forms();
  if (address.lanes != nullptr) {
    safe.lanes = found[1];
    return safe;
  }
  if (address.offsets == nullptr) {
    Value* first = builder_.of_first_lane(found[1], mask_bits());
    safe.base = b_.CreateSelect(found[0], first, address.base);
    return safe;
  }
  Value* fits = b_.CreateNot(found[0]);
  safe.ok = address.ok != nullptr ? b_.CreateAnd(address.ok, fits) : fits;
  safe.exact = [this, address, found] {
    return b_.CreateSelect(found[0], found[1], addresses_.lanes_of(address));
  };
  return safe;
}

/// The constant table of AccessPart records, from which the runtime reports the access that failed.
llvm::Constant* AccessChecks::access_table(const std::vector<MemoryAccess>& together) {
  std::vector<uint64_t> words;
  for (const MemoryAccess& each : together) {
    const AccessPart part{each.place->offset - together[0].place->offset,
                          static_cast<uint16_t>(each.size_bytes),
                          static_cast<uint16_t>(each.held_bytes), each.line};
    const auto pair = std::bit_cast<std::array<uint64_t, 2>>(part);
    words.insert(words.end(), pair.begin(), pair.end());
  }
  return builder_.private_constant(llvm::ConstantDataArray::get(context_, words), "km_accesses");
}

llvm::Value* AccessChecks::access_site(uint64_t size_bytes, int64_t step_bytes) {
  const AccessSite site{builder_.current_line(), static_cast<uint16_t>(size_bytes),
                        static_cast<int16_t>(step_bytes)};
  return i64(std::bit_cast<uint64_t>(site));
}

void AccessChecks::require_aligned(const LaneIndex& index, Value* addresses, Value* bits,
                                   uint64_t size_bytes) {
  std::vector<Value*> arguments = addresses_.lane_arguments(index, addresses, 0);
  arguments.insert(arguments.end(),
                   {bits, access_site(size_bytes, 0), frame_.runtime(), frame_.state()});
  b_.CreateCall(alignment_helper(builder_, scale_of(index)), arguments);
}

/// Ends the launch for the lanes of `bits`, which are all misaligned.
void AccessChecks::raise_misaligned(const LaneIndex& index, Value* addresses, Value* bits,
                                    uint64_t size_bytes) {
  Value* address = builder_.of_first_lane(index.lanes ? index.lanes : addresses, bits);
  if (index.lanes != nullptr) {
    Value* distance = b_.CreateMul(b_.CreateSExt(address, b_.getInt64Ty()), i64(index.scale));
    address = b_.CreateAdd(index.base, distance);
  }
  call_misaligned(address, bits, access_site(size_bytes, 0));
}

/// Ends the launch for all active lanes of an access.
void AccessChecks::raise_misaligned(const Address& address, uint64_t size_bytes) {
  int64_t step_bytes = 0;
  bool has_step = address.lanes == nullptr;
  if (address.offsets != nullptr) {
    const LaneRun run = run_of(*address.offsets, lanes_);
    step_bytes = run.step;
    has_step = run.lanes == lanes_ && step_bytes == static_cast<int16_t>(step_bytes);
  }
  if (has_step) {
    return call_misaligned(address.base, mask_bits(), access_site(size_bytes, step_bytes));
  }
  Value* const lanes = address.index.lanes ? nullptr : addresses_.lanes_of(address);
  raise_misaligned(address.index, lanes, mask_bits(), size_bytes);
}

void AccessChecks::call_misaligned(Value* address, Value* bits, Value* site) {
  end_launch(b_, frame_.runtime(), offsetof(RuntimeTable, misaligned),
             {frame_.state(), address, bits, site});
  b_.SetInsertPoint(builder_.new_block("raised"));
}

void AccessChecks::check_lanes(const Inst& inst, const LaneAccess& access, Value* lanes) {
  auto* zeros = llvm::Constant::getNullValue(access.addresses->getType());
  if (access.align_bytes > 1) {
    Value* low = b_.CreateAnd(access.addresses, splat(i64(access.align_bytes - 1)));
    Value* touches = b_.CreateICmpNE(splat(access.sizes), zeros);
    Value* bad = builder_.and_masks(lanes, b_.CreateAnd(touches, b_.CreateICmpNE(low, zeros)));
    builder_.branch_unlikely(builder_.any(bad), [&] {
      raise_misaligned({}, access.addresses, builder_.bits_of(bad), access.align_bytes);
    });
  }
  check_lane_ranges(inst, access, lanes);
  frame_.note_line();
}

void AccessChecks::check_lanes(const Inst& inst, const Address& address, uint64_t size_bytes) {
  check_alignment(address, size_bytes);
  frame_.note_line();
  if (!plan_.variant.checked) return;
  check_lane_ranges(inst, {addresses_.lanes_of(address), i64(size_bytes), size_bytes}, mask());
}

void AccessChecks::check_lane_ranges(const Inst& inst, const LaneAccess& access, Value* lanes) {
  if (!plan_.variant.checked) return;
  Value* sizes = splat(access.sizes);
  auto* range = builder_.variable(llvm::ArrayType::get(b_.getInt64Ty(), 2), "range");
  Value* begin = splat(builder_.load_field(range, 0, b_.getInt64Ty(), false));
  Value* extent = splat(builder_.load_field(range, 8, b_.getInt64Ty(), false));
  Value* distance = b_.CreateSub(access.addresses, begin);
  Value* outside = b_.CreateOr(b_.CreateICmpUGT(sizes, extent),
                               b_.CreateICmpUGT(distance, b_.CreateSub(extent, sizes)));
  Value* touches = b_.CreateICmpNE(sizes, llvm::Constant::getNullValue(sizes->getType()));
  outside = builder_.and_masks(lanes, b_.CreateAnd(touches, outside));
  auto* addresses = builder_.variable(sizes->getType(), "addresses");
  auto* counts = builder_.variable(sizes->getType(), "sizes");
  builder_.branch_unlikely(builder_.any(outside), [&] {
    b_.CreateStore(access.addresses, addresses);
    b_.CreateStore(sizes, counts);
    auto* pointer = b_.getPtrTy();
    auto* type = llvm::FunctionType::get(
        b_.getVoidTy(),
        {pointer, pointer, pointer, pointer, b_.getInt32Ty(), b_.getInt32Ty(), pointer}, false);
    frame_.call_runtime(offsetof(RuntimeTable, check_sizes), type,
                        {frame_.record(), frame_.state(), addresses, counts,
                         builder_.bits_of(lanes), i32(inst.ptx->location.line), range});
  });
}

}  // namespace km::simt
