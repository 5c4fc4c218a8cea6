// Literals and constant expressions, by what an instruction makes of them.
#include <bit>
#include <cmath>
#include <random>

#include "ptx/parser/literal.h"
#include "support.h"

namespace km::ptx::test {
namespace {

/// The bits of the constant in `mov.<type> register, <text>`.
uint64_t bits_of(std::string_view type, std::string_view text) {
  std::string_view reg = type == "f32"          ? "%f1"
                         : type == "f64"        ? "%fd1"
                         : type.ends_with("64") ? "%rd1"
                         : type.ends_with("16") ? "%rs1"
                         : type == "pred"       ? "%p1"
                                                : "%r1";
  std::string line =
      "mov." + std::string(type) + " " + std::string(reg) + ", " + std::string(text) + ";";
  auto module = parse_good(kernel(line));
  return module ? code_of(*module)[0].operands[1].bits : 0xdeadbeef;
}

TEST(Literal, Integers) {
  EXPECT_EQ(bits_of("u32", "4294967295"), 0xffffffffu);
  EXPECT_EQ(bits_of("u32", "0x1F"), 31u);
  EXPECT_EQ(bits_of("u32", "0X1fU"), 31u);
  EXPECT_EQ(bits_of("u32", "017"), 15u);
  EXPECT_EQ(bits_of("u32", "0b101"), 5u);
  EXPECT_EQ(bits_of("u32", "0B11U"), 3u);
  EXPECT_EQ(bits_of("u32", "0"), 0u);
  EXPECT_EQ(bits_of("u64", "18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(bits_of("s64", "-9223372036854775808"), uint64_t{1} << 63);
  EXPECT_EQ(bits_of("u32", "WARP_SZ"), 32u);
}

TEST(Literal, IntegersTakeTheWidthOfTheOperand) {
  EXPECT_EQ(bits_of("s32", "-1"), 0xffffffffu);
  EXPECT_EQ(bits_of("u16", "-1"), 0xffffu);
  EXPECT_EQ(bits_of("u64", "-1"), UINT64_MAX);
  EXPECT_EQ(bits_of("u32", "0x123456789"), 0x23456789u);
  EXPECT_EQ(bits_of("pred", "0"), 0u);
  EXPECT_EQ(bits_of("pred", "-1"), 1u);
}

TEST(Literal, Floats) {
  EXPECT_EQ(bits_of("f32", "1.0"), 0x3f800000u);
  EXPECT_EQ(bits_of("f32", "-1.5e0"), 0xbfc00000u);
  EXPECT_EQ(bits_of("f32", ".5"), 0x3f000000u);
  EXPECT_EQ(bits_of("f32", "2."), 0x40000000u);
  EXPECT_EQ(bits_of("f32", "0f7F800001"), 0x7f800001u) << "a signalling NaN keeps its bits";
  EXPECT_EQ(bits_of("f64", "1e-3"), std::bit_cast<uint64_t>(1e-3));
  EXPECT_EQ(bits_of("f64", "1E+3"), std::bit_cast<uint64_t>(1e3));
  EXPECT_EQ(bits_of("f64", "0d3FF0000000000000"), 0x3ff0000000000000u);
  EXPECT_EQ(bits_of("f64", "0f3F800000"), 0x3ff0000000000000u) << "converted, not copied";
  EXPECT_EQ(bits_of("f32", "0d3FF8000000000000"), 0x3fc00000u);
  EXPECT_EQ(bits_of("f32", "-0f3F800000"), 0xbf800000u);
  EXPECT_EQ(bits_of("f32", "1e999"), 0x7f800000u);
  EXPECT_EQ(bits_of("f64", "1e-999"), 0u);
  const std::string zeros(500, '0');
  EXPECT_EQ(bits_of("f64", "0." + zeros + "1"), 0u);
  EXPECT_EQ(bits_of("f64", "0." + zeros + "1e99"), 0u);
  EXPECT_EQ(bits_of("f64", "0." + zeros + "1e501"), 0x3ff0000000000000u);
  EXPECT_EQ(bits_of("f64", "1" + zeros + ".0"), 0x7ff0000000000000u);
  EXPECT_EQ(bits_of("f64", "1" + zeros + "e-50"), 0x7ff0000000000000u);
  EXPECT_EQ(bits_of("f64", "1" + zeros + "e-500"), 0x3ff0000000000000u);
  EXPECT_EQ(bits_of("f64", "1e99999999999999999999"), 0x7ff0000000000000u);
  EXPECT_EQ(bits_of("f64", "1e-99999999999999999999"), 0u);
}

TEST(Literal, FloatsInBitOperandsKeepTheirBits) {
  EXPECT_EQ(bits_of("b32", "0f3F800000"), 0x3f800000u);
  EXPECT_EQ(bits_of("b64", "0d3FF0000000000000"), 0x3ff0000000000000u);
}

TEST(Literal, Expressions) {
  EXPECT_EQ(bits_of("u32", "1+2*3"), 7u);
  EXPECT_EQ(bits_of("u32", "(1+2)*3"), 9u);
  EXPECT_EQ(bits_of("u32", "10-3-2"), 5u);
  EXPECT_EQ(bits_of("u32", "1<<4|1"), 17u);
  EXPECT_EQ(bits_of("u32", "0xff&~0xf"), 0xf0u);
  EXPECT_EQ(bits_of("u32", "7/2+7 % 4"), 6u);
  EXPECT_EQ(bits_of("u32", "3>2 ? 10 : 20"), 10u);
  EXPECT_EQ(bits_of("u32", "!1 || 0 ? 10 : 20"), 20u);
  EXPECT_EQ(bits_of("u32", "5^1"), 4u);
  EXPECT_EQ(bits_of("s32", "-7/2"), 0xfffffffdu);
  EXPECT_EQ(bits_of("u64", "-1 >> 63"), UINT64_MAX) << "signed";
  EXPECT_EQ(bits_of("u64", "(.u64)-1 >> 63"), 1u) << "unsigned";
  EXPECT_EQ(bits_of("s32", "(.s64)-2.75"), 0xfffffffeu);
  EXPECT_EQ(bits_of("f64", "1.5*2.0+0.25"), std::bit_cast<uint64_t>(3.25));
  EXPECT_EQ(bits_of("u64", "1<<64"), 0u);
  EXPECT_EQ(bits_of("u32", "1.5 < 2.5"), 1u);
}

TEST(Literal, ErrorsNameTheirPlace) {
  EXPECT_EQ(body_error("mov.u32 %r1, 1/0;"),
            "t.ptx:11:15: division by zero in a constant expression");
  EXPECT_EQ(body_error("mov.u32 %r1, 99999999999999999999;"),
            "t.ptx:11:14: '99999999999999999999' is not an integer of at most 64 bits");
  EXPECT_EQ(body_error("mov.u32 %r1, 0x;"),
            "t.ptx:11:14: '0x' is not an integer of at most 64 bits");
  EXPECT_EQ(body_error("mov.u32 %r1, 089;"),
            "t.ptx:11:14: '089' is not an integer of at most 64 bits");
  EXPECT_EQ(body_error("mov.f32 %f1, 0f3F80;"),
            "t.ptx:11:14: '0f3F80': 0f needs 8 hexadecimal digits");
  EXPECT_EQ(body_error("mov.f32 %f1, 0fZZ;"), "t.ptx:11:14: '0fZZ': 0f needs 8 hexadecimal digits");
  EXPECT_EQ(body_error("mov.u32 %r1, 1.0;"),
            "t.ptx:11:14: a floating-point constant where an integer (.u32) is expected");
  EXPECT_EQ(body_error("mov.f32 %f1, 1;"),
            "t.ptx:11:14: an integer constant where a floating-point value (.f32) is expected: "
            "write 1.0, 0f3F800000 or 0d3FF0000000000000");
  EXPECT_EQ(body_error("mov.u32 %r1, 1.0 & 2;"), "t.ptx:11:18: operator '&' needs integers");
}

/// The hardware's conversions are the reference, where they neither quiet nor flush.
TEST(Literal, FloatConversionsMatchTheHardware) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 200000; ++i) {
    uint64_t bits = random();
    if (i % 2) {  // around the range of float
      bits = (bits & 0x800fffffffffffffu) | (1023 - 155 + random() % 300) << 52;
    }
    if (i % 16 == 3) bits &= ~uint64_t{0} << (random() % 64);
    auto value = std::bit_cast<double>(bits);
    if (std::isnan(value)) continue;
    auto expected = std::bit_cast<uint32_t>(static_cast<float>(value));
    ASSERT_EQ(bits_as({Constant::Kind::f64, bits}, Type::f32), expected) << std::hex << bits;
    auto single = static_cast<uint32_t>(bits);
    if (i % 4 == 0) single &= 0x807fffffu;
    if (std::isnan(std::bit_cast<float>(single))) continue;
    auto wide = std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(single)));
    ASSERT_EQ(bits_as({Constant::Kind::f32, single}, Type::f64), wide) << std::hex << single;
  }
  EXPECT_EQ(bits_as({Constant::Kind::f64, 0x7ff0000000000001u}, Type::f32), 0x7fc00000u);
  EXPECT_EQ(bits_as({Constant::Kind::f32, 0x7f800001u}, Type::f64), 0x7ff0000020000000u);
}

TEST(Literal, TextReadsBackAsTheSameBits) {
  for (uint64_t bits : {uint64_t{0}, uint64_t{1}, uint64_t{0x7fffffff}, uint64_t{0x80000000},
                        uint64_t{0xffffffff}}) {
    for (Type type : {Type::u32, Type::s32, Type::b32}) {
      std::string text = literal_text(bits, type, false);
      bool minus = text[0] == '-';
      auto value = read_integer(minus ? text.substr(1) : text);
      ASSERT_TRUE(value) << text;
      if (minus) value = apply_unary('-', *value);
      EXPECT_EQ(bits_as(*value, type), bits) << text;
    }
    EXPECT_EQ(bits_as(*read_real(literal_text(bits, Type::f32, false)), Type::f32), bits);
  }
}

}  // namespace
}  // namespace km::ptx::test
