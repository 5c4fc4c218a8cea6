#include "spirv/kernel/memory.h"

#include <algorithm>
#include <cstddef>

#include "ptx/forms.h"
#include "simt/analysis/memory/memory_access.h"
#include "simt/kernel/shared_memory.h"

namespace km::spirv {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using spv::Op;

namespace {

constexpr uint64_t kUpper = 32;
/// The result of a search for an allocation that the driver has ended.
constexpr uint64_t kEndedSearch = 1;

bool names_shared(const ptx::Instruction& instruction) {
  return instruction.has(Modifier::shared) || instruction.has(Modifier::shared_cta);
}

}  // namespace

/// Generic addresses are in shared or local memory only if the kernel converts such addresses.
Memory::Memory(Shader& shader) : s(shader), b(shader.b), has_stack_(shader.input.info.has_stack) {
  has_local_pointers_ = has_stack_;
  for (const simt::BasicBlock& block : s.kernel.blocks) {
    for (const simt::Inst& inst : block.insts) {
      if (inst.ptx->opcode != Opcode::cvta || inst.ptx->has(Modifier::to)) continue;
      has_param_pointers_ = has_param_pointers_ || inst.ptx->has(Modifier::param);
      has_shared_pointers_ = has_shared_pointers_ || names_shared(*inst.ptx);
      has_local_pointers_ = has_local_pointers_ || inst.ptx->has(Modifier::local);
    }
  }
  if (s.input.options.checked) {
    groups_.emplace(s.kernel, !has_shared_pointers_ && !has_local_pointers_);
  }
}

Memory::Place Memory::place_of(const simt::Inst& inst, const Operand& operand) {
  Place place{simt::space_of(s.kernel, inst, operand), nullptr};
  if (operand.symbol != ptx::kNone) {
    Operand symbol = operand;
    place.address = s.symbol_address(symbol);
    return place;
  }
  place.address = s.u64(static_cast<uint64_t>(operand.offset));
  if (operand.reg == ptx::kNone) return place;
  V base = s.read(inst.read(operand.reg));
  const bool is_short = base->type->bits() == 32;  // as addresses in a window may be
  base = b.CreateZExtOrTrunc(base, b.getInt64Ty());
  place.address = operand.offset == 0 ? base : b.CreateAdd(base, place.address);
  if (place.space == Space::local && has_stack_) {
    place.address = b.CreateAnd(place.address, s.u64(UINT32_MAX));
  }
  if (place.space != Space::param) return place;
  if (is_short) place.address = whole_parameter_address(place.address);
  place.is_computed = true;
  return place;
}

/// The address in the launch's parameters of which `address` has the lower 32 bits: compilers take
/// addresses of parameters as 32-bit numbers.
V Memory::whole_parameter_address(V address) {
  V params = s.record_u64(offsetof(LaunchRecord, params));
  const auto low = [&](V whole) { return b.CreateTrunc(whole, b.getInt32Ty()); };
  V offset = b.CreateSub(low(address), low(params));
  return b.CreateAdd(params, b.CreateSExt(offset, b.getInt64Ty()));
}

void Memory::in_space(const simt::Inst& inst, const Place& place, uint32_t size_bytes,
                      uint32_t align_bytes, const Access& access) {
  if (place.space != Space::generic) {
    return checked(inst, place, size_bytes, align_bytes, access);
  }
  V tag = b.CreateTrunc(b.CreateLShr(place.address, s.u64(kUpper)), b.getInt32Ty());
  V offset = b.CreateAnd(place.address, s.u64(0xffffffff));
  const auto global = [&] {
    checked(inst, {Space::global, place.address}, size_bytes, align_bytes, access);
  };
  const auto local = [&] {
    if (!has_local_pointers_) return global();
    s.if_else(
        b.CreateICmpEQ(tag, s.u32(kLocalTag)),
        [&] { checked(inst, {Space::local, offset}, size_bytes, align_bytes, access); }, global);
  };
  if (!has_shared_pointers_) return local();
  s.if_else(
      b.CreateICmpEQ(tag, s.u32(kSharedTag)),
      [&] { checked(inst, {Space::shared, offset}, size_bytes, align_bytes, access); }, local);
}

/// True if one allocation holds the bytes. A search that the driver has ended is the thread's
/// fault.
V Memory::is_allocated(V address, uint32_t size_bytes) {
  V entry = allocation_of(address, size_bytes);
  if (s.facts.most_loop_iterations != 0) {
    s.if_then(b.CreateICmpEQ(entry, s.u64(kEndedSearch)), [&] { s.keep_ended_loop(); });
  }
  return b.CreateICmpUGT(entry, s.u64(kEndedSearch));
}

/// The address of the allocation that holds the bytes, or 0: a binary search for the last one that
/// begins before. All threads make as many rounds, so that none leaves the loop before others
/// (`loses_loop_values`).
V Memory::allocation_of(V address, uint32_t size_bytes) {
  const std::vector<V> arguments{s.record_u64(offsetof(LaunchRecord, allocations)),
                                 s.record_u32(offsetof(LaunchRecord, allocation_count)), address,
                                 s.u64(size_bytes), s.unknown_zero()};
  return s.call("km_allocation_of", b.getInt64Ty(), arguments, [&](const std::vector<V>& given) {
    const auto low = s.new_variable(b.getInt32Ty()), high = s.new_variable(b.getInt32Ty());
    const auto result = s.new_variable(b.getInt64Ty()), left = s.new_variable(b.getInt32Ty());
    s.store(left, given[1]);
    s.store(low, s.u32(0));
    s.store(high, given[1]);
    s.store(result, s.u64(0));
    const auto entry = [&](V index) {
      return b.CreateAdd(
          given[0], b.CreateMul(b.CreateZExt(index, b.getInt64Ty()), s.u64(sizeof(Allocation))));
    };
    s.if_then(b.CreateICmpNE(given[1], s.u32(0)), [&] {
      s.loop([&] {
        V first = s.load(low), last = s.load(high);
        V middle = b.CreateLShr(b.CreateAdd(first, last), s.u32(1));
        middle =
            b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, middle, b.CreateSub(given[1], s.u32(1)));
        V begin = s.load_global(entry(middle), b.getInt64Ty(), sizeof(uint64_t));
        V before = b.CreateICmpULE(begin, given[2]);
        V next = b.CreateSelect(before, b.CreateAdd(middle, s.u32(1)), first);
        V end = b.CreateSelect(before, last, middle);
        s.store(low, next);
        s.store(high, end);
        V half = b.CreateLShr(s.load(left), s.u32(1));
        s.store(left, half);
        return b.CreateICmpNE(half, s.u32(0));
      });
      // The compiler takes it for granted that nothing is left after the loop.
      V rest = b.CreateAdd(s.load(left), given[4]);
      s.if_then(b.CreateICmpNE(rest, s.u32(0)), [&] {
        s.store(low, s.u32(0));
        s.store(result, s.u64(kEndedSearch));
      });
      s.if_then(b.CreateICmpNE(s.load(low), s.u32(0)), [&] {
        V last = entry(b.CreateSub(s.load(low), s.u32(1)));
        V end = s.load_global(b.CreateAdd(last, s.u64(offsetof(Allocation, end))), b.getInt64Ty(),
                              sizeof(uint64_t));
        V room = b.CreateSub(end, given[2]);
        V fits = b.CreateAnd(b.CreateICmpULT(given[2], end), b.CreateICmpULE(given[3], room));
        s.store(result, b.CreateSelect(fits, last, s.u64(0)));
      });
    });
    return s.load(result);
  });
}

/// A word with a bit for each place of the group that is allocated. All threads make as many rounds
/// (`loses_loop_values`).
V Memory::allocated_places(const AccessGroup& group, V first) {
  const auto index = s.new_short_variable(b.getInt32Ty());
  const auto places = s.new_short_variable(b.getInt32Ty());
  s.store(index, s.u32(0));
  s.store(places, s.u32(0));
  s.loop([&] {
    V place = s.load(index);
    V distance = b.CreateMul(b.CreateZExt(place, b.getInt64Ty()), s.u64(group.stride_bytes));
    V found = is_allocated(b.CreateAdd(first, distance), group.size_bytes);
    V bit = b.CreateShl(b.CreateZExt(found, b.getInt32Ty()), place);
    s.store(places, b.CreateOr(s.load(places), bit));
    V next = b.CreateAdd(place, s.u32(1));
    s.store(index, next);
    return b.CreateICmpULT(next, s.u32(group.count));
  });
  return s.load(places);
}

V Memory::is_member_allocated(const AccessGroups::Member& member, V address) {
  auto known = allocated_.find(member.group);
  if (known == allocated_.end()) {
    const AccessGroup& group = (*groups_)[member.group];
    const uint64_t before_bytes = uint64_t{member.index} * group.stride_bytes;
    V places = allocated_places(group, b.CreateSub(address, s.u64(before_bytes)));
    known = allocated_.emplace(member.group, s.new_short_variable(b.getInt32Ty())).first;
    s.store(known->second, places);
  }
  V bit = b.CreateAnd(s.load(known->second), s.u32(uint32_t{1} << member.index));
  return b.CreateICmpNE(bit, s.u32(0));
}

void Memory::checked(const simt::Inst& inst, const Place& place, uint32_t size_bytes,
                     uint32_t align_bytes, const Access& access) {
  const bool is_named = place.space == Space::param && !place.is_computed;
  const bool is_own = place.space == Space::shared || place.space == Space::local;
  const bool is_tested = s.input.options.checked || (s.facts.has_arena && !is_own);
  if (!is_tested || is_named || is_known_inside(place, size_bytes, align_bytes)) {
    return access(place);
  }
  V low_bits = b.CreateAnd(place.address, s.u64(align_bytes - 1));
  V aligned = align_bytes == 1 ? b.getTrue() : b.CreateICmpEQ(low_bits, s.u64(0));
  V inside = is_inside(inst, place, size_bytes);
  s.if_else(
      b.CreateAnd(aligned, inside), [&] { access(place); },
      [&] {
        V kind = b.CreateSelect(aligned, s.u32(word(FaultKind::illegal_address)),
                                s.u32(word(FaultKind::misaligned_address)));
        s.keep_fault(kind, *inst.ptx, place.address, size_bytes);
      });
}

/// True if the bytes lie in the launch's parameters.
V Memory::is_parameter(V address, uint32_t size_bytes) {
  const uint64_t param_bytes = s.input.info.param_bytes;
  if (param_bytes < size_bytes) return b.getFalse();
  V offset = b.CreateSub(address, s.record_u64(offsetof(LaunchRecord, params)));
  return b.CreateICmpULE(offset, s.u64(param_bytes - size_bytes));
}

/// True if the bytes lie in memory of the place's space.
V Memory::is_inside(const simt::Inst& inst, const Place& place, uint32_t size_bytes) {
  const auto& layout = s.input.analysed.layout;
  if (!s.input.options.checked) return s.is_in_arena(place.address);
  if (place.space == Space::param) return is_parameter(place.address, size_bytes);
  if (place.space == Space::global || place.space == Space::constant) {
    const AccessGroups::Member* const member = groups_->find(inst);
    V found = member != nullptr ? is_member_allocated(*member, place.address)
                                : is_allocated(place.address, size_bytes);
    if (!has_param_pointers_) return found;
    return b.CreateOr(found, is_parameter(place.address, size_bytes));
  }
  if (place.space == Space::local) {
    if (layout.local_bytes < size_bytes) return b.getFalse();
    return b.CreateICmpULE(place.address, s.u64(layout.local_bytes - size_bytes));
  }
  V bytes = s.shared_bytes();
  V fits = b.CreateICmpULE(b.CreateAdd(place.address, s.u64(size_bytes)), bytes);
  return b.CreateAnd(fits, b.CreateICmpULT(place.address, bytes));
}

/// True if the address is a constant within the kernel's own variables.
bool Memory::is_known_inside(const Place& place, uint32_t size_bytes, uint32_t align_bytes) const {
  if (!place.address->is_constant) return false;
  const auto& layout = s.input.analysed.layout;
  const uint64_t at = place.address->content;
  const uint64_t bytes = place.space == Space::local    ? layout.local_bytes
                         : place.space == Space::shared ? layout.shared_static_bytes
                                                        : 0;
  return at % align_bytes == 0 && at < bytes && size_bytes <= bytes - at;
}

// ---- Contents.

/// True if the place's memory is an array of words for shaders.
bool Memory::has_words(const Place& place) const {
  return place.space == Space::shared || place.space == Space::local || s.facts.has_arena;
}

Id Memory::word_pointer(const Place& place, V index) {
  if (place.space != Space::shared && place.space != Space::local) return s.arena_word(index);
  return place.space == Space::shared ? s.shared_word(index) : s.local_word(index);
}

V Memory::load_words(const Place& place, uint32_t bits) {
  V index = b.CreateTrunc(b.CreateLShr(place.address, s.u64(2)), b.getInt32Ty());
  V low = s.load_word(word_pointer(place, index));
  if (bits == 32) return low;
  if (bits < 32) {
    V shift =
        b.CreateShl(b.CreateAnd(b.CreateTrunc(place.address, b.getInt32Ty()), s.u32(3)), s.u32(3));
    return b.CreateTrunc(b.CreateLShr(low, shift), b.getIntNTy(bits));
  }
  V high = s.load_word(word_pointer(place, b.CreateAdd(index, s.u32(1))));
  return b.CreateOr(b.CreateZExt(low, b.getInt64Ty()),
                    b.CreateShl(b.CreateZExt(high, b.getInt64Ty()), s.u64(32)));
}

V Memory::load(const Place& place, uint32_t bits, uint32_t align_bytes, bool is_volatile) {
  if (bits == 128) {
    V made = s.context.new_value();
    made->type = b.getIntNTy(bits);
    for (uint64_t i = 0; i < 2; ++i) {
      const Place half{place.space, b.CreateAdd(place.address, s.u64(8 * i))};
      made->limbs.push_back(load(half, 64, std::min(align_bytes, 8u), is_volatile));
    }
    return made;
  }
  if (has_words(place)) return load_words(place, bits);
  return s.load_global(place.address, b.getIntNTy(bits), align_bytes, is_volatile);
}

/// Replaces some bytes of a word. In memory that is not a thread's own, others may replace its
/// other bytes at the same time.
void Memory::store_part(const Place& place, V value) {
  V at = b.CreateTrunc(place.address, b.getInt32Ty());
  V shift = b.CreateShl(b.CreateAnd(at, s.u32(3)), s.u32(3));
  V mask = b.CreateShl(s.u32((uint32_t{1} << value->type->bits()) - 1), shift);
  V content = b.CreateShl(b.CreateZExt(value, b.getInt32Ty()), shift);
  const Id pointer = word_pointer(place, b.CreateLShr(at, s.u32(2)));
  const auto merged = [&](V old) {
    return b.CreateOr(b.CreateAnd(old, b.CreateNot(mask)), content);
  };
  if (place.space == Space::local) return s.store_word(pointer, merged(s.load_word(pointer)));
  exchange_loop(pointer, b.getInt32Ty(), place.space == Space::shared, merged);
}

void Memory::store_words(const Place& place, V value) {
  if (value->type->bits() < 32) return store_part(place, value);
  V index = b.CreateTrunc(b.CreateLShr(place.address, s.u64(2)), b.getInt32Ty());
  s.store_word(word_pointer(place, index), b.CreateTrunc(value, b.getInt32Ty()));
  if (value->type->bits() == 32) return;
  V high = b.CreateTrunc(b.CreateLShr(value, s.u64(32)), b.getInt32Ty());
  s.store_word(word_pointer(place, b.CreateAdd(index, s.u32(1))), high);
}

void Memory::store(const Place& place, V value, uint32_t align_bytes, bool is_volatile) {
  if (value->type->is_wide()) {
    for (uint64_t i = 0; i < value->limbs.size(); ++i) {
      const Place part{place.space, b.CreateAdd(place.address, s.u64(8 * i))};
      store(part, value->limbs[i], std::min(align_bytes, 8u), is_volatile);
    }
    return;
  }
  if (has_words(place)) return store_words(place, value);
  s.store_global(place.address, value, align_bytes, is_volatile);
}

V Memory::load_any_word(V generic_address) {
  const auto result = s.new_variable(b.getInt32Ty());
  V tag = b.CreateTrunc(b.CreateLShr(generic_address, s.u64(kUpper)), b.getInt32Ty());
  V offset = b.CreateAnd(generic_address, s.u64(0xffffffff));
  const auto global = [&] {
    s.store(result, s.load_global(generic_address, b.getInt32Ty(), sizeof(uint32_t)));
  };
  if (!s.uses_local_memory()) {
    global();
  } else {
    s.if_else(
        b.CreateICmpEQ(tag, s.u32(kLocalTag)),
        [&] { s.store(result, load_words({Space::local, offset}, 32)); }, global);
  }
  return s.load(result);
}

// ---- Instructions.

/// True if an access of 128 bits must not be torn, which no access of a shader promises.
bool Memory::refuse_untorn(const ptx::Instruction& ptx, uint32_t bits) {
  if (bits != 128 || !simt::is_strong_access(ptx) || ptx.has(Modifier::volatile_)) return false;
  s.refuse(ptx, "the device has no 128-bit atomics");
  return true;
}

void Memory::lower_load(const simt::Inst& inst) {
  const auto& ptx = *inst.ptx;
  const Type type = ptx.types[ptx.type_count - 1];
  const uint32_t bits = ptx::size_bits(type), bytes = bits / 8;
  const Operand& target = ptx.operands[0];
  const uint32_t count = target.kind == Operand::Kind::vector ? target.count : 1;
  if (refuse_untorn(ptx, bits)) return;
  const bool is_volatile = simt::is_strong_access(ptx);
  std::vector<Shader::Variable> results;
  for (uint32_t i = 0; i < count; ++i) {
    results.push_back(s.new_short_variable(b.getIntNTy(bits)));
    if (s.tests_accesses()) {
      s.store(results[i], llvm::Constant::getNullValue(b.getIntNTy(bits)));
    }
  }
  const Place place = place_of(inst, ptx.operands[1]);
  in_space(inst, place, bytes * count, bytes * count, [&](const Place& at) {
    for (uint32_t i = 0; i < count; ++i) {
      const Place part{at.space, b.CreateAdd(at.address, s.u64(uint64_t{i} * bytes))};
      s.store(results[i], load(part, bits, bytes, is_volatile));
    }
  });
  if (ptx.has(Modifier::acquire)) s.memory_barrier(spv::Scope::Device);
  for (uint32_t i = 0; i < count; ++i) {
    const Operand& part = target.kind == Operand::Kind::vector
                              ? s.kernel.function->operand_pool[target.first + i]
                              : target;
    if (part.kind == Operand::Kind::reg) s.define_result(inst, part.reg, s.load(results[i]), type);
  }
}

void Memory::lower_store(const simt::Inst& inst) {
  const auto& ptx = *inst.ptx;
  if (ptx.has(Modifier::bulk) || ptx.has(Modifier::async)) {
    return s.refuse(ptx, "asynchronous stores have no counterpart in a shader");
  }
  const Type type = ptx.types[ptx.type_count - 1];
  const uint32_t bits = ptx::size_bits(type), bytes = bits / 8;
  const Operand& source = ptx.operands[1];
  const uint32_t count = source.kind == Operand::Kind::vector ? source.count : 1;
  if (refuse_untorn(ptx, bits)) return;
  if (ptx.has(Modifier::release)) s.memory_barrier(spv::Scope::Device);
  std::vector<V> values;
  for (uint32_t i = 0; i < count; ++i) {
    const Operand& part = source.kind == Operand::Kind::vector
                              ? s.kernel.function->operand_pool[source.first + i]
                              : source;
    values.push_back(b.CreateBitCast(s.operand(inst, part, type), b.getIntNTy(bits)));
  }
  const Place place = place_of(inst, ptx.operands[0]);
  in_space(inst, place, bytes * count, bytes * count, [&](const Place& at) {
    for (uint32_t i = 0; i < count; ++i) {
      const Place part{at.space, b.CreateAdd(at.address, s.u64(uint64_t{i} * bytes))};
      store(part, values[i], bytes, simt::is_strong_access(ptx));
    }
  });
}

void Memory::lower_address(const simt::Inst& inst) {
  const auto& ptx = *inst.ptx;
  if (ptx.opcode == Opcode::isspacep) {
    V tag = b.CreateTrunc(b.CreateLShr(s.operand(inst, ptx.operands[1], Type::u64), s.u64(kUpper)),
                          b.getInt32Ty());
    V shared = b.CreateICmpEQ(tag, s.u32(kSharedTag)),
      local = b.CreateICmpEQ(tag, s.u32(kLocalTag));
    V result = b.getFalse();
    if (names_shared(ptx)) result = shared;
    if (ptx.has(Modifier::local)) result = local;
    if (ptx.has(Modifier::global)) result = b.CreateNot(b.CreateOr(shared, local));
    if (ptx.has(Modifier::shared_cluster)) result = shared;
    return s.define_result(inst, ptx.operands[0].reg, result, Type::pred);
  }
  if (ptx.opcode != Opcode::cvta || ptx.has(Modifier::shared_cluster)) {
    return s.refuse(ptx, "clusters have no counterpart in a shader");
  }
  V content = s.operand(inst, ptx.operands[1], Type::u64);
  if (simt::completes_parameter_address(s.kernel, inst)) content = whole_parameter_address(content);
  const uint32_t tag = names_shared(ptx) ? kSharedTag : ptx.has(Modifier::local) ? kLocalTag : 0;
  if (tag != 0) {
    V window = s.u64(uint64_t{tag} << kUpper);
    if (has_stack_ && tag == kLocalTag) {  // addresses on the stack have the tag already
      content = ptx.has(Modifier::to) ? b.CreateAnd(content, s.u64(UINT32_MAX))
                                      : b.CreateOr(content, window);
    } else {
      content = ptx.has(Modifier::to) ? b.CreateSub(content, window) : b.CreateAdd(content, window);
    }
  }
  s.define_result(inst, ptx.operands[0].reg, content, Type::u64);
}

/// Notes a copy in checked code one of whose addresses is no multiple of its size, as the checks of
/// its words cannot. The source of a copy that takes nothing of it counts for nothing.
void Memory::check_copy(const simt::Inst& inst, V from, V to, V kept, uint32_t size_bytes) {
  if (!s.input.options.checked) return;
  const auto check = [&](V address, V counts) {
    V low_bits = b.CreateAnd(address, s.u64(size_bytes - 1));
    s.if_then(b.CreateAnd(counts, b.CreateICmpNE(low_bits, s.u64(0))), [&] {
      s.keep_fault(s.u32(word(FaultKind::misaligned_address)), *inst.ptx, address, size_bytes);
    });
  };
  check(from, b.CreateICmpNE(kept, s.u32(0)));
  check(to, b.getTrue());
}

/// cp.async copies at once; its groups are complete when they are committed.
void Memory::lower_copy(const simt::Inst& inst) {
  const auto& ptx = *inst.ptx;
  if (ptx.has(Modifier::bulk) || ptx.has(Modifier::mbarrier)) {
    return s.refuse(ptx, "bulk copies have no counterpart in a shader");
  }
  if (ptx.has(Modifier::commit_group) || ptx.has(Modifier::wait_group) ||
      ptx.has(Modifier::wait_all)) {
    return;
  }
  if (ptx.operands[2].kind != Operand::Kind::immediate) {
    return s.refuse(ptx, "copies of this form are not implemented for shaders");
  }
  const auto bytes = static_cast<uint32_t>(ptx.operands[2].bits);
  V kept = s.u32(bytes);
  const unsigned hints = ptx.has(Modifier::L2_cache_hint) ? 1 : 0;
  if (ptx.operand_count > 3 + hints) {
    const Type type = simt::Arithmetic::operand_type(ptx, 3);
    V given = s.operand(inst, ptx.operands[3], type);
    kept = type == Type::pred ? b.CreateSelect(given, s.u32(0), s.u32(bytes)) : given;
  }
  const Place to = place_of(inst, ptx.operands[0]);
  // The first space that the instruction names is the destination's.
  const Place from{Space::global, place_of(inst, ptx.operands[1]).address};
  check_copy(inst, from.address, to.address, kept, bytes);
  const auto words = s.new_short_variable(b.getInt32Ty());
  for (uint32_t i = 0; i < bytes; i += 4) {
    s.store(words, s.u32(0));
    const auto add = [&](uint32_t offset, uint32_t size_bytes) {
      const Place part{from.space, b.CreateAdd(from.address, s.u64(i + offset))};
      in_space(inst, part, size_bytes, size_bytes, [&](const Place& at) {
        V loaded = b.CreateZExt(load(at, 8 * size_bytes, size_bytes, false), b.getInt32Ty());
        s.store(words, b.CreateOr(s.load(words), b.CreateShl(loaded, s.u32(8 * offset))));
      });
    };
    // The bytes that are left may end in the middle of a word.
    s.if_else(
        b.CreateICmpUGE(kept, s.u32(i + 4)), [&] { add(0, 4); },
        [&] {
          for (uint32_t k = 0; k < 3; ++k) {
            s.if_then(b.CreateICmpUGT(kept, s.u32(i + k)), [&] { add(k, 1); });
          }
        });
    const Place part{Space::shared, b.CreateAdd(to.address, s.u64(i))};
    in_space(inst, part, 4, 4, [&](const Place& at) { store(at, s.load(words), 4, false); });
  }
}

}  // namespace km::spirv
