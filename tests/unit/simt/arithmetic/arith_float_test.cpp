#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "unit/simt/arithmetic/arith_harness.h"
#include "unit/simt/arithmetic/arith_reference.h"

namespace km::simt::arith {
namespace {

using In = std::span<const uint64_t>;

template <class F>
struct Traits;
template <>
struct Traits<float> {
  using Word = uint32_t;
  static constexpr const char* kName = ".f32";
};
template <>
struct Traits<double> {
  using Word = uint64_t;
  static constexpr const char* kName = ".f64";
};

template <class F>
F real(uint64_t word) {
  return std::bit_cast<F>(static_cast<typename Traits<F>::Word>(word));
}
template <class F>
uint64_t word(F x) {
  return std::bit_cast<typename Traits<F>::Word>(x);
}

struct OpForm {
  const char* name;
  Op op;
  unsigned sources;
};
constexpr OpForm kOps[] = {{"add", Op::add, 2},  {"sub", Op::sub, 2}, {"mul", Op::mul, 2},
                           {"fma", Op::fma, 3},  {"div", Op::div, 2}, {"rcp", Op::rcp, 1},
                           {"sqrt", Op::sqrt, 1}};

template <class F>
void check_mode(Mode mode) {
  for (const OpForm& form : kOps) {
    std::string name = std::string(form.name) + text_of(mode) + Traits<F>::kName;
    expect_same({name, form.sources}, [&](In x) -> Row {
      F b = form.sources > 1 ? real<F>(x[1]) : F(0), c = form.sources > 2 ? real<F>(x[2]) : F(0);
      return {word(compute<F>(form.op, real<F>(x[0]), b, c, mode))};
    });
  }
}

TEST(ArithFloat, NearestF32) { check_mode<float>(Mode::rn); }
TEST(ArithFloat, TowardZeroF32) { check_mode<float>(Mode::rz); }
TEST(ArithFloat, DownF32) { check_mode<float>(Mode::rm); }
TEST(ArithFloat, UpF32) { check_mode<float>(Mode::rp); }
TEST(ArithFloat, NearestF64) { check_mode<double>(Mode::rn); }
TEST(ArithFloat, TowardZeroF64) { check_mode<double>(Mode::rz); }
TEST(ArithFloat, DownF64) { check_mode<double>(Mode::rm); }
TEST(ArithFloat, UpF64) { check_mode<double>(Mode::rp); }

/// Products and sums that nearly cancel: the worst cases for rounding.
template <class F>
std::vector<Row> cancelling_rows() {
  ptx::Type type = sizeof(F) == 4 ? ptx::Type::f32 : ptx::Type::f64;
  std::vector<Row> rows;
  for (int n = 0; n < 60000; ++n) {
    F a = real<F>(random_value(type)), b = real<F>(random_value(type));
    F product = compute<F>(Op::mul, a, b, F(0), n % 2 ? Mode::rn : Mode::rz);
    uint64_t near = word(-product) + static_cast<uint64_t>(n % 3) - 1;
    rows.push_back({word(a), word(b), word(real<F>(near))});
  }
  while (rows.size() % 32) rows.push_back(rows[0]);
  return rows;
}

template <class F>
void check_cancelling() {
  std::vector<Row> rows = cancelling_rows<F>();
  for (Mode mode : kModes) {
    expect_same(
        {std::string("fma") + text_of(mode) + Traits<F>::kName, 3},
        [&](In x) -> Row {
          return {word(compute<F>(Op::fma, real<F>(x[0]), real<F>(x[1]), real<F>(x[2]), mode))};
        },
        rows);
  }
}

TEST(ArithFloat, CancellingFmaF32) { check_cancelling<float>(); }
TEST(ArithFloat, CancellingFmaF64) { check_cancelling<double>(); }

float saturated(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }

TEST(ArithFloat, FlushAndSaturate) {
  for (Mode mode : {Mode::rn, Mode::rm}) {
    for (const OpForm& form : kOps) {
      for (bool saturate : {false, true}) {
        bool may_saturate = form.op == Op::add || form.op == Op::mul || form.op == Op::fma;
        if (saturate && !may_saturate) continue;
        std::string suffix =
            std::string(text_of(mode)) + ".ftz" + (saturate ? ".sat" : "") + ".f32";
        expect_same({form.name + suffix, form.sources}, [&](In x) -> Row {
          float v[3] = {0, 0, 0};
          for (unsigned i = 0; i < form.sources; ++i) v[i] = flush(real<float>(x[i]));
          float result = flush(compute<float>(form.op, v[0], v[1], v[2], mode));
          return {word(saturate ? saturated(result) : result)};
        });
      }
    }
  }
  expect_same({"add.sat.f32", 2}, [](In x) -> Row {
    return {word(
        saturated(compute<float>(Op::add, real<float>(x[0]), real<float>(x[1]), 0, Mode::rn)))};
  });
}

TEST(ArithFloat, MadIsFma) {
  expect_same({"mad.rz.f32", 3}, [](In x) -> Row {
    return {word(compute<float>(Op::fma, real<float>(x[0]), real<float>(x[1]), real<float>(x[2]),
                                Mode::rz))};
  });
}

/// By the ISA's text: NaN gives way to numbers, or wins; -0 is less than +0.
template <class F>
F min_max(bool maximum, bool propagate, F a, F b) {
  if (std::isnan(a) || std::isnan(b)) {
    if (propagate || (std::isnan(a) && std::isnan(b))) return std::numeric_limits<F>::quiet_NaN();
    return std::isnan(a) ? b : a;
  }
  if (a == b) return std::signbit(a) == maximum ? b : a;
  return (a < b) == maximum ? b : a;
}

template <class F>
void check_min_max() {
  for (bool maximum : {false, true}) {
    for (bool propagate : {false, true}) {
      if (propagate && sizeof(F) == 8) continue;
      std::string name = std::string(maximum ? "max" : "min") + (propagate ? ".NaN" : "");
      auto plain = [=](In x) -> Row {
        return {word(min_max(maximum, propagate, real<F>(x[0]), real<F>(x[1])))};
      };
      expect_same({name + Traits<F>::kName, 2}, plain);
      for (uint64_t constant :
           {word(F(0)), word(F(-0.0)), word(F(1.5)), word(std::numeric_limits<F>::quiet_NaN())}) {
        expect_same_in_turn({name + Traits<F>::kName, 2, false, {{1, constant}}}, plain, 1000);
        expect_same_in_turn({name + Traits<F>::kName, 2, false, {{0, constant}}}, plain, 1000);
      }
    }
  }
}

TEST(ArithFloat, MinMaxF32) { check_min_max<float>(); }
TEST(ArithFloat, MinMaxF64) { check_min_max<double>(); }

TEST(ArithFloat, MinMaxVariants) {
  for (bool maximum : {false, true}) {
    std::string name = maximum ? "max" : "min";
    expect_same({name + ".ftz.f32", 2}, [=](In x) -> Row {
      return {word(min_max(maximum, false, flush(real<float>(x[0])), flush(real<float>(x[1]))))};
    });
    for (bool propagate : {false, true}) {
      expect_same({name + (propagate ? ".NaN" : "") + ".xorsign.abs.f32", 2}, [=](In x) -> Row {
        float a = real<float>(x[0]), b = real<float>(x[1]);
        float result = min_max(maximum, propagate, std::fabs(a), std::fabs(b));
        if (std::isnan(result)) return {word(result)};
        return {word(std::signbit(a) != std::signbit(b) ? -result : result)};
      });
    }
  }
}

template <class F>
void check_signs() {
  std::string type = Traits<F>::kName;
  expect_same({"abs" + type, 1}, [](In x) -> Row { return {word(std::fabs(real<F>(x[0])))}; });
  expect_same({"neg" + type, 1}, [](In x) -> Row { return {word(-real<F>(x[0]))}; });
  expect_same({"copysign" + type, 2},
              [](In x) -> Row { return {word(std::copysign(real<F>(x[1]), real<F>(x[0])))}; });
}

TEST(ArithFloat, SignsF32) {
  check_signs<float>();
  expect_same({"abs.ftz.f32", 1},
              [](In x) -> Row { return {word(std::fabs(flush(real<float>(x[0]))))}; });
  expect_same({"neg.ftz.f32", 1}, [](In x) -> Row { return {word(-flush(real<float>(x[0])))}; });
}
TEST(ArithFloat, SignsF64) { check_signs<double>(); }

// ---- Halves.

struct HalfType {
  const char* name;
  Format format;
};
constexpr HalfType kHalves[] = {{"f16", kF16}, {"bf16", kBf16}};

uint64_t half_result(const HalfType& t, Op op, uint64_t a, uint64_t b, uint64_t c) {
  return round_to(
      t.format,
      compute_to_odd(op, value_of(t.format, a), value_of(t.format, b), value_of(t.format, c)),
      Mode::rn);
}

TEST(ArithHalf, Arithmetic) {
  for (const HalfType& t : kHalves) {
    for (const OpForm& form : kOps) {
      if (form.op != Op::add && form.op != Op::sub && form.op != Op::mul && form.op != Op::fma)
        continue;
      auto one = [&](In x, unsigned shift) {
        uint64_t v[3] = {};
        for (unsigned i = 0; i < form.sources; ++i) v[i] = (x[i] >> shift) & 0xffff;
        return half_result(t, form.op, v[0], v[1], v[2]);
      };
      std::string name = std::string(form.name) + ".rn." + t.name;
      expect_same({name, form.sources}, [&](In x) -> Row { return {one(x, 0)}; }, 100000);
      expect_same({name + "x2", form.sources},
                  [&](In x) -> Row { return {one(x, 0) | one(x, 16) << 16}; });
    }
  }
}

TEST(ArithHalf, Modifiers) {
  auto flushed = [](uint64_t bits) { return flush(kF16, bits); };
  auto clamp = [](uint64_t bits) -> uint64_t {
    double x = value_of(kF16, bits);
    return x > 0 ? (x < 1 ? bits : 0x3c00) : 0;
  };
  auto relu = [](const Format& f, uint64_t bits) -> uint64_t {
    if (is_nan(f, bits)) return 0x7fff;
    return value_of(f, bits) > 0 ? bits : 0;
  };
  const HalfType f16 = kHalves[0], bf16 = kHalves[1];
  expect_same({"add.ftz.f16", 2}, [&](In x) -> Row {
    return {flushed(half_result(f16, Op::add, flushed(x[0]), flushed(x[1]), 0))};
  });
  expect_same({"mul.ftz.sat.f16", 2}, [&](In x) -> Row {
    return {flushed(clamp(half_result(f16, Op::mul, flushed(x[0]), flushed(x[1]), 0)))};
  });
  expect_same({"fma.rn.sat.f16", 3},
              [&](In x) -> Row { return {clamp(half_result(f16, Op::fma, x[0], x[1], x[2]))}; });
  expect_same({"fma.rn.relu.f16", 3}, [&](In x) -> Row {
    return {relu(kF16, half_result(f16, Op::fma, x[0], x[1], x[2]))};
  });
  expect_same({"fma.rn.relu.bf16", 3}, [&](In x) -> Row {
    return {relu(kBf16, half_result(bf16, Op::fma, x[0], x[1], x[2]))};
  });
  // A GPU gives the canonical NaN, of whatever sign.
  expect_same({"neg.f16", 1},
              [&](In x) -> Row { return {is_nan(kF16, x[0]) ? 0x7fff : x[0] ^ 0x8000}; });
  auto magnitude = [](uint64_t bits) -> uint64_t {
    return is_nan(kBf16, bits) ? 0x7fff : bits & 0x7fff;
  };
  expect_same({"abs.bf16x2", 1}, [&](In x) -> Row {
    return {magnitude(x[0] >> 16 & 0xffff) << 16 | magnitude(x[0] & 0xffff)};
  });
}

TEST(ArithHalf, MinMax) {
  for (const HalfType& t : kHalves) {
    for (bool maximum : {false, true}) {
      for (bool propagate : {false, true}) {
        std::string name =
            std::string(maximum ? "max" : "min") + (propagate ? ".NaN." : ".") + t.name;
        auto one = [&](uint64_t a, uint64_t b) {
          double result = min_max(maximum, propagate, value_of(t.format, a), value_of(t.format, b));
          return round_to(t.format, result, Mode::rn);
        };
        expect_same({name, 2}, [&](In x) -> Row { return {one(x[0], x[1])}; });
        expect_same({name + "x2", 2}, [&](In x) -> Row {
          return {one(x[0] & 0xffff, x[1] & 0xffff) | one(x[0] >> 16, x[1] >> 16) << 16};
        });
      }
    }
  }
}

}  // namespace
}  // namespace km::simt::arith
