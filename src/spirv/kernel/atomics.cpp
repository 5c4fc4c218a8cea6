// Atomic operations: native ones on words, compare-and-swap for all others.
#include "ptx/forms.h"
#include "simt/arithmetic/lanes.h"
#include "simt/transform/make_instruction.h"
#include "spirv/kernel/memory.h"

namespace km::spirv {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using spv::Op;

namespace {

struct NativeOperation {
  Modifier modifier;
  Op of_unsigned, of_signed;
};

constexpr NativeOperation kNativeOperations[] = {
    {Modifier::add, Op::OpAtomicIAdd, Op::OpAtomicIAdd},
    {Modifier::and_, Op::OpAtomicAnd, Op::OpAtomicAnd},
    {Modifier::or_, Op::OpAtomicOr, Op::OpAtomicOr},
    {Modifier::xor_, Op::OpAtomicXor, Op::OpAtomicXor},
    {Modifier::min, Op::OpAtomicUMin, Op::OpAtomicSMin},
    {Modifier::max, Op::OpAtomicUMax, Op::OpAtomicSMax},
    {Modifier::exch, Op::OpAtomicExchange, Op::OpAtomicExchange},
};

const NativeOperation* native_operation(const ptx::Instruction& instruction) {
  for (const NativeOperation& one : kNativeOperations) {
    if (!instruction.has(one.modifier)) continue;
    const bool is_real = ptx::is_float(instruction.type());
    return is_real && one.modifier != Modifier::exch ? nullptr : &one;
  }
  return nullptr;
}

bool is_half(Type type) {
  return type == Type::f16 || type == Type::f16x2 || type == Type::bf16 || type == Type::bf16x2;
}

uint32_t scope_of(bool is_shared) {
  return word(is_shared ? spv::Scope::Workgroup : spv::Scope::Device);
}

/// Atomic operations have no order of their own: fences beside them give it where PTX asks for it.
constexpr uint32_t kRelaxed = 0;

}  // namespace

V Memory::compare_exchange(Id pointer, bool is_shared, V expected, V fresh) {
  auto& writer = s.context.writer;
  const Id order = writer.u32(kRelaxed);
  return b.make(Op::OpAtomicCompareExchange, fresh->type,
                {pointer, writer.u32(scope_of(is_shared)), order, order, fresh->id, expected->id});
}

/// Returns the content before.
V Memory::exchange_loop(Id pointer, llvm::Type* type, bool is_shared,
                        const std::function<V(V)>& update) {
  auto& writer = s.context.writer;
  const auto seen = s.new_variable(type);
  s.store(seen, b.make(Op::OpAtomicLoad, type,
                       {pointer, writer.u32(scope_of(is_shared)), writer.u32(0)}));
  s.loop([&] {
    V expected = s.load(seen);
    V before = compare_exchange(pointer, is_shared, expected, update(expected));
    s.store(seen, before);
    return b.CreateICmpNE(before, expected);
  });
  return s.load(seen);
}

V Memory::updated(const simt::Inst& inst, const Place& place, V old, V first, V second) {
  const auto& ptx = *inst.ptx;
  const Type type = ptx.type();
  if (ptx.has(Modifier::cas)) return b.CreateSelect(b.CreateICmpEQ(old, first), second, old);
  if (ptx.has(Modifier::exch)) return first;
  if (is_half(type)) {
    std::string name = ptx.has(Modifier::add)   ? "add.rn."
                       : ptx.has(Modifier::min) ? "min."
                                                : "max.";
    name += ptx::text_of(type);
    const auto any = simt::register_operand(0);
    V sources[] = {old, first};
    return s.arithmetic.lower(simt::make_instruction(name, {any, any, any}, ptx), sources)[0];
  }
  if (ptx::is_float(type)) {
    simt::arithmetic::Lanes lanes(b, simt::Machine(), 0);
    const bool flushes =
        type == Type::f32 && place.space != Space::shared && !ptx.has(Modifier::noftz);
    V x = lanes.flush_if(flushes, lanes.as_real(old)),
      y = lanes.flush_if(flushes, lanes.as_real(first));
    s.context.flushes = flushes;
    V sum = lanes.flush_if(flushes, lanes.canonical_nan(b.CreateFAdd(x, y)));
    s.context.flushes = false;
    return lanes.bits(sum);
  }
  if (ptx.has(Modifier::inc)) {
    V wraps = b.CreateICmpUGE(old, first);
    return b.CreateSelect(wraps, s.u32(0), b.CreateAdd(old, s.u32(1)));
  }
  if (ptx.has(Modifier::dec)) {
    V wraps = b.CreateOr(b.CreateICmpEQ(old, s.u32(0)), b.CreateICmpUGT(old, first));
    return b.CreateSelect(wraps, first, b.CreateSub(old, s.u32(1)));
  }
  if (ptx.has(Modifier::add)) return b.CreateAdd(old, first);
  if (ptx.has(Modifier::and_)) return b.CreateAnd(old, first);
  if (ptx.has(Modifier::or_)) return b.CreateOr(old, first);
  if (ptx.has(Modifier::xor_)) return b.CreateXor(old, first);
  namespace I = llvm::Intrinsic;
  const bool is_signed = ptx::is_signed(type), least = ptx.has(Modifier::min);
  const auto id = least ? (is_signed ? I::smin : I::umin) : (is_signed ? I::smax : I::umax);
  return b.CreateBinaryIntrinsic(id, old, first);
}

/// An operation on a whole word of 32 bits, or of 64 in global memory.
V Memory::atomic_word(const simt::Inst& inst, const Place& place, V first, V second) {
  const auto& ptx = *inst.ptx;
  auto& writer = s.context.writer;
  const bool is_shared = place.space != Space::global;
  if (first->type->bits() == 64) {
    if (!s.facts.has_int64_atomics) s.refuse(ptx, "the device has no 64-bit atomics");
    writer.add_capability(spv::Capability::Int64Atomics);
  }
  V index = b.CreateTrunc(b.CreateLShr(place.address, s.u64(2)), b.getInt32Ty());
  const Id pointer =
      is_shared ? s.shared_word(index) : s.atomic_pointer(place.address, first->type);
  if (ptx.has(Modifier::cas)) return compare_exchange(pointer, is_shared, first, second);
  const NativeOperation* const native = native_operation(ptx);
  const bool has_sign =
      native != nullptr && ptx::is_signed(ptx.type()) && native->of_signed != native->of_unsigned;
  if (native != nullptr && !(has_sign && s.facts.has_unsigned_atomics_only)) {
    const Op op = has_sign ? native->of_signed : native->of_unsigned;
    return b.make(op, first->type,
                  {pointer, writer.u32(scope_of(is_shared)), writer.u32(kRelaxed), first->id});
  }
  return exchange_loop(pointer, first->type, is_shared,
                       [&](V old) { return updated(inst, place, old, first, second); });
}

/// An operation on 16 bits by a compare-and-swap of the word around them.
V Memory::atomic_part(const simt::Inst& inst, const Place& place, V first, V second) {
  const bool is_shared = place.space != Space::global;
  V at = b.CreateTrunc(place.address, b.getInt32Ty());
  V shift = b.CreateShl(b.CreateAnd(at, s.u32(2)), s.u32(3));
  V mask = b.CreateShl(s.u32(0xffff), shift);
  V word_address = b.CreateAnd(place.address, s.u64(~uint64_t{3}));
  const Id pointer = is_shared ? s.shared_word(b.CreateLShr(at, s.u32(2)))
                               : s.atomic_pointer(word_address, b.getInt32Ty());
  V before = exchange_loop(pointer, b.getInt32Ty(), is_shared, [&](V old) {
    V part = b.CreateTrunc(b.CreateLShr(old, shift), b.getInt16Ty());
    V fresh = b.CreateZExt(updated(inst, place, part, first, second), b.getInt32Ty());
    return b.CreateOr(b.CreateAnd(old, b.CreateNot(mask)), b.CreateShl(fresh, shift));
  });
  return b.CreateTrunc(b.CreateLShr(before, shift), b.getInt16Ty());
}

/// 64 bits are two words of shared memory: the block has a lock for them, which a thread takes and
/// releases within one round of a loop.
V Memory::atomic_wide_shared(const simt::Inst& inst, const Place& place, V first, V second) {
  auto& writer = s.context.writer;
  const auto result = s.new_variable(b.getInt64Ty());
  const auto done = s.new_variable(b.getInt1Ty());
  const Id lock = s.state_word(s.u32(Shader::kLockWord));
  s.store(done, b.getFalse());
  s.loop([&] {
    V taken = compare_exchange(lock, true, s.u32(0), s.u32(1));
    s.if_then(b.CreateICmpEQ(taken, s.u32(0)), [&] {
      s.memory_barrier(spv::Scope::Workgroup);
      V old = load_words(place, 64);
      store_words(place, updated(inst, place, old, first, second));
      s.store(result, old);
      s.store(done, b.getTrue());
      s.memory_barrier(spv::Scope::Workgroup);
      append(b.code().body, Op::OpAtomicStore,
             {lock, writer.u32(scope_of(true)), writer.u32(kRelaxed), s.u32(0)->id});
    });
    return b.CreateNot(s.load(done));
  });
  return s.load(result);
}

V Memory::atomic(const simt::Inst& inst, const Place& place, V first, V second) {
  const unsigned bits = first->type->bits();
  if (place.space == Space::local) {
    V old = load(place, bits, bits / 8, false);
    store(place, updated(inst, place, old, first, second), bits / 8, false);
    return old;
  }
  if (bits == 128) {
    s.refuse(*inst.ptx, "the device has no 128-bit atomics");
    return first;
  }
  if (bits == 16) return atomic_part(inst, place, first, second);
  if (bits == 64 && place.space == Space::shared) {
    return atomic_wide_shared(inst, place, first, second);
  }
  return atomic_word(inst, place, first, second);
}

void Memory::lower_atomic(const simt::Inst& inst) {
  const auto& ptx = *inst.ptx;
  if (ptx.has(Modifier::async)) return s.refuse(ptx, "asynchronous atomics have no counterpart");
  const unsigned at = ptx.opcode == Opcode::atom ? 1 : 0;
  const Type type = ptx.type();
  const uint32_t bits = ptx::size_bits(type), bytes = bits / 8;
  const Operand& content = ptx.operands[at + 1];
  const auto& pool = s.kernel.function->operand_pool;
  const bool several = content.kind == Operand::Kind::vector;
  const uint32_t count = several ? content.count : 1;
  auto* bits_type = b.getIntNTy(bits);
  const Place place = place_of(inst, ptx.operands[at]);
  const bool both = ptx.has(Modifier::acq_rel);
  if (both || ptx.has(Modifier::release)) s.memory_barrier(spv::Scope::Device);
  for (uint32_t i = 0; i < count; ++i) {
    const Operand& part = several ? pool[content.first + i] : content;
    V first = b.CreateBitCast(s.operand(inst, part, type), bits_type), second = first;
    if (ptx.has(Modifier::cas)) {
      second = b.CreateBitCast(s.operand(inst, ptx.operands[at + 2], type), bits_type);
    }
    const auto result = s.new_short_variable(bits_type);
    if (s.tests_accesses()) s.store(result, llvm::Constant::getNullValue(bits_type));
    const Place here{place.space, b.CreateAdd(place.address, s.u64(uint64_t{i} * bytes))};
    in_space(inst, here, bytes, bytes,
             [&](const Place& one) { s.store(result, atomic(inst, one, first, second)); });
    if (ptx.opcode != Opcode::atom) continue;
    const Operand& target = ptx.operands[0];
    const bool has_elements = target.kind == Operand::Kind::vector && i < target.count;
    const Operand& to = has_elements ? pool[target.first + i] : target;
    if (to.kind == Operand::Kind::reg) s.define_result(inst, to.reg, s.load(result), type);
  }
}

}  // namespace km::spirv
