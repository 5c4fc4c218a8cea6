// One transfer function per family of instructions, from shapes of operands to that of the result.
#include <algorithm>
#include <bit>
#include <limits>

#include "base/assert.h"
#include "base/integers.h"
#include "simt/analysis/shape.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

namespace {

int64_t sign_extend(uint64_t value, uint32_t bits) {
  if (bits >= 64) return static_cast<int64_t>(value);
  uint64_t sign = uint64_t{1} << (bits - 1);
  value &= (sign << 1) - 1;
  return static_cast<int64_t>((value ^ sign) - sign);
}

uint8_t trailing_zeros(int64_t value) {
  return value == 0 ? 64 : static_cast<uint8_t>(std::countr_zero(static_cast<uint64_t>(value)));
}

bool fits_signed(const Shape& shape, uint32_t bits) {
  if (!shape.bounded) return bits >= 64;
  if (bits >= 64) return true;
  int64_t limit = int64_t{1} << (bits - 1);
  return shape.low >= -limit && shape.high < limit;
}

bool fits_unsigned(const Shape& shape, uint32_t bits) {
  if (!shape.bounded || shape.low < 0) return false;
  return bits >= 63 || shape.high < (int64_t{1} << bits);
}

/// True if all values within the bounds are values of the type.
bool fits(const Shape& shape, Type type) {
  const uint32_t bits = ptx::size_bits(type);
  return ptx::is_signed(type) ? fits_signed(shape, bits) : fits_unsigned(shape, bits);
}

/// Sets the bounds of a sum or product, or drops them if they exceed 62 bits.
void set_bounds(Shape& shape, __int128 low, __int128 high) {
  const __int128 limit = __int128{1} << 62;
  shape.bounded = low > -limit && high < limit;
  if (shape.bounded) {
    shape.low = static_cast<int64_t>(low);
    shape.high = static_cast<int64_t>(high);
  }
}

/// Sets the bounds of a minimum or maximum, or drops them if an operand has none.
void set_extreme_bounds(Shape& result, const Shape& a, const Shape& b, Type type, bool smaller) {
  const auto choose = [&](int64_t x, int64_t y) {
    return smaller ? std::min(x, y) : std::max(x, y);
  };
  result.bounded = false;
  result.low = result.high = 0;
  if (!a.bounded || !b.bounded || !fits(a, type) || !fits(b, type)) return;
  set_bounds(result, choose(a.low, b.low), choose(a.high, b.high));
}

}  // namespace

Shape Shape::of_constant(int64_t value) {
  Shape shape = bounded_uniform(true, value, value);
  shape.align = trailing_zeros(value);
  return shape;
}

uint32_t OffsetTable::intern(const Offsets& offsets) {
  auto [entry, fresh] = index_.emplace(offsets, static_cast<uint32_t>(list_.size()));
  if (fresh) list_.push_back(offsets);
  return entry->second;
}

Shape ShapeTransfer::join(const Shape& a, const Shape& b) const {
  using Kind = Shape::Kind;
  if (a.kind == Kind::unknown) return b;
  if (b.kind == Kind::unknown) return a;
  if (a.kind == Kind::varying || b.kind == Kind::varying) return Shape::varying();
  if (a.kind != b.kind || a.offsets != b.offsets || a.speculative || b.speculative) {
    return Shape::varying();
  }
  Shape result = a;
  result.block_uniform = a.block_uniform && b.block_uniform;
  result.align = std::min(a.align, b.align);
  result.bounded = a.bounded && b.bounded;
  result.low = result.bounded ? std::min(a.low, b.low) : 0;
  result.high = result.bounded ? std::max(a.high, b.high) : 0;
  return result;
}

/// Normalises a base-and-offsets result, so that lane 0 has offset 0.
Shape ShapeTransfer::normalised(Shape shape, Offsets offsets, Type type) {
  const uint32_t bits = ptx::size_bits(type);
  bool zero = true;
  for (uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    offsets[lane] = lane < shapes_.options.lanes ? sign_extend(offsets[lane], bits) : 0;
    zero = zero && offsets[lane] == 0;
  }
  shape.offsets = zero ? 0 : shapes_.offsets.intern(offsets);
  shape.kind = zero && !shape.speculative ? Shape::Kind::uniform : Shape::Kind::offset;
  if (!shape.is_uniform()) shape.block_uniform = false;
  return shape;
}

Shape ShapeTransfer::operand(const Inst& inst, BlockId block, const Operand& operand, Type type) {
  switch (operand.kind) {
    case Operand::Kind::reg:
      return shapes_.at(kernel_, inst.read(operand.reg), block);
    case Operand::Kind::immediate: {
      if (ptx::is_float(type)) return Shape::uniform(true);
      return Shape::of_constant(sign_extend(operand.bits, std::max(8u, ptx::size_bits(type))));
    }
    case Operand::Kind::special:
      return special(operand);
    case Operand::Kind::symbol: {
      const auto& symbol = kernel_.symbol_of(operand);
      if (symbol.space == ptx::Space::local) return local_address(symbol, operand.offset);
      return symbol.space == ptx::Space::shared ? shared_address(operand) : Shape::uniform(true);
    }
    default:
      return Shape::varying();
  }
}

Shape ShapeTransfer::shared_address(const Operand& operand) const {
  if (shapes_.options.layout != nullptr) {
    const auto& offsets = shapes_.options.layout->shared;
    const auto found = offsets.find({operand.local_symbol, operand.symbol});
    if (found != offsets.end()) {
      return Shape::of_constant(static_cast<int64_t>(found->second) + operand.offset);
    }
  }
  Shape shape = Shape::bounded_uniform(true, 0, int64_t{1} << 30);
  shape.align = trailing_zeros(kernel_.symbol_of(operand).align_bytes | operand.offset);
  return shape;
}

/// The local memory of lane l starts l strides after that of lane 0.
Shape ShapeTransfer::local_address(const ptx::Symbol& symbol, int64_t offset) {
  Offsets offsets{};
  for (uint32_t l = 0; l < shapes_.options.lanes; ++l) {
    offsets[l] = static_cast<int64_t>(l * shapes_.options.local_stride_bytes);
  }
  Shape shape;
  const auto stride = static_cast<int64_t>(shapes_.options.local_stride_bytes);
  shape.align = std::min<uint8_t>(4, trailing_zeros(symbol.align_bytes | offset | stride));
  return normalised(shape, offsets, Type::u64);
}

Shape ShapeTransfer::result(const Inst& inst, BlockId block, ptx::RegisterId reg) {
  Shape shape = compute(inst, block);
  if (const auto constant = shape.constant()) shape.align = trailing_zeros(*constant);
  // Floating-point registers cannot hold a base with integer offsets.
  const ptx::Type type = kernel_.values[inst.written(reg)].type;
  if (shape.is_offset() && ptx::is_float(type)) shape = Shape::varying();
  const auto& destination = inst.ptx->operands[0];
  bool several = inst.writes.size() > 1;
  if (several && destination.kind == Operand::Kind::pair) {
    // The second destination of d|p is a predicate of its own.
    const auto& second = kernel_.function->operand_pool[destination.first + 1];
    bool setp = inst.ptx->opcode == Opcode::setp;
    if (second.reg == reg && !setp && shape.is_offset()) shape = Shape::varying();
    const auto constant = shape.constant();
    if (second.reg == reg && setp && constant) shape = Shape::of_constant(1 - *constant);
  }
  if (inst.guard != kNone) {
    const Shape guard = shapes_.at(kernel_, inst.guard, block);
    Shape merged = guard.is_uniform() ? shape : Shape::varying();
    for (size_t i = 0; i < inst.writes.size(); ++i) {
      if (inst.writes[i].first != reg) continue;
      merged = join(merged, shapes_.at(kernel_, inst.old_values[i], block));
    }
    if (merged.is_uniform() && !guard.block_uniform) merged.block_uniform = false;
    if (guard.kind == Shape::Kind::unknown) merged = Shape{};
    shape = merged;
  }
  // With one lane per packet, every value is uniform.
  if (shapes_.options.lanes == 1 && shape.is_varying()) return Shape::uniform(false);
  return shape;
}

Shape ShapeTransfer::generic(const Inst& inst, BlockId block, bool keeps_block_uniform) {
  bool block_uniform = keeps_block_uniform;
  for (const auto& [reg, value] : inst.reads) {
    const Shape shape = shapes_.at(kernel_, value, block);
    if (shape.kind == Shape::Kind::unknown) return {};
    if (!shape.is_uniform()) return Shape::varying();
    block_uniform = block_uniform && shape.block_uniform;
  }
  for (unsigned i = 0; i < inst.ptx->operand_count; ++i) {
    const Operand& operand = inst.ptx->operands[i];
    if (operand.kind != Operand::Kind::special && operand.kind != Operand::Kind::symbol) continue;
    const Shape shape = this->operand(inst, block, operand, Type::none);
    if (!shape.is_uniform()) return Shape::varying();
    block_uniform = block_uniform && shape.block_uniform;
  }
  return Shape::uniform(block_uniform);
}

namespace {

/// The result of a warp operation: lanes with other membermasks form other groups, with other
/// results.
Shape of_groups(const Shape& members) {
  if (members.kind == Shape::Kind::unknown) return {};
  return members.is_uniform() ? Shape::uniform(false) : Shape::varying();
}

/// True if each lane has its own result, whatever the operands are.
bool differs_by_lane(const ptx::Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::mbarrier:
      return !instruction.has(Modifier::pending_count);
    case Opcode::mma:
    case Opcode::wmma:
    case Opcode::wgmma:
    case Opcode::tcgen05:
    case Opcode::ldmatrix:
    case Opcode::movmatrix:
    case Opcode::atom:
    case Opcode::call:
    case Opcode::match:
    case Opcode::elect:
    case Opcode::shfl:
      return true;
    default:
      return false;
  }
}

}  // namespace

Shape ShapeTransfer::compute(const Inst& inst, BlockId block) {
  const auto& ptx = *inst.ptx;
  const Type type = ptx.type_count ? ptx.types[ptx.type_count - 1] : Type::none;
  auto source = [&](unsigned i, Type t) { return operand(inst, block, ptx.operands[i], t); };
  const bool integer = ptx::is_integer(type), saturated = ptx.has(Modifier::sat);
  if (differs_by_lane(ptx)) return Shape::varying();
  switch (ptx.opcode) {
    case Opcode::mov:
      if (ptx.operands[0].kind != Operand::Kind::reg ||
          ptx.operands[1].kind == Operand::Kind::vector) {
        return generic(inst, block, true);
      }
      return source(1, type);
    case Opcode::cvta: {
      bool shared = ptx.has(Modifier::shared) || ptx.has(Modifier::shared_cta) ||
                    ptx.has(Modifier::shared_cluster);
      if (!shared) return source(1, type);
      return add(source(1, type), Shape::uniform(true), type, false);
    }
    case Opcode::add:
    case Opcode::sub:
      if (!integer || saturated) break;
      return add(source(1, type), source(2, type), type, ptx.opcode == Opcode::sub);
    case Opcode::mul:
    case Opcode::mad:
      if (!integer || ptx.has(Modifier::hi) || saturated) break;
      if (ptx.has(Modifier::wide) && ptx::size_bits(type) != 32) break;
      return multiply_add(inst, block);
    case Opcode::min:
    case Opcode::max:
      if (ptx.operand_count != 3 || ptx.has(Modifier::relu)) break;
      return extreme(inst, block, source(1, type), source(2, type));
    case Opcode::shl:
      return shift_left(source(1, type), source(2, Type::u32), type);
    case Opcode::shr:
      if (is_zero_sign(inst, source(1, type))) return Shape::of_constant(0);
      return shift_right(inst, source(1, type), source(2, Type::u32), type);
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
      if (type == Type::pred) return logic(inst, block);
      return bitwise(ptx.opcode, source(1, type), source(2, type), type);
    case Opcode::cvt:
      if (ptx.operand_count != 2) break;  // cvt that packs several sources
      return convert(inst, source(1, ptx.types[1]));
    case Opcode::setp:
      if (ptx.operand_count != 3) break;
      return compare(inst, source(1, ptx.types[0]), source(2, ptx.types[0]));
    case Opcode::ld:
    case Opcode::ldu:
      return memory(inst, block);
    case Opcode::vote:
    case Opcode::redux:
      if (ptx.operand_count == 2) return Shape::uniform(false);
      return of_groups(source(2, Type::b32));
    case Opcode::activemask:
      return Shape::uniform(false);
    case Opcode::bar:
    case Opcode::barrier:
      return Shape::uniform(true);
    default:
      break;
  }
  return generic(inst, block, true);
}

Shape ShapeTransfer::lane_offsets(const Offsets& offsets, uint8_t align, int64_t low,
                                  int64_t high) {
  Shape shape;
  shape.align = align;
  shape.bounded = true;
  shape.low = low;
  shape.high = high;
  return normalised(shape, offsets, Type::u32);
}

/// %tid.x/y/z, computed from the packet's first linear thread index, a multiple of the lane count.
Shape ShapeTransfer::thread_index(unsigned dimension) {
  const auto& block = shapes_.options.block;
  const uint32_t lanes = shapes_.options.lanes;
  if (block[dimension] == 1) return Shape::of_constant(0);
  if (block[1] == 0) return Shape::varying();
  // An unknown extent of one dimension counts as the largest possible one.
  const uint64_t row = block[0] == 0 ? kMaxBlockThreads : block[0], plane = row * block[1];
  const uint64_t threads = plane * block[2];
  const auto lane_bits = static_cast<uint8_t>(std::countr_zero(lanes));
  const int64_t last = block[dimension] - 1;
  Offsets offsets{};
  if (dimension == 0 && (row % lanes == 0 || row == threads)) {
    for (uint32_t l = 0; l < lanes; ++l) offsets[l] = l;
    return lane_offsets(offsets, row <= lanes ? 64 : lane_bits, 0,
                        static_cast<int64_t>(round_up(row, lanes)) - 1);
  }
  const uint64_t below = dimension == 0 ? 1 : dimension == 1 ? row : plane;
  if (dimension > 0 && below % lanes == 0) return Shape::bounded_uniform(false, 0, last);
  // Number of linear threads after which this index repeats.
  const uint64_t size = below * block[dimension];
  bool whole = size % lanes == 0 || lanes % size == 0 || size == threads;
  bool aligned = lanes % below == 0;
  if (!whole || !aligned) return Shape::varying();
  for (uint32_t l = 0; l < lanes; ++l) {
    offsets[l] = static_cast<int64_t>(size == threads ? l / below : (l / below) % block[dimension]);
  }
  const auto step = static_cast<uint8_t>(std::countr_zero(lanes / below));
  const int64_t top = size == threads ? static_cast<int64_t>((threads + lanes - 1) / below) : last;
  return lane_offsets(offsets, lanes % size == 0 ? 64 : step, 0, top);
}

Shape ShapeTransfer::special(const Operand& operand) {
  using Special = ptx::SpecialRegister;
  const auto& block = shapes_.options.block;
  const unsigned c = operand.component;
  const int64_t int_max = std::numeric_limits<int32_t>::max();
  switch (operand.special) {
    case Special::tid:
      return c < 3 ? thread_index(c) : Shape::of_constant(0);
    case Special::ntid:
      if (c >= 3) return Shape::of_constant(0);
      return block[c] ? Shape::of_constant(block[c])
                      : Shape::bounded_uniform(true, 1, kMaxBlockThreads);
    case Special::ctaid:
      return Shape::bounded_uniform(true, 0, c == 0 ? int_max : 65535);
    case Special::nctaid:
      return Shape::bounded_uniform(true, 0, c == 0 ? int_max : 65535);
    case Special::laneid: {
      Offsets offsets{};
      for (uint32_t l = 0; l < shapes_.options.lanes; ++l) offsets[l] = l;
      const auto bits = static_cast<uint8_t>(std::countr_zero(shapes_.options.lanes));
      return lane_offsets(offsets, shapes_.options.lanes == kWarpLanes ? 64 : bits, 0, 31);
    }
    case Special::warpid:
      return Shape::bounded_uniform(false, 0, 31);
    case Special::nwarpid:
      return Shape::bounded_uniform(true, 1, 32);
    case Special::lanemask_eq:
    case Special::lanemask_le:
    case Special::lanemask_lt:
    case Special::lanemask_ge:
    case Special::lanemask_gt:
      return Shape::varying();
    case Special::clock:
    case Special::clock_hi:
    case Special::clock64:
    case Special::globaltimer:
    case Special::globaltimer_lo:
    case Special::globaltimer_hi:
      return Shape::uniform(false);
    default:
      return Shape::uniform(true);
  }
}

Shape ShapeTransfer::add(const Shape& a, const Shape& b, Type type, bool subtract) {
  if (a.kind == Shape::Kind::unknown || b.kind == Shape::Kind::unknown) return {};
  if (a.is_varying() || b.is_varying()) return Shape::varying();
  Shape result;
  result.block_uniform = a.block_uniform && b.block_uniform;
  result.speculative = a.speculative || b.speculative;
  result.wraps_below = a.wraps_below || b.wraps_below;
  result.align = std::min(a.align, b.align);
  if (a.bounded && b.bounded) {
    const __int128 low = subtract ? __int128{a.low} - b.high : __int128{a.low} + b.low;
    const __int128 high = subtract ? __int128{a.high} - b.low : __int128{a.high} + b.high;
    set_bounds(result, low, high);
  }
  Offsets offsets = shapes_.offsets[a.offsets];
  const Offsets& other = shapes_.offsets[b.offsets];
  for (uint32_t l = 0; l < kWarpLanes; ++l) {
    offsets[l] = static_cast<int64_t>(
        static_cast<uint64_t>(offsets[l]) +
        (subtract ? -static_cast<uint64_t>(other[l]) : static_cast<uint64_t>(other[l])));
  }
  return normalised(result, offsets, type);
}

Shape ShapeTransfer::multiply(const Shape& a, const Shape& b, Type type) {
  if (a.kind == Shape::Kind::unknown || b.kind == Shape::Kind::unknown) return {};
  if (a.is_varying() || b.is_varying()) return Shape::varying();
  if (a.is_offset() && !b.constant()) return Shape::varying();
  if (b.is_offset() && !a.constant()) return Shape::varying();
  Shape result;
  result.block_uniform = a.block_uniform && b.block_uniform;
  result.speculative = a.speculative || b.speculative;
  result.wraps_below = a.wraps_below || b.wraps_below;
  result.align = static_cast<uint8_t>(std::min(64, a.align + b.align));
  if (a.bounded && b.bounded) {
    const __int128 products[] = {__int128{a.low} * b.low, __int128{a.low} * b.high,
                                 __int128{a.high} * b.low, __int128{a.high} * b.high};
    set_bounds(result, *std::min_element(products, products + 4),
               *std::max_element(products, products + 4));
  }
  const Shape& lanes = a.is_offset() ? a : b;
  const int64_t factor = (a.is_offset() ? b.constant() : a.constant()).value_or(0);
  Offsets offsets = shapes_.offsets[lanes.offsets];
  for (auto& offset : offsets) {
    offset = static_cast<int64_t>(static_cast<uint64_t>(offset) * static_cast<uint64_t>(factor));
  }
  return normalised(result, offsets, type);
}

Shape ShapeTransfer::shift_left(const Shape& a, const Shape& b, Type type) {
  if (a.kind == Shape::Kind::unknown || b.kind == Shape::Kind::unknown) return {};
  auto count = b.constant();
  if (!count || *count < 0 || *count >= ptx::size_bits(type) || *count > 61) {
    if (a.is_uniform() && b.is_uniform()) {
      return Shape::uniform(a.block_uniform && b.block_uniform);
    }
    return Shape::varying();
  }
  return multiply(a, Shape::of_constant(int64_t{1} << *count), type);
}

Shape ShapeTransfer::multiply_add(const Inst& inst, BlockId block) {
  const auto& ptx = *inst.ptx;
  const Type type = ptx.type();
  const bool wide = ptx.has(Modifier::wide);
  const Type to = !wide ? type : ptx::is_signed(type) ? Type::s64 : Type::u64;
  auto source = [&](unsigned i, Type t) { return operand(inst, block, ptx.operands[i], t); };
  auto factor = [&](unsigned i) {
    return wide ? widen(source(i, type), type, inst, ptx.operands[i]) : source(i, type);
  };
  const Shape product = multiply(factor(1), factor(2), to);
  return ptx.opcode == Opcode::mul ? product : add(product, source(3, to), to, false);
}

/// A clamped index keeps the distances of its lanes in packets of which no lane is clamped: most,
/// in images whose border is repeated. Code checks that at run time, like wraps.
Shape ShapeTransfer::clamped(const Shape& a, const Shape& bound, Type type, bool smaller) const {
  if (ptx::size_bits(type) != 32) return Shape::varying();
  KM_ASSERT(!bound.speculative, "only offsets are speculative");
  Shape result = a;
  result.speculative = result.wraps_below = true;
  result.align = std::min(a.align, bound.align);
  set_extreme_bounds(result, a, bound, type, smaller);
  return result;
}

/// The minimum or maximum of two numbers.
Shape ShapeTransfer::extreme(const Inst& inst, BlockId block, const Shape& a, const Shape& b) {
  const Type type = inst.ptx->type();
  const bool plain =
      type == Type::s32 || type == Type::u32 || type == Type::s64 || type == Type::u64;
  Shape result = generic(inst, block, true);
  const bool smaller = inst.ptx->opcode == Opcode::min;
  const auto in_register = [&](unsigned i) {
    return inst.ptx->operands[i].kind == Operand::Kind::reg;
  };
  if (plain && a.is_offset() && b.is_uniform() && in_register(1)) {
    return clamped(a, b, type, smaller);
  }
  if (plain && b.is_offset() && a.is_uniform() && in_register(2)) {
    return clamped(b, a, type, smaller);
  }
  if (plain && result.is_uniform()) set_extreme_bounds(result, a, b, type, smaller);
  return result;
}

/// and, or of predicates: one operand may decide the result for both.
Shape ShapeTransfer::logic(const Inst& inst, BlockId block) {
  const Opcode opcode = inst.ptx->opcode;
  // The generated code computes in lanes if one operand has lanes, even if the other one decides.
  const Shape shape = generic(inst, block, true);
  if (!shape.is_uniform() || opcode == Opcode::xor_) return shape;
  const auto known = [&](unsigned i) {
    return operand(inst, block, inst.ptx->operands[i], Type::pred).constant();
  };
  const auto a = known(1), b = known(2);
  const int64_t decisive = opcode == Opcode::or_ ? 1 : 0;
  if ((a && *a == decisive) || (b && *b == decisive)) return Shape::of_constant(decisive);
  if (a && b) return Shape::of_constant(1 - decisive);
  return shape;
}

/// True if base and offsets occupy different bits, so that bitwise operations act on each
/// separately.
bool ShapeTransfer::no_carry(const Shape& shape) const {
  if (!shape.is_offset() && !shape.is_uniform()) return false;
  const uint8_t bits = std::min<uint8_t>(shape.align, 62);
  for (int64_t offset : shapes_.offsets[shape.offsets]) {
    if (offset < 0 || offset >= (int64_t{1} << bits)) return false;
  }
  return true;
}

/// True if the value is the sign of a thread's index, which division by a power of two needs. It is
/// assumed to be zero if the launch can prove that.
bool ShapeTransfer::is_zero_sign(const Inst& inst, const Shape& shape) {
  const auto& ptx = *inst.ptx;
  const Operand &source = ptx.operands[1], &count = ptx.operands[2];
  const bool sign = ptx.type() == Type::s32 && count.kind == Operand::Kind::immediate &&
                    (count.bits & UINT32_MAX) == 31 && source.kind == Operand::Kind::reg;
  const bool open = shape.is_offset() && !shape.speculative && !fits_unsigned(shape, 31);
  if (!sign || !open || !shapes_.options.assume_no_wrap) return false;
  const ValueId value = inst.read(source.reg);
  if (shapes_.hoistable[value] == 0) return false;
  shapes_.assumptions.push_back({value, true, 0});
  return true;
}

/// The sign in all lanes of a packet, speculatively one. Divisions by powers of two begin with it.
Shape ShapeTransfer::sign_of(Type type) {
  Shape result;
  result.kind = Shape::Kind::offset;
  result.speculative = result.wraps_below = true;
  const bool is_signed = ptx::is_signed(type);
  set_bounds(result, is_signed ? -1 : 0, is_signed ? 0 : 1);
  return result;
}

/// A shift by which the lanes' distances can be divided shifts base and distances apart, whatever
/// the low bits of the base are, if no lane's sum wraps.
Shape ShapeTransfer::shift_apart(const Inst& inst, const Shape& a, int64_t count, Type type) {
  const uint32_t bits = ptx::size_bits(type);
  const uint64_t lost = (uint64_t{1} << count) - 1;
  Offsets offsets = shapes_.offsets[a.offsets];
  for (auto& offset : offsets) {
    if ((static_cast<uint64_t>(offset) & lost) != 0) {
      return bits == 32 && count == 31 ? sign_of(type) : Shape::varying();
    }
    offset >>= count;
  }
  const bool whole = a.bounded && fits(a, type);
  if (!whole && bits != 32) return Shape::varying();
  Shape result = widen(a, type, inst, inst.ptx->operands[1]);
  if (result.is_varying()) return result;
  result.wraps_below = result.speculative;
  result.align = a.align > count ? static_cast<uint8_t>(a.align - count) : 0;
  const int64_t half = int64_t{1} << (std::min(bits, 62u) - 1);
  const bool is_signed = ptx::is_signed(type);
  const int64_t low = whole ? a.low : is_signed ? -half : 0;
  const int64_t high = whole ? a.high : is_signed ? half - 1 : 2 * half - 1;
  set_bounds(result, low >> count, high >> count);
  return normalised(result, offsets, type);
}

Shape ShapeTransfer::shift_right(const Inst& inst, const Shape& a, const Shape& b, Type type) {
  if (a.kind == Shape::Kind::unknown || b.kind == Shape::Kind::unknown) return {};
  if (a.is_varying() || b.is_varying()) return Shape::varying();
  auto count = b.constant();
  const uint32_t bits = ptx::size_bits(type);
  bool known = count && *count >= 0 && *count < bits;
  bool in_range = a.bounded && a.low >= 0 && fits_signed(a, bits);
  if (a.is_uniform()) {
    if (!b.is_uniform()) return Shape::varying();
    Shape result = Shape::uniform(a.block_uniform && b.block_uniform);
    if (known && in_range) {
      result.bounded = true;
      result.low = a.low >> *count;
      result.high = a.high >> *count;
      result.align = a.align > *count ? static_cast<uint8_t>(a.align - *count) : 0;
    } else if (known && !ptx::is_signed(type) && bits - *count < 62) {
      result.bounded = true;
      result.high = (int64_t{1} << (bits - *count)) - 1;
    }
    return result;
  }
  if (!known) return Shape::varying();
  if (in_range && !a.speculative && a.low >> *count == a.high >> *count) {
    return Shape::of_constant(a.low >> *count);
  }
  if (a.speculative || !no_carry(a)) return shift_apart(inst, a, *count, type);
  // The offsets occupy bits in which the base has zeros, whatever its sign.
  Shape result;
  result.align = a.align > *count ? static_cast<uint8_t>(a.align - *count) : 0;
  if (a.align == 64) result.align = 64;
  if (in_range) {
    set_bounds(result, a.low >> *count, a.high >> *count);
  } else if (ptx::is_signed(type)) {
    set_bounds(result, -(__int128{1} << (bits - 1 - *count)),
               (__int128{1} << (bits - 1 - *count)) - 1);
  } else {
    set_bounds(result, 0, (__int128{1} << (bits - *count)) - 1);
  }
  Offsets offsets = shapes_.offsets[a.offsets];
  for (auto& offset : offsets) offset >>= *count;
  return normalised(result, offsets, type);
}

Shape ShapeTransfer::bitwise(Opcode opcode, const Shape& a, const Shape& b, Type type) {
  if (a.kind == Shape::Kind::unknown || b.kind == Shape::Kind::unknown) return {};
  if (a.is_varying() || b.is_varying()) return Shape::varying();
  if (!a.is_offset() && b.is_offset()) return bitwise(opcode, b, a, type);
  auto mask = b.constant();
  if (const auto value = a.constant(); value && mask) {
    const int64_t result = opcode == Opcode::and_  ? *value & *mask
                           : opcode == Opcode::or_ ? *value | *mask
                                                   : *value ^ *mask;
    return Shape::of_constant(sign_extend(static_cast<uint64_t>(result), ptx::size_bits(type)));
  }
  if (a.is_uniform() && b.is_uniform()) {
    Shape result = Shape::uniform(a.block_uniform && b.block_uniform);
    if (opcode == Opcode::and_ && mask && *mask >= 0) {
      result.bounded = true;
      result.high = *mask;
      result.align = std::max(a.align, trailing_zeros(*mask));
    }
    if (opcode == Opcode::or_) result.align = std::min(a.align, b.align);
    return result;
  }
  if (!mask || a.speculative) return Shape::varying();
  const uint8_t low_bits = std::min<uint8_t>(a.align, 62);
  const int64_t low_mask = (int64_t{1} << low_bits) - 1;
  Offsets offsets = shapes_.offsets[a.offsets];
  Shape result;
  if (opcode == Opcode::and_ && (*mask & ~low_mask) == 0) {  // only bits of the offsets remain
    result = Shape::of_constant(0);
    result.high = *mask;
    for (auto& offset : offsets) offset &= *mask;
    return normalised(result, offsets, type);
  }
  if (!no_carry(a)) return Shape::varying();
  result.align = a.align;
  if (opcode == Opcode::and_) {
    for (auto& offset : offsets) offset &= *mask;
    if (*mask >= 0) {
      result.bounded = true;
      result.high = *mask;
    } else if (a.bounded && a.low >= 0) {
      result.bounded = true;
      result.high = a.high;
    }
    return normalised(result, offsets, type);
  }
  if ((*mask & ~low_mask) != 0) return Shape::varying();
  for (auto& offset : offsets) offset = opcode == Opcode::or_ ? offset | *mask : offset ^ *mask;
  const int64_t first = offsets[0];  // lane 0 keeps offset 0, so its part moves to the base
  for (auto& offset : offsets) offset -= first;
  result.align = std::min(a.align, trailing_zeros(first));
  if (a.bounded && a.low >= 0) set_bounds(result, a.low, __int128{a.high} + *mask);
  return normalised(result, offsets, type);
}

/// A 32-bit operand read as 64 bits stays base + offset only if the sum does not wrap.
Shape ShapeTransfer::widen(const Shape& a, Type from, const Inst& inst, const Operand& source) {
  if (a.kind == Shape::Kind::unknown || a.is_varying()) return a;
  const uint32_t bits = ptx::size_bits(from);
  const bool whole = fits(a, from);
  if (a.is_uniform()) {
    Shape result = a;
    if (!whole && ptx::is_signed(from))
      set_bounds(result, -(__int128{1} << (bits - 1)), (__int128{1} << (bits - 1)) - 1);
    if (!whole && !ptx::is_signed(from)) set_bounds(result, 0, (__int128{1} << bits) - 1);
    return result;
  }
  if (whole) return a;
  Shape result = a;
  if (source.kind == Operand::Kind::reg && shapes_.options.assume_no_wrap && !a.speculative &&
      shapes_.hoistable[inst.read(source.reg)] != 0) {
    shapes_.assumptions.push_back({inst.read(source.reg), !ptx::is_signed(from), 0});
  } else {
    result.speculative = true;
  }
  set_bounds(result, -(__int128{1} << (bits - 1)), (__int128{1} << bits) - 1);
  return result;
}

Shape ShapeTransfer::convert(const Inst& inst, const Shape& a) {
  const Type to = inst.ptx->types[0], from = inst.ptx->types[1];
  if (a.kind == Shape::Kind::unknown) return {};
  bool plain = ptx::is_integer(to) && ptx::is_integer(from) && !inst.ptx->has(Modifier::sat);
  if (!plain || a.is_varying()) {
    return a.is_uniform() ? Shape::uniform(a.block_uniform) : Shape::varying();
  }
  const uint32_t to_bits = ptx::size_bits(to), from_bits = ptx::size_bits(from);
  if (to_bits > from_bits && from_bits == 32) return widen(a, from, inst, inst.ptx->operands[1]);
  if (to_bits > from_bits && !fits(a, from)) {
    return a.is_uniform() ? Shape::uniform(a.block_uniform) : Shape::varying();
  }
  // Registers are wider than the type, so the value changes.
  if (to_bits < from_bits && to_bits < 32) {
    if (fits(a, to)) return a;
    return a.is_uniform() ? Shape::uniform(a.block_uniform) : Shape::varying();
  }
  if (a.speculative && !a.wraps_below && to_bits < from_bits) {  // a wrap does not matter any more
    Shape result = a;
    result.speculative = false;
    result.bounded = false;
    return normalised(result, shapes_.offsets[a.offsets], to);
  }
  Shape result = a;
  if (to_bits < from_bits && a.is_offset()) {
    return normalised(result, shapes_.offsets[a.offsets], to);
  }
  return result;
}

/// The result of a comparison if it is the same for all pairs of values within the bounds.
std::optional<bool> ShapeTransfer::decided(const ptx::Instruction& ptx, const Shape& a,
                                           const Shape& b) {
  const Type type = ptx.types[0];
  const auto has = [&](Modifier m) { return ptx.has(m); };
  if (!ptx::is_integer(type) || a.speculative || b.speculative || !a.bounded || !b.bounded)
    return {};
  const uint32_t bits = ptx::size_bits(type);
  const bool is_unsigned = !ptx::is_signed(type) || has(Modifier::lo) || has(Modifier::ls) ||
                           has(Modifier::hi) || has(Modifier::hs);
  const auto in_range = [&](const Shape& s) {
    return is_unsigned ? fits_unsigned(s, bits) : fits_signed(s, bits);
  };
  if (!in_range(a) || !in_range(b)) return {};
  const bool apart = a.high < b.low || b.high < a.low;
  const bool same = a.low == a.high && b.low == b.high && a.low == b.low;
  if (has(Modifier::eq))
    return apart ? std::optional(false) : same ? std::optional(true) : std::nullopt;
  if (has(Modifier::ne))
    return apart ? std::optional(true) : same ? std::optional(false) : std::nullopt;
  const auto less = [](const Shape& x, const Shape& y) -> std::optional<bool> {
    if (x.high < y.low) return true;
    return x.low >= y.high ? std::optional(false) : std::nullopt;
  };
  const auto inverse = [](std::optional<bool> value) {
    return value ? std::optional(!*value) : std::nullopt;
  };
  if (has(Modifier::lt) || has(Modifier::lo)) return less(a, b);
  if (has(Modifier::gt) || has(Modifier::hi)) return less(b, a);
  if (has(Modifier::ge) || has(Modifier::hs)) return inverse(less(a, b));
  if (has(Modifier::le) || has(Modifier::ls)) return inverse(less(b, a));
  return {};
}

Shape ShapeTransfer::compare(const Inst& inst, const Shape& a, const Shape& b) {
  if (a.kind == Shape::Kind::unknown || b.kind == Shape::Kind::unknown) return {};
  const Type type = inst.ptx->types[0];
  if (const auto known = decided(*inst.ptx, a, b)) return Shape::of_constant(*known ? 1 : 0);
  if (a.is_uniform() && b.is_uniform()) {
    return Shape::uniform(a.block_uniform && b.block_uniform);
  }
  if (!ptx::is_integer(type) || !a.is_offset() || a.speculative || !b.constant())
    return Shape::varying();
  const uint32_t bits = ptx::size_bits(type);
  bool ordered = no_carry(a) && a.bounded && a.low >= 0 && fits_signed(a, bits);
  if (!ordered || *b.constant() < 0) return Shape::varying();
  const Offsets& offsets = shapes_.offsets[a.offsets];
  const auto last = static_cast<uint64_t>(*std::max_element(offsets.begin(), offsets.end()));
  const auto unit = static_cast<int64_t>(std::bit_ceil(last + 1));
  const auto has = [&](Modifier m) { return inst.ptx->has(m); };
  bool exclusive = has(Modifier::lt) || has(Modifier::ge) || has(Modifier::lo) || has(Modifier::hs);
  bool inclusive = has(Modifier::gt) || has(Modifier::le) || has(Modifier::hi) || has(Modifier::ls);
  // All lanes are in [base, base + unit), so a bound that is a multiple of unit separates none.
  if (exclusive && *b.constant() % unit == 0) return Shape::uniform(false);
  if (inclusive && (*b.constant() + 1) % unit == 0) return Shape::uniform(false);
  return Shape::varying();
}

Shape ShapeTransfer::memory(const Inst& inst, BlockId block) {
  const auto& ptx = *inst.ptx;
  const Operand& address = ptx.operands[1];
  Shape shape = Shape::uniform(true);
  if (address.reg != ptx::kNone) shape = shapes_.at(kernel_, inst.read(address.reg), block);
  if (shape.kind == Shape::Kind::unknown) return {};
  bool is_local = ptx.has(Modifier::local);
  if (address.symbol != kNone) {
    const auto& symbol = kernel_.symbol_of(address);
    is_local = is_local || symbol.space == ptx::Space::local;
    bool parameter = symbol.space == ptx::Space::param;
    if (parameter && !kernel_.function->is_entry) return Shape::varying();
    if (parameter && !kernel_.is_parameter(address))
      return Shape::varying();  // the parameter block of a call
  }
  const bool one_access = !ptx.has(Modifier::volatile_) || !shapes_.options.independent_threads;
  if (is_local || !shape.is_uniform() || !one_access) return Shape::varying();
  bool constant = ptx.has(Modifier::param) || ptx.has(Modifier::param_entry) ||
                  ptx.has(Modifier::const_) || ptx.has(Modifier::nc);
  Shape result = Shape::uniform(constant && shape.block_uniform);
  if (inst.writes.size() == 1 && !shapes_.wanted_alignments.empty()) {
    const ValueId value = inst.writes[0].second;
    result.align = shapes_.wanted_alignments[value];
    if (result.align != 0) shapes_.assumptions.push_back({value, false, result.align});
  }
  return result;
}

}  // namespace km::simt
