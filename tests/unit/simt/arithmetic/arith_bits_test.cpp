#include <gtest/gtest.h>

#include <bit>

#include "unit/simt/arithmetic/arith_harness.h"

namespace km::simt::arith {
namespace {

using In = std::span<const uint64_t>;

uint64_t low_bits(unsigned bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }
bool bit(uint64_t word, unsigned index) { return word >> index & 1; }

/// A position or length: the low byte for words of 32 bits; for words of 64 all of it counts, as on
/// a GPU, where anything beyond the word is like 255.
unsigned extent(uint64_t given, unsigned width) {
  const auto number = static_cast<uint32_t>(given);
  return width == 32 ? number & 0xff : std::min(number, 255U);
}

/// The ISA's loop.
uint64_t bfe(In x, unsigned width, bool is_signed) {
  unsigned msb = width - 1, pos = extent(x[1], width), len = extent(x[2], width);
  bool sign = is_signed && len != 0 && bit(x[0], std::min(pos + len - 1, msb));
  uint64_t d = 0;
  for (unsigned i = 0; i <= msb; ++i) {
    bool value = i < len && pos + i <= msb ? bit(x[0], pos + i) : sign;
    d |= static_cast<uint64_t>(value) << i;
  }
  return d;
}

uint64_t bfi(In x, unsigned width) {
  unsigned pos = extent(x[2], width), len = extent(x[3], width);
  uint64_t f = x[1];
  for (unsigned i = 0; i < len && pos + i < width; ++i) {
    f = (f & ~(uint64_t{1} << (pos + i))) | static_cast<uint64_t>(bit(x[0], i)) << (pos + i);
  }
  return f;
}

void check_extraction(unsigned width, bool is_signed) {
  std::string name = "bfe." + std::string(is_signed ? "s" : "u") + std::to_string(width);
  auto reference = [=](In x) -> Row { return {bfe(x, width, is_signed)}; };
  expect_same({name, 3}, reference);
  for (uint64_t pos : {0, 5, 31, 32, 63, 64, 255}) {
    for (uint64_t len : {0, 1, 8, 32, 64, 255}) {
      expect_same_in_turn({name, 3, false, {{1, pos}, {2, len}}}, reference, 100);
    }
  }
}

TEST(ArithBits, FieldExtraction) {
  for (unsigned width : {32u, 64u}) {
    check_extraction(width, false);
    check_extraction(width, true);
  }
}

TEST(ArithBits, FieldInsertion) {
  for (unsigned width : {32u, 64u}) {
    std::string name = "bfi.b" + std::to_string(width);
    auto reference = [=](In x) -> Row { return {bfi(x, width)}; };
    expect_same({name, 4}, reference);
    for (uint64_t pos : {0, 7, 31, 33, 64}) {
      for (uint64_t len : {0, 1, 16, 32, 255}) {
        expect_same_in_turn({name, 4, false, {{2, pos}, {3, len}}}, reference, 100);
      }
    }
  }
}

uint64_t bmsk(In x, bool clamp) {
  uint32_t a = static_cast<uint32_t>(x[0]), b = static_cast<uint32_t>(x[1]);
  uint32_t a1 = a & 31, b1 = b & 31, mask0 = ~0u << a1, sum = a1 + b1;
  uint32_t mask1 = sum >= 32 ? 0 : ~0u << sum;
  bool wide = sum >= 32;
  if (clamp && a >= 32) {
    wide = true;
    mask0 = 0;
  }
  if (clamp && b >= 32) wide = true;
  if (wide) {
    mask1 = 0;
  } else if (b1 == 0) {
    mask1 = ~0u;
  }
  return mask0 & ~mask1;
}

uint64_t szext(In x, bool clamp, bool is_signed) {
  uint32_t a = static_cast<uint32_t>(x[0]), b = static_cast<uint32_t>(x[1]), b1 = b & 31;
  bool too_large = b >= 32 && clamp;
  uint32_t mask = too_large ? 0 : ~0u << b1;
  bool sign = !(b1 == 0 || too_large || !is_signed) && bit(a, (b1 - 1) & 31);
  return (a & ~mask) | (sign ? mask : 0);
}

TEST(ArithBits, MasksAndExtensions) {
  for (bool clamp : {false, true}) {
    std::string mode = clamp ? ".clamp" : ".wrap";
    expect_same({"bmsk" + mode + ".b32", 2}, [=](In x) -> Row { return {bmsk(x, clamp)}; });
    for (bool is_signed : {false, true}) {
      expect_same({"szext" + mode + (is_signed ? ".s32" : ".u32"), 2},
                  [=](In x) -> Row { return {szext(x, clamp, is_signed)}; });
    }
  }
}

uint64_t bfind(uint64_t a, unsigned width, bool is_signed, bool shift) {
  if (is_signed && bit(a, width - 1)) a = ~a & low_bits(width);
  for (unsigned i = width; i-- > 0;) {
    if (bit(a, i)) return shift ? width - 1 - i : i;
  }
  return 0xffffffff;
}

TEST(ArithBits, CountsAndSearches) {
  for (unsigned width : {32u, 64u}) {
    std::string type = ".b" + std::to_string(width);
    expect_same({"popc" + type, 1}, [](In x) -> Row { return {uint64_t(std::popcount(x[0]))}; });
    expect_same({"clz" + type, 1},
                [=](In x) -> Row { return {uint64_t(std::countl_zero(x[0])) - (64 - width)}; });
    expect_same({"brev" + type, 1}, [=](In x) -> Row {
      uint64_t d = 0;
      for (unsigned i = 0; i < width; ++i) d |= uint64_t(bit(x[0], i)) << (width - 1 - i);
      return {d};
    });
    for (bool is_signed : {false, true}) {
      for (bool shift : {false, true}) {
        std::string name =
            std::string("bfind") + (shift ? ".shiftamt" : "") + (is_signed ? ".s" : ".u");
        expect_same({name + std::to_string(width), 1},
                    [=](In x) -> Row { return {bfind(x[0], width, is_signed, shift)}; });
      }
    }
  }
}

uint64_t fns(uint32_t mask, uint32_t base, int32_t offset) {
  if (offset == 0) return bit(mask, base) ? base : 0xffffffff;
  int64_t pos = base, count = std::abs(static_cast<int64_t>(offset)) - 1;
  for (; pos >= 0 && pos < 32; pos += offset > 0 ? 1 : -1) {
    if (!bit(mask, static_cast<unsigned>(pos))) continue;
    if (count-- == 0) return static_cast<uint64_t>(pos);
  }
  return 0xffffffff;
}

TEST(ArithBits, NthSetBit) {
  std::vector<Row> rows;
  for (uint64_t mask : tricky(ptx::Type::b32)) {
    for (uint64_t base = 0; base < 32; ++base) {
      for (int32_t offset :
           {0, 1, 2, 3, 9, 16, 32, 33, -1, -2, -5, -17, -32, -33, INT32_MAX, INT32_MIN}) {
        rows.push_back({mask ^ (base * 0x01010101), base, static_cast<uint32_t>(offset)});
      }
    }
  }
  while (rows.size() % 32) rows.push_back(rows[0]);
  expect_same(
      {"fns.b32", 3},
      [](In x) -> Row {
        return {fns(static_cast<uint32_t>(x[0]), static_cast<uint32_t>(x[1]),
                    static_cast<int32_t>(x[2]))};
      },
      rows);
}

TEST(ArithBits, FunnelShifts) {
  for (bool left : {false, true}) {
    for (bool clamp : {false, true}) {
      std::string name =
          std::string("shf.") + (left ? "l" : "r") + (clamp ? ".clamp.b32" : ".wrap.b32");
      auto reference = [=](In x) -> Row {
        uint64_t both = x[1] << 32 | x[0];
        uint64_t n = clamp ? std::min<uint64_t>(x[2], 32) : x[2] & 31;
        return {left ? (n == 32 ? x[0] : (both << n) >> 32) : both >> n & 0xffffffff};
      };
      expect_same({name, 3}, reference);
      for (uint64_t n : {0, 1, 8, 31, 32, 40})
        expect_same_in_turn({name, 3, false, {{2, n}}}, reference, 100);
    }
  }
}

uint64_t pick(uint64_t low, uint64_t high, uint64_t selector, bool signs) {
  uint64_t both = high << 32 | low, d = 0;
  for (unsigned i = 0; i < 4; ++i) {
    uint64_t nibble = selector >> (4 * i) & 0xf;
    uint64_t byte = both >> (8 * (nibble & 7)) & 0xff;
    if (signs && (nibble & 8)) byte = byte & 0x80 ? 0xff : 0;
    d |= byte << (8 * i);
  }
  return d;
}

TEST(ArithBits, BytePermutation) {
  auto general = [](In x) -> Row { return {pick(x[0], x[1], x[2], true)}; };
  expect_same({"prmt.b32", 3}, general, 100000);
  for (uint64_t selector : {0x3210, 0x7654, 0x0123, 0x5410, 0x7632, 0x6420, 0x4444, 0x8888, 0xba98,
                            0xf7e6, 0x1032, 0x7610, 0x12340}) {
    expect_same_in_turn({"prmt.b32", 3, false, {{2, static_cast<uint64_t>(selector)}}}, general,
                        300);
  }
}

TEST(ArithBits, BytePermutationModes) {
  // By the ISA's table: bytes of d from the highest to the lowest, for c & 3 from 0 to 3.
  const std::pair<const char*, std::array<uint64_t, 4>> modes[] = {
      {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
      {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
      {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}}};
  for (const auto& [name, selectors] : modes) {
    auto reference = [&table = selectors](In x) -> Row {
      return {pick(x[0], x[1], table[x[2] & 3], false)};
    };
    expect_same({std::string("prmt.b32.") + name, 3}, reference, 1000);
    expect_same({std::string("prmt.b32.") + name, 3, false, {{2, 6}}}, reference, 100);
  }
}

TEST(ArithBits, EveryThreeInputFunction) {
  auto lop = [](In x) {
    uint64_t d = 0;
    for (unsigned i = 0; i < 32; ++i) {
      unsigned index = bit(x[0], i) * 4u + bit(x[1], i) * 2u + bit(x[2], i);
      d |= static_cast<uint64_t>(bit(x[3], index)) << i;
    }
    return d;
  };
  std::vector<Row> rows;
  for (unsigned n = 0; n < 32; ++n) {
    rows.push_back({random_value(ptx::Type::b32), random_value(ptx::Type::b32),
                    random_value(ptx::Type::b32), 0});
  }
  for (uint64_t table = 0; table < 256; ++table) {
    for (Row& row : rows) row[3] = table;
    expect_same_in_turn(
        {"lop3.b32", 4, false, {{3, table}}}, [&](In x) -> Row { return {lop(x)}; }, rows);
  }
  for (bool conjunction : {false, true}) {
    Form form{conjunction ? "lop3.and.b32" : "lop3.or.b32", 5, true, {{3, 0x80}}};
    expect_same(
        form,
        [&](In x) -> Row {
          uint64_t d = lop(x), p = d != 0;
          return {d, conjunction ? p & x[4] : p | x[4]};
        },
        1000);
  }
}

}  // namespace
}  // namespace km::simt::arith
