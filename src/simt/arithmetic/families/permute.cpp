// prmt and lop3, whose controls are nearly always constants.
#include <llvm/IR/Intrinsics.h>
#include <array>
#include <limits>

#include "simt/arithmetic/lanes.h"
#include "simt/machine/instructions.h"

namespace km::simt::arithmetic {
namespace {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
namespace I = llvm::Intrinsic;

// ---- prmt

/// The selectors of the four values that the two low bits of the control can take.
struct Mode {
  Modifier modifier;
  std::array<uint16_t, 4> selectors;
};

constexpr Mode kModes[] = {
    {Modifier::f4e, {0x3210, 0x4321, 0x5432, 0x6543}},
    {Modifier::b4e, {0x5670, 0x6701, 0x7012, 0x0123}},
    {Modifier::rc8, {0x0000, 0x1111, 0x2222, 0x3333}},
    {Modifier::ecl, {0x3210, 0x3211, 0x3222, 0x3333}},
    {Modifier::ecr, {0x0000, 0x1110, 0x2210, 0x3210}},
    {Modifier::rc16, {0x1010, 0x3232, 0x1010, 0x3232}},
};

const Mode* mode_of(const Instruction& in) {
  for (const Mode& mode : kModes) {
    if (in.has(mode.modifier)) return &mode;
  }
  return nullptr;
}

/// A byte shuffle within each lane; bit 3 of a selector's nibble replicates the byte's sign.
V permute_vector(Lanes& l, V a, V c, unsigned selector) {
  auto& b = l.b;
  unsigned bytes = 4 * l.count();
  auto* type = llvm::FixedVectorType::get(b.getInt8Ty(), bytes);
  std::vector<int> source(bytes), signs(bytes);
  for (unsigned i = 0; i < bytes; ++i) {
    unsigned nibble = (selector >> (4 * (i % 4))) & 0xf, lane = i / 4;
    unsigned byte = nibble & 7;
    source[i] = static_cast<int>(byte < 4 ? 4 * lane + byte : bytes + 4 * lane + byte - 4);
    signs[i] = static_cast<int>(nibble & 8 ? bytes + i : i);
  }
  V low = b.CreateBitCast(a, type), high = b.CreateBitCast(c, type);
  V picked = b.CreateShuffleVector(low, high, source);
  if (selector & 0x8888) {
    V sign = b.CreateAShr(picked, llvm::ConstantInt::get(type, 7));
    picked = b.CreateShuffleVector(picked, sign, signs);
  }
  return b.CreateBitCast(picked, l.integer(32));
}

/// One byte of {c, a} selected by nibble `i` of the selector, when that is not constant.
V permuted_byte(Lanes& l, V a, V c, V selector, unsigned i) {
  auto& b = l.b;
  V nibble = b.CreateLShr(selector, l.constant(32, 4 * i));
  auto bit = [&](unsigned position) {
    V masked = b.CreateAnd(nibble, l.constant(32, uint64_t{1} << position));
    return b.CreateICmpNE(masked, l.constant(32, 0));
  };
  V word = l.select(bit(2), c, a);
  V shift = b.CreateShl(b.CreateAnd(nibble, l.constant(32, 3)), l.constant(32, 3));
  V byte = b.CreateAnd(b.CreateLShr(word, shift), l.constant(32, 0xff));
  V negative = b.CreateICmpUGE(byte, l.constant(32, 0x80));
  V sign = l.select(negative, l.constant(32, 0xff), l.constant(32, 0));
  return b.CreateShl(l.select(bit(3), sign, byte), l.constant(32, 8 * i));
}

Values prmt(Lanes& l, const Instruction& in, std::span<V const> s) {
  auto& b = l.b;
  V selector = s[2];
  if (const Mode* mode = mode_of(in)) {
    V low = b.CreateAnd(selector, l.constant(32, 3));
    selector = l.constant(32, mode->selectors[3]);
    for (unsigned i = 3; i-- > 0;) {
      V chosen = b.CreateICmpEQ(low, l.constant(32, i));
      selector = l.select(chosen, l.constant(32, mode->selectors[i]), selector);
    }
  }
  if (auto known = Lanes::known(selector); known && l.count() > 1) {
    return {permute_vector(l, s[0], s[1], static_cast<unsigned>(*known & 0xffff))};
  }
  V result = permuted_byte(l, s[0], s[1], selector, 0);
  for (unsigned i = 1; i < 4; ++i) {
    result = b.CreateOr(result, permuted_byte(l, s[0], s[1], selector, i));
  }
  return {result};
}

// ---- lop3

/// For each of the 256 functions of three bits, the construction from the fewest two-input
/// operations.
class Recipes {
 public:
  enum class Kind : uint8_t { unknown, given, and_, and_not, or_, xor_, not_ };
  struct Step {
    Kind kind = Kind::unknown;
    uint8_t left = 0, right = 0;
    uint16_t cost = std::numeric_limits<uint16_t>::max();
  };
  static constexpr uint8_t kA = 0xf0, kB = 0xcc, kC = 0xaa;

  Recipes() {
    for (uint8_t given : {uint8_t{0x00}, uint8_t{0xff}, kA, kB, kC})
      steps_[given] = {Kind::given, 0, 0, 0};
    while (improve()) {
    }
  }
  const Step& operator[](uint8_t table) const { return steps_[table]; }

 private:
  bool improve() {
    bool changed = false;
    for (unsigned x = 0; x < 256; ++x) {
      if (steps_[x].kind == Kind::unknown) continue;
      changed |= offer(~x, Kind::not_, x, x);
      for (unsigned y = 0; y < 256; ++y) {
        if (steps_[y].kind == Kind::unknown) continue;
        changed |= offer(x & y, Kind::and_, x, y);
        changed |= offer(~x & y, Kind::and_not, x, y);
        changed |= offer(x | y, Kind::or_, x, y);
        changed |= offer(x ^ y, Kind::xor_, x, y);
      }
    }
    return changed;
  }

  bool offer(unsigned table, Kind kind, unsigned left, unsigned right) {
    Step& step = steps_[table & 0xff];
    unsigned below = kind == Kind::not_ ? 0 : steps_[right].cost;
    unsigned cost = steps_[left].cost + below + 1;
    if (cost >= step.cost) return false;
    step = {kind, static_cast<uint8_t>(left), static_cast<uint8_t>(right),
            static_cast<uint16_t>(cost)};
    return true;
  }

  std::array<Step, 256> steps_;
};

V build_logic(Lanes& l, const Recipes& recipes, uint8_t table, std::span<V const> s) {
  const Recipes::Step& step = recipes[table];
  if (step.kind == Recipes::Kind::given) {
    switch (table) {
      case Recipes::kA:
        return s[0];
      case Recipes::kB:
        return s[1];
      case Recipes::kC:
        return s[2];
      default:
        return table ? l.all_ones(s[0]) : l.zero(s[0]);
    }
  }
  V left = build_logic(l, recipes, step.left, s);
  if (step.kind == Recipes::Kind::not_) return l.b.CreateNot(left);
  V right = build_logic(l, recipes, step.right, s);
  switch (step.kind) {
    case Recipes::Kind::and_:
      return l.b.CreateAnd(left, right);
    case Recipes::Kind::and_not:
      return l.b.CreateAnd(l.b.CreateNot(left), right);
    case Recipes::Kind::or_:
      return l.b.CreateOr(left, right);
    default:
      return l.b.CreateXor(left, right);
  }
}

V logic(Lanes& l, uint8_t table, std::span<V const> s) {
  static const Recipes recipes;
  const unsigned words = l.machine().elements_of(32);
  if (l.machine().has_ternary_logic() && l.count() >= words && recipes[table].cost > 1) {
    return l.in_chunks(words, {s[0], s[1], s[2]}, [&](std::span<V const> x) {
      return instructions::ternary_logic(l.b, table, x[0], x[1], x[2]);
    });
  }
  return build_logic(l, recipes, table, s);
}

Values lop3(Lanes& l, const Instruction& in, std::span<V const> s) {
  V d = logic(l, static_cast<uint8_t>(Lanes::known(s[3]).value_or(0)), s);
  if (s.size() < 5) return {d};
  V any_bit = l.b.CreateICmpNE(d, l.zero(d));
  return {d, in.has(Modifier::or_) ? l.any(any_bit, s[4]) : l.both(any_bit, s[4])};
}

}  // namespace

Handler find_permute(const Instruction& in) { return in.opcode == Opcode::prmt ? prmt : lop3; }

}  // namespace km::simt::arithmetic
