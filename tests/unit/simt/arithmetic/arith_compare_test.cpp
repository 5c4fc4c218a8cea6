#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "unit/simt/arithmetic/arith_harness.h"
#include "unit/simt/arithmetic/arith_reference.h"

namespace km::simt::arith {
namespace {

using In = std::span<const uint64_t>;
using ptx::Type;

struct Source {
  const char* name;
  Type type;
};

constexpr Source kIntegers[] = {{"b16", Type::b16}, {"b32", Type::b32}, {"b64", Type::b64},
                                {"u16", Type::u16}, {"u32", Type::u32}, {"u64", Type::u64},
                                {"s16", Type::s16}, {"s32", Type::s32}, {"s64", Type::s64}};
constexpr Source kReals[] = {
    {"f16", Type::f16}, {"bf16", Type::bf16}, {"f32", Type::f32}, {"f64", Type::f64}};

double real_value(Type type, uint64_t word) {
  switch (type) {
    case Type::f16:
      return value_of(kF16, word);
    case Type::bf16:
      return value_of(kBf16, word);
    case Type::f32:
      return value_of(kF32, word);
    default:
      return std::bit_cast<double>(word);
  }
}

bool ordered(const std::string& op, double a, double b) {
  if (op == "eq") return a == b;
  if (op == "ne") return a != b;
  if (op == "lt") return a < b;
  if (op == "le") return a <= b;
  return op == "gt" ? a > b : a >= b;
}

bool compare_real(const std::string& op, double a, double b) {
  bool nan = std::isnan(a) || std::isnan(b);
  if (op == "num") return !nan;
  if (op == "nan") return nan;
  if (op.size() == 3) return nan || ordered(op.substr(0, 2), a, b);
  return !nan && ordered(op, a, b);
}

bool only_unsigned(const std::string& op) {
  return op == "lo" || op == "ls" || op == "hi" || op == "hs";
}

bool compare_integer(std::string op, Type type, uint64_t a, uint64_t b) {
  bool is_signed = ptx::is_signed(type);
  if (only_unsigned(op)) {
    op = op == "lo" ? "lt" : op == "ls" ? "le" : op == "hi" ? "gt" : "ge";
    is_signed = false;
  }
  unsigned up = 64 - ptx::size_bits(type);
  auto sa = static_cast<int64_t>(a << up), sb = static_cast<int64_t>(b << up);
  bool less = is_signed ? sa < sb : a < b;
  if (op == "eq") return a == b;
  if (op == "ne") return a != b;
  if (op == "lt") return less;
  if (op == "le") return less || a == b;
  return op == "gt" ? !less && a != b : !less;
}

const char* const kIntegerOps[] = {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"};
const char* const kRealOps[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

TEST(ArithCompare, Integers) {
  for (const Source& source : kIntegers) {
    for (const char* op : kIntegerOps) {
      if (source.name[0] == 'b' && std::string(op) != "eq" && std::string(op) != "ne") continue;
      if (source.name[0] == 's' && only_unsigned(op)) continue;
      expect_same(
          {std::string("setp.") + op + "." + source.name, 2, true},
          [&](In x) -> Row {
            bool t = compare_integer(op, source.type, x[0], x[1]);
            return {t, !t};
          },
          2000);
    }
  }
}

TEST(ArithCompare, Reals) {
  for (const Source& source : kReals) {
    bool pair = ptx::size_bits(source.type) > 16;
    for (const char* op : kRealOps) {
      expect_same(
          {std::string("setp.") + op + "." + source.name, 2, pair},
          [&](In x) -> Row {
            bool t = compare_real(op, real_value(source.type, x[0]), real_value(source.type, x[1]));
            return pair ? Row{t, !t} : Row{t};
          },
          2000);
    }
  }
}

TEST(ArithCompare, FlushedOperands) {
  auto flushed = [](uint64_t word) { return value_of(kF32, flush(kF32, word)); };
  expect_same({"setp.lt.ftz.f32", 2}, [&](In x) -> Row { return {flushed(x[0]) < flushed(x[1])}; });
  expect_same({"setp.equ.ftz.f32", 2},
              [&](In x) -> Row { return {compare_real("equ", flushed(x[0]), flushed(x[1]))}; });
  expect_same({"set.gt.ftz.u32.f32", 2},
              [&](In x) -> Row { return {flushed(x[0]) > flushed(x[1]) ? 0xffffffffu : 0u}; });
}

bool combine(const std::string& op, bool a, bool c) {
  return op == "and" ? a && c : op == "or" ? a || c : a != c;
}

TEST(ArithCompare, CombinedPredicates) {
  for (const char* logic : {"and", "or", "xor"}) {
    expect_same(
        {std::string("setp.lt.") + logic + ".s32", 3, true},
        [&](In x) -> Row {
          bool t = compare_integer("lt", Type::s32, x[0], x[1]), c = x[2] & 1;
          return {combine(logic, t, c), combine(logic, !t, c)};
        },
        2000);
    expect_same(
        {std::string("set.ne.") + logic + ".f32.u32", 3},
        [&](In x) -> Row { return {combine(logic, x[0] != x[1], x[2] & 1) ? 0x3f800000u : 0u}; },
        2000);
  }
}

TEST(ArithCompare, Set) {
  for (const Source& source : kReals) {
    auto truth = [type = source.type](In x) {
      return compare_real("geu", real_value(type, x[0]), real_value(type, x[1]));
    };
    std::string suffix = std::string(".") + source.name;
    expect_same(
        {"set.geu.u32" + suffix, 2}, [&](In x) -> Row { return {truth(x) ? 0xffffffffu : 0u}; },
        1000);
    if (ptx::size_bits(source.type) > 16) {
      expect_same(
          {"set.geu.f32" + suffix, 2}, [&](In x) -> Row { return {truth(x) ? 0x3f800000u : 0u}; },
          1000);
    }
    if (source.type == Type::f16) {
      expect_same(
          {"set.geu.f16" + suffix, 2}, [&](In x) -> Row { return {truth(x) ? 0x3c00u : 0u}; },
          1000);
    }
    if (source.type == Type::bf16) {
      expect_same(
          {"set.geu.bf16" + suffix, 2}, [&](In x) -> Row { return {truth(x) ? 0x3f80u : 0u}; },
          1000);
    }
  }
}

TEST(ArithCompare, PackedHalves) {
  auto truth = [](In x, unsigned shift) {
    return value_of(kF16, x[0] >> shift & 0xffff) < value_of(kF16, x[1] >> shift & 0xffff);
  };
  expect_same({"setp.lt.f16x2", 2, true}, [&](In x) -> Row { return {truth(x, 0), truth(x, 16)}; });
  expect_same({"setp.lt.and.f16x2", 3, true},
              [&](In x) -> Row { return {truth(x, 0) && x[2], truth(x, 16) && x[2]}; });
  expect_same({"set.lt.u32.f16x2", 2}, [&](In x) -> Row {
    return {(truth(x, 0) ? 0xffffu : 0u) | (truth(x, 16) ? 0xffff0000u : 0u)};
  });
  expect_same({"set.lt.xor.f16x2.f16x2", 3}, [&](In x) -> Row {
    bool c = x[2] & 1;
    return {(truth(x, 0) != c ? 0x3c00u : 0u) | (truth(x, 16) != c ? 0x3c000000u : 0u)};
  });
}

TEST(ArithCompare, Selection) {
  auto chosen = [](In x) -> Row { return {x[2] & 1 ? x[0] : x[1]}; };
  for (const Source& source : kIntegers)
    expect_same({std::string("selp.") + source.name, 3}, chosen, 500);
  expect_same({"selp.f32", 3}, chosen, 500);
  expect_same({"selp.f64", 3}, chosen, 500);
  for (const char* type : {"b16", "u32", "s64", "f32", "f64"}) {
    expect_same(
        {std::string("slct.") + type + ".s32", 3},
        [](In x) -> Row { return {static_cast<int32_t>(x[2]) >= 0 ? x[0] : x[1]}; }, 500);
    expect_same(
        {std::string("slct.") + type + ".f32", 3},
        [](In x) -> Row { return {value_of(kF32, x[2]) >= 0 ? x[0] : x[1]}; }, 500);
    expect_same(
        {std::string("slct.ftz.") + type + ".f32", 3},
        [](In x) -> Row { return {value_of(kF32, flush(kF32, x[2])) >= 0 ? x[0] : x[1]}; }, 500);
  }
}

TEST(ArithCompare, Properties) {
  for (const Source& source : {kReals[2], kReals[3]}) {
    double least = source.type == Type::f32 ? 0x1p-126 : 0x1p-1022;
    auto test = [&](const char* op, auto property) {
      expect_same(
          {std::string("testp.") + op + "." + source.name, 1},
          [&](In x) -> Row { return {property(real_value(source.type, x[0]))}; }, 2000);
    };
    test("finite", [](double x) { return std::isfinite(x); });
    test("infinite", [](double x) { return std::isinf(x); });
    test("number", [](double x) { return !std::isnan(x); });
    test("notanumber", [](double x) { return std::isnan(x); });
    test("normal", [=](double x) { return std::isfinite(x) && (x == 0 || std::fabs(x) >= least); });
    test("subnormal", [=](double x) { return x != 0 && std::fabs(x) < least; });
  }
}

}  // namespace
}  // namespace km::simt::arith
