#include <gtest/gtest.h>

#include <bit>
#include <type_traits>

#include "unit/simt/arithmetic/arith_harness.h"

namespace km::simt::arith {
namespace {

using Wide = __int128;
using In = std::span<const uint64_t>;

struct IntegerType {
  const char* name;
  unsigned bits;
  bool is_signed;

  Wide value(uint64_t word) const {
    if (!is_signed) return static_cast<Wide>(word);
    return static_cast<Wide>(static_cast<int64_t>(word << (64 - bits)) >> (64 - bits));
  }
  uint64_t word(Wide value) const { return word(value, bits); }
  static uint64_t word(Wide value, unsigned bits) {
    return static_cast<uint64_t>(value) & (bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1);
  }
  Wide most() const { return (Wide{1} << (is_signed ? bits - 1 : bits)) - 1; }
  Wide least() const { return is_signed ? -(Wide{1} << (bits - 1)) : 0; }
  Wide clamp(Wide value) const {
    return value < least() ? least() : value > most() ? most() : value;
  }
};

const IntegerType kTypes[] = {{"u16", 16, false}, {"u32", 32, false}, {"u64", 64, false},
                              {"s16", 16, true},  {"s32", 32, true},  {"s64", 64, true}};

/// Runs `f(type, values...) -> exact result` for all types; the result is cut to the type.
template <class F>
void for_all_types(const std::string& name, unsigned sources, F f) {
  for (const IntegerType& t : kTypes) {
    expect_same({name + "." + t.name, sources}, [&](In x) -> Row {
      std::vector<Wide> values;
      for (uint64_t word : x) values.push_back(t.value(word));
      return {t.word(f(t, values))};
    });
  }
}

using Vs = const std::vector<Wide>&;

TEST(ArithInteger, AddSub) {
  for_all_types("add", 2, [](const IntegerType&, Vs v) { return v[0] + v[1]; });
  for_all_types("sub", 2, [](const IntegerType&, Vs v) { return v[0] - v[1]; });
  const IntegerType s32 = kTypes[4];
  expect_same({"add.sat.s32", 2}, [&](In x) -> Row {
    return {s32.word(s32.clamp(s32.value(x[0]) + s32.value(x[1])))};
  });
  expect_same({"sub.sat.s32", 2}, [&](In x) -> Row {
    return {s32.word(s32.clamp(s32.value(x[0]) - s32.value(x[1])))};
  });
}

Wide high(const IntegerType& t, Wide a, Wide b) {
  if (t.bits < 64) return (a * b) >> t.bits;
  // 128-bit products of 64-bit values, in parts.
  unsigned __int128 ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  Wide result = static_cast<Wide>(static_cast<uint64_t>((ua * ub) >> 64));
  if (t.is_signed && a < 0) result -= b;
  if (t.is_signed && b < 0) result -= a;
  return result;
}

TEST(ArithInteger, MulMad) {
  for_all_types("mul.lo", 2, [](const IntegerType& t, Vs v) {
    return static_cast<Wide>(t.word(v[0]) * t.word(v[1]));
  });
  for_all_types("mul.hi", 2, [](const IntegerType& t, Vs v) { return high(t, v[0], v[1]); });
  for_all_types("mad.lo", 3, [](const IntegerType& t, Vs v) {
    return static_cast<Wide>(t.word(v[0]) * t.word(v[1]) + t.word(v[2]));
  });
  for_all_types("mad.hi", 3, [](const IntegerType& t, Vs v) { return high(t, v[0], v[1]) + v[2]; });
  const IntegerType s32 = kTypes[4];
  expect_same({"mad.hi.sat.s32", 3}, [&](In x) -> Row {
    Wide sum = high(s32, s32.value(x[0]), s32.value(x[1])) + s32.value(x[2]);
    return {s32.word(s32.clamp(sum))};
  });
}

TEST(ArithInteger, Wide) {
  for (const IntegerType& t : kTypes) {
    if (t.bits == 64) continue;
    expect_same({std::string("mul.wide.") + t.name, 2}, [&](In x) -> Row {
      return {IntegerType::word(t.value(x[0]) * t.value(x[1]), 2 * t.bits)};
    });
    expect_same({std::string("mad.wide.") + t.name, 3}, [&](In x) -> Row {
      return {
          IntegerType::word(t.value(x[0]) * t.value(x[1]) + static_cast<Wide>(x[2]), 2 * t.bits)};
    });
  }
}

TEST(ArithInteger, Mul24) {
  for (bool is_signed : {false, true}) {
    const IntegerType t = {"", 24, is_signed}, full = {"", 32, is_signed};
    auto product = [=](In x) { return t.value(x[0] & 0xffffff) * t.value(x[1] & 0xffffff); };
    std::string type = is_signed ? ".s32" : ".u32";
    expect_same({"mul24.lo" + type, 2}, [=](In x) -> Row { return {full.word(product(x))}; });
    expect_same({"mul24.hi" + type, 2}, [=](In x) -> Row { return {full.word(product(x) >> 16)}; });
    expect_same({"mad24.lo" + type, 3},
                [=](In x) -> Row { return {full.word(product(x) + Wide(x[2]))}; });
    expect_same({"mad24.hi" + type, 3},
                [=](In x) -> Row { return {full.word((product(x) >> 16) + Wide(x[2]))}; });
    if (!is_signed) continue;
    expect_same({"mad24.hi.sat.s32", 3}, [=](In x) -> Row {
      return {full.word(full.clamp((product(x) >> 16) + full.value(x[2])))};
    });
  }
}

TEST(ArithInteger, SadMinMaxAbsNeg) {
  for_all_types("sad", 3, [](const IntegerType&, Vs v) {
    return v[2] + (v[0] < v[1] ? v[1] - v[0] : v[0] - v[1]);
  });
  for_all_types("min", 2, [](const IntegerType&, Vs v) { return std::min(v[0], v[1]); });
  for_all_types("max", 2, [](const IntegerType&, Vs v) { return std::max(v[0], v[1]); });
  for (const IntegerType& t : kTypes) {
    if (!t.is_signed) continue;
    expect_same({std::string("abs.") + t.name, 1}, [&](In x) -> Row {
      Wide value = t.value(x[0]);
      return {t.word(value < 0 ? -value : value)};
    });
    expect_same({std::string("neg.") + t.name, 1},
                [&](In x) -> Row { return {t.word(-t.value(x[0]))}; });
  }
  const IntegerType s32 = kTypes[4];
  expect_same({"min.relu.s32", 2}, [&](In x) -> Row {
    return {s32.word(std::max<Wide>(0, std::min(s32.value(x[0]), s32.value(x[1]))))};
  });
  expect_same({"max.relu.s32", 2}, [&](In x) -> Row {
    return {s32.word(std::max<Wide>(0, std::max(s32.value(x[0]), s32.value(x[1]))))};
  });
}

TEST(ArithInteger, Packed) {
  auto each = [](In x, bool is_signed, auto f) {
    const IntegerType t = {"", 16, is_signed};
    uint64_t low = t.word(f(t.value(x[0] & 0xffff), t.value(x[1] & 0xffff)));
    uint64_t high = t.word(f(t.value(x[0] >> 16), t.value(x[1] >> 16)));
    return Row{low | high << 16};
  };
  auto least = [](Wide a, Wide b) { return std::min(a, b); };
  auto most = [](Wide a, Wide b) { return std::max(a, b); };
  auto sum = [](Wide a, Wide b) { return a + b; };
  expect_same({"add.u16x2", 2}, [=](In x) { return each(x, false, sum); });
  expect_same({"add.s16x2", 2}, [=](In x) { return each(x, true, sum); });
  expect_same({"min.u16x2", 2}, [=](In x) { return each(x, false, least); });
  expect_same({"min.s16x2", 2}, [=](In x) { return each(x, true, least); });
  expect_same({"max.u16x2", 2}, [=](In x) { return each(x, false, most); });
  expect_same({"max.s16x2", 2}, [=](In x) { return each(x, true, most); });
  expect_same({"max.relu.s16x2", 2}, [=](In x) {
    return each(x, true, [](Wide a, Wide b) { return std::max<Wide>(0, std::max(a, b)); });
  });
}

TEST(ArithInteger, Division) {
  for_all_types("div", 2, [](const IntegerType& t, Vs v) {
    return v[1] == 0 ? Wide{-1} : static_cast<Wide>(t.word(v[0] / v[1]));
  });
  for_all_types("rem", 2, [](const IntegerType&, Vs v) {
    return v[1] == 0 ? Wide{-1} : v[0] - v[0] / v[1] * v[1];
  });
}

TEST(ArithInteger, DivisionByConstants) {
  for (uint64_t divisor :
       {0ull, 1ull, 2ull, 3ull, 7ull, 10ull, 641ull, 0x80000000ull, 0xffffffffull}) {
    for (const char* name : {"div.u32", "rem.u32", "div.s32", "rem.s32"}) {
      Form form{name, 2, false, {{1, divisor}}};
      const IntegerType t = {"", 32, name[4] == 's'};
      bool quotient = name[0] == 'd';
      expect_same(
          form,
          [=](In x) -> Row {
            Wide a = t.value(x[0]), b = t.value(x[1]);
            if (b == 0) return {0xffffffff};
            return {t.word(quotient ? a / b : a - a / b * b)};
          },
          3000);
    }
  }
}

TEST(ArithInteger, LogicAndShifts) {
  for (unsigned bits : {16u, 32u, 64u}) {
    std::string type = ".b" + std::to_string(bits);
    const IntegerType u = {"", bits, false}, s = {"", bits, true};
    expect_same({"and" + type, 2}, [=](In x) -> Row { return {x[0] & x[1]}; }, 1000);
    expect_same({"or" + type, 2}, [=](In x) -> Row { return {x[0] | x[1]}; }, 1000);
    expect_same({"xor" + type, 2}, [=](In x) -> Row { return {x[0] ^ x[1]}; }, 1000);
    expect_same({"not" + type, 1}, [=](In x) -> Row { return {u.word(~Wide(x[0]))}; }, 1000);
    expect_same({"cnot" + type, 1}, [=](In x) -> Row { return {x[0] == 0}; }, 1000);
    auto right = [=](In x) -> Row { return {x[1] >= bits ? 0 : x[0] >> x[1]}; };
    expect_same({"shl" + type, 2},
                [=](In x) -> Row { return {x[1] >= bits ? 0 : u.word(Wide(x[0]) << x[1])}; });
    expect_same({"shr" + type, 2}, right);
    expect_same({"shr.u" + std::to_string(bits), 2}, right);
    expect_same({"shr.s" + std::to_string(bits), 2}, [=](In x) -> Row {
      return {s.word(s.value(x[0]) >> std::min<uint64_t>(x[1], bits - 1))};
    });
    for (uint64_t amount : {0ull, 5ull, 15ull, 16ull, 31ull, 32ull, 63ull, 64ull, 0x80000001ull}) {
      expect_same_in_turn(
          {"shl" + type, 2, false, {{1, amount}}},
          [=](In x) -> Row { return {x[1] >= bits ? 0 : u.word(Wide(x[0]) << x[1])}; }, 100);
      expect_same_in_turn({"shr" + type, 2, false, {{1, amount}}}, right, 100);
    }
  }
  expect_same({"and.pred", 2}, [](In x) -> Row { return {x[0] & x[1]}; }, 32);
  expect_same({"xor.pred", 2}, [](In x) -> Row { return {x[0] ^ x[1]}; }, 32);
  expect_same({"not.pred", 1}, [](In x) -> Row { return {x[0] ^ 1}; }, 32);
}

/// The sum of c and the products of parts of a, each `a_bits` wide, with bytes of b.
Row dot(In x, unsigned a_bits, unsigned first_byte, bool a_signed, bool b_signed) {
  const IntegerType a = {"", a_bits, a_signed}, b = {"", 8, b_signed};
  Wide sum = Wide(x[2]);
  for (unsigned i = 0; i < 32 / a_bits; ++i) {
    uint64_t part = x[0] >> (i * a_bits) & ((1u << a_bits) - 1);
    sum += a.value(part) * b.value(x[1] >> (8 * (first_byte + i)) & 0xff);
  }
  return {IntegerType::word(sum, 32)};
}

TEST(ArithInteger, DotProducts) {
  for (bool sa : {false, true}) {
    for (bool sb : {false, true}) {
      std::string types = std::string(sa ? ".s32" : ".u32") + (sb ? ".s32" : ".u32");
      expect_same({"dp4a" + types, 3}, [=](In x) { return dot(x, 8, 0, sa, sb); });
      expect_same({"dp2a.lo" + types, 3}, [=](In x) { return dot(x, 16, 0, sa, sb); });
      expect_same({"dp2a.hi" + types, 3}, [=](In x) { return dot(x, 16, 2, sa, sb); });
    }
  }
}

}  // namespace
}  // namespace km::simt::arith
