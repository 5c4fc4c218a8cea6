#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "unit/simt/arithmetic/arith_harness.h"
#include "unit/simt/arithmetic/arith_reference.h"

namespace km::simt::arith {
namespace {

using In = std::span<const uint64_t>;
using Wide = __int128;

struct IntegerType {
  const char* name;
  unsigned bits;
  bool is_signed;

  Wide value(uint64_t word) const {
    if (!is_signed) return static_cast<Wide>(word);
    return static_cast<Wide>(static_cast<int64_t>(word << (64 - bits)) >> (64 - bits));
  }
  Wide most() const { return (Wide{1} << (is_signed ? bits - 1 : bits)) - 1; }
  Wide least() const { return is_signed ? -(Wide{1} << (bits - 1)) : 0; }
  uint64_t word(Wide value) const {
    return static_cast<uint64_t>(value) & (bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1);
  }
  Wide clamp(Wide value) const {
    return value < least() ? least() : value > most() ? most() : value;
  }
};

constexpr IntegerType kIntegers[] = {{"u8", 8, false},   {"u16", 16, false}, {"u32", 32, false},
                                     {"u64", 64, false}, {"s8", 8, true},    {"s16", 16, true},
                                     {"s32", 32, true},  {"s64", 64, true}};

struct RealType {
  const char* name;
  Format format;  // f64: 64 bits
  bool is_f64() const { return format.bits == 64; }
  double value(uint64_t word) const {
    return is_f64() ? std::bit_cast<double>(word) : value_of(format, word);
  }
  uint64_t round(double value, Mode mode) const {
    return is_f64() ? std::bit_cast<uint64_t>(value) : round_to(format, value, mode);
  }
};

constexpr RealType kReals[] = {{"f16", kF16}, {"bf16", kBf16}, {"f32", kF32}, {"f64", {64, 52}}};

/// PTX has no conversions between bytes and bf16.
bool converts(const IntegerType& integer, const RealType& real) {
  return integer.bits != 8 || std::string(real.name) != "bf16";
}

std::string cvt(const std::string& modifiers, const char* to, const char* from) {
  return "cvt" + modifiers + "." + to + "." + from;
}

TEST(ArithConvert, IntegerToInteger) {
  for (const IntegerType& to : kIntegers) {
    for (const IntegerType& from : kIntegers) {
      expect_same(
          {cvt("", to.name, from.name), 1},
          [&](In x) -> Row { return {to.word(from.value(x[0]))}; }, 500);
      // PTX saturates only what may not fit.
      if (to.least() <= from.least() && from.most() <= to.most()) continue;
      expect_same(
          {cvt(".sat", to.name, from.name), 1},
          [&](In x) -> Row { return {to.word(to.clamp(from.value(x[0])))}; }, 500);
    }
  }
}

double integral(Mode mode, double x) {
  switch (mode) {
    case Mode::rz:
      return std::trunc(x);
    case Mode::rm:
      return std::floor(x);
    case Mode::rp:
      return std::ceil(x);
    default:
      return std::nearbyint(x);
  }
}

std::string integral_text(Mode mode) { return std::string(text_of(mode)) + "i"; }

uint64_t to_integer(const IntegerType& to, const RealType& from, double x, Mode mode) {
  if (std::isnan(x)) {
    bool zero = !from.is_f64() && to.bits < 64;
    return zero ? 0 : uint64_t{1} << (to.bits - 1);
  }
  double whole = integral(mode, x);
  if (whole >= std::ldexp(1.0, 65)) return to.word(to.most());
  if (whole <= -std::ldexp(1.0, 65)) return to.word(to.least());
  return to.word(to.clamp(static_cast<Wide>(whole)));
}

TEST(ArithConvert, RealToInteger) {
  for (const RealType& from : kReals) {
    for (const IntegerType& to : kIntegers) {
      if (!converts(to, from)) continue;
      for (Mode mode : kModes) {
        expect_same({cvt(integral_text(mode), to.name, from.name), 1},
                    [&](In x) -> Row { return {to_integer(to, from, from.value(x[0]), mode)}; });
      }
    }
  }
}

TEST(ArithConvert, RealToIntegerFlushed) {
  for (const IntegerType& to : kIntegers) {
    expect_same({cvt(".rpi.ftz", to.name, "f32"), 1}, [&](In x) -> Row {
      return {to_integer(to, kReals[2], value_of(kF32, flush(kF32, x[0])), Mode::rp)};
    });
  }
}

/// An integer in f64 by one rounding of the host.
double to_f64(const IntegerType& from, uint64_t word, Mode mode) {
  Wide value = from.value(word);
  double high = std::ldexp(static_cast<double>(static_cast<int64_t>(value >> 32)), 32);
  double low = static_cast<double>(static_cast<uint64_t>(value) & 0xffffffff);
  return compute<double>(Op::add, high, low, 0, mode);
}

TEST(ArithConvert, IntegerToReal) {
  for (const IntegerType& from : kIntegers) {
    for (const RealType& to : kReals) {
      if (!converts(from, to)) continue;
      for (Mode mode : kModes) {
        expect_same({cvt(text_of(mode), to.name, from.name), 1}, [&](In x) -> Row {
          if (to.is_f64()) return {std::bit_cast<uint64_t>(to_f64(from, x[0], mode))};
          Wide value = from.value(x[0]);
          bool negative = value < 0;
          auto magnitude = static_cast<unsigned __int128>(negative ? -value : value);
          return {to.round(integer_to_odd(magnitude, negative), mode)};
        });
      }
    }
  }
}

bool wants_rounding(const RealType& to, const RealType& from) {
  if (from.is_f64() && !to.is_f64()) return true;
  if (to.format.bits == 16) return std::string(to.name) != from.name;
  return false;
}

/// Halves keep the sign and the upper payload of an f64's NaN. Those of f32 and f64 are compared as
/// one NaN here.
uint64_t converted(const RealType& to, const RealType& from, uint64_t word, Mode mode) {
  const double value = from.value(word);
  if (!from.is_f64() || to.format.bits != 16 || !std::isnan(value)) return to.round(value, mode);
  const uint64_t quiet = uint64_t{1} << (to.format.fraction - 1);
  const uint64_t payload = word << 12 >> (64 - to.format.fraction);
  return (word >> 63 << 15) | to.format.infinity() | quiet | payload;
}

TEST(ArithConvert, RealToReal) {
  for (const RealType& from : kReals) {
    for (const RealType& to : kReals) {
      for (Mode mode : kModes) {
        bool rounds = wants_rounding(to, from);
        if (!rounds && mode != Mode::rn) continue;
        expect_same(
            {cvt(rounds ? text_of(mode) : "", to.name, from.name), 1},
            [&](In x) -> Row { return {converted(to, from, x[0], mode)}; }, 100000);
      }
    }
  }
}

TEST(ArithConvert, ToIntegralReal) {
  for (const RealType& type : kReals) {
    for (Mode mode : kModes) {
      expect_same({cvt(integral_text(mode), type.name, type.name), 1}, [&](In x) -> Row {
        return {type.round(integral(mode, type.value(x[0])), Mode::rn)};
      });
    }
  }
}

double saturated(double x) { return x > 0 ? std::min(x, 1.0) : 0.0; }
double positive(double x) { return x <= 0 ? 0.0 : x; }

TEST(ArithConvert, SaturateAndFlush) {
  const RealType &f16 = kReals[0], &f32 = kReals[2], &f64 = kReals[3];
  auto flushed = [](uint64_t word) { return flush(kF32, word); };
  expect_same({"cvt.sat.f32.f32", 1},
              [&](In x) -> Row { return {f32.round(saturated(f32.value(x[0])), Mode::rn)}; });
  expect_same({"cvt.ftz.f32.f32", 1}, [&](In x) -> Row { return {flushed(x[0])}; });
  expect_same({"cvt.rn.ftz.f32.f64", 1},
              [&](In x) -> Row { return {flushed(f32.round(f64.value(x[0]), Mode::rn))}; });
  expect_same({"cvt.rz.sat.f32.f64", 1},
              [&](In x) -> Row { return {f32.round(saturated(f64.value(x[0])), Mode::rz)}; });
  expect_same({"cvt.ftz.f64.f32", 1},
              [&](In x) -> Row { return {f64.round(f32.value(flushed(x[0])), Mode::rn)}; });
  expect_same({"cvt.rn.sat.f16.f32", 1},
              [&](In x) -> Row { return {f16.round(saturated(f32.value(x[0])), Mode::rn)}; });
  expect_same({"cvt.rn.ftz.f16.f32", 1},
              [&](In x) -> Row { return {f16.round(f32.value(flushed(x[0])), Mode::rn)}; });
  expect_same({"cvt.rmi.ftz.sat.f32.f32", 1}, [&](In x) -> Row {
    return {f32.round(saturated(std::floor(f32.value(flushed(x[0])))), Mode::rn)};
  });
  expect_same({"cvt.rn.sat.f32.s32", 1}, [&](In x) -> Row {
    return {f32.round(saturated(static_cast<int32_t>(x[0])), Mode::rn)};
  });
}

/// Infinities become the largest number.
uint64_t finite(const Format& format, uint64_t word) {
  uint64_t magnitude = word & ~(uint64_t{1} << (format.bits - 1));
  return magnitude == format.infinity() ? word - 1 : word;
}

void check_packing(const RealType& to, Mode mode, bool relu, bool satfinite) {
  std::string modifiers =
      std::string(text_of(mode)) + (relu ? ".relu" : "") + (satfinite ? ".satfinite" : "");
  auto one = [&](uint64_t word) {
    double x = value_of(kF32, word);
    uint64_t half = to.round(relu ? positive(x) : x, mode);
    return satfinite ? finite(to.format, half) : half;
  };
  expect_same({cvt(modifiers, to.name, "f32"), 1}, [&](In x) -> Row { return {one(x[0])}; });
  expect_same({cvt(modifiers, (std::string(to.name) + "x2").c_str(), "f32"), 2},
              [&](In x) -> Row { return {one(x[0]) << 16 | one(x[1])}; });
}

TEST(ArithConvert, PackedHalves) {
  for (const RealType& to : {kReals[0], kReals[1]}) {
    for (Mode mode : {Mode::rn, Mode::rz}) {
      for (unsigned bits = 0; bits < 4; ++bits) check_packing(to, mode, bits & 1, bits & 2);
    }
  }
}

TEST(ArithConvert, Tf32) {
  constexpr Format tf32{19, 10};
  auto value = [](uint64_t word) { return value_of(kF32, word); };
  auto widen = [&](uint64_t word, uint64_t source) -> uint64_t {
    return std::isnan(value(source)) ? 0x7fffffff : word << 13;
  };
  expect_same({"cvt.rn.tf32.f32", 1},
              [&](In x) -> Row { return {widen(round_to(tf32, value(x[0]), Mode::rn), x[0])}; });
  expect_same({"cvt.rz.tf32.f32", 1},
              [&](In x) -> Row { return {widen(round_to(tf32, value(x[0]), Mode::rz), x[0])}; });
  expect_same({"cvt.rn.satfinite.tf32.f32", 1}, [&](In x) -> Row {
    return {widen(finite(tf32, round_to(tf32, value(x[0]), Mode::rn)), x[0])};
  });
  expect_same({"cvt.rna.tf32.f32", 1}, [&](In x) -> Row {
    if (std::isnan(value(x[0]))) return {0x7fffffff};
    return {(x[0] + 0x1000) & 0xffffe000};
  });
}

TEST(ArithConvert, PackedIntegers) {
  const IntegerType s32 = kIntegers[6];
  struct Target {
    const char* name;
    IntegerType type;
    bool with_c;
  };
  const Target targets[] = {{"u16", {"", 16, false}, false}, {"s16", {"", 16, true}, false},
                            {"u8", {"", 8, false}, true},    {"s8", {"", 8, true}, true},
                            {"u4", {"", 4, false}, true},    {"s2", {"", 2, true}, true}};
  for (const Target& target : targets) {
    const IntegerType& t = target.type;
    std::string name =
        std::string("cvt.pack.sat.") + target.name + ".s32" + (target.with_c ? ".b32" : "");
    expect_same({name, target.with_c ? 3u : 2u}, [&](In x) -> Row {
      uint64_t low = t.word(t.clamp(s32.value(x[1]))), high = t.word(t.clamp(s32.value(x[0])));
      uint64_t c = target.with_c ? x[2] << (2 * t.bits) : 0;
      return {(c | high << t.bits | low) & 0xffffffff};
    });
  }
}

/// e4m3 and e5m2: rounded in their range; beyond it the largest number.
struct Narrow {
  const char* name;
  Format format;
  uint64_t most;
  bool has_infinity;

  uint64_t from(double x, bool relu) const {
    if (std::isnan(x)) return 0x7f;
    if (relu && std::signbit(x)) return 0;
    double limit = value(most);
    if (std::fabs(x) > limit) x = std::copysign(limit, x);
    return round_wide(x);
  }
  double value(uint64_t byte) const {
    uint64_t magnitude = byte & 0x7f;
    double sign = byte & 0x80 ? -1.0 : 1.0;
    if (magnitude > most) {
      bool infinite = has_infinity && magnitude == 0x7c;
      return infinite ? sign * HUGE_VAL : std::nan("");
    }
    uint64_t fraction = magnitude & ((1u << format.fraction) - 1);
    auto field = static_cast<int>(magnitude >> format.fraction);
    if (field) fraction |= uint64_t{1} << format.fraction;
    return sign * std::ldexp(static_cast<double>(fraction),
                             std::max(field, 1) - format.bias() - format.fraction);
  }
  /// To nearest among all bytes: the format is small enough to try them.
  uint64_t round_wide(double x) const {
    uint64_t best = 0;
    for (uint64_t byte = 1; byte <= most; ++byte) {
      double now = std::fabs(value(byte) - std::fabs(x)),
             then = std::fabs(value(best) - std::fabs(x));
      if (now < then || (now == then && (byte & 1) == 0)) best = byte;
    }
    return best | (std::signbit(x) ? 0x80 : 0);
  }
};

TEST(ArithConvert, EightBitFormats) {
  const Narrow formats[] = {{"e4m3x2", {8, 3}, 0x7e, false}, {"e5m2x2", {8, 2}, 0x7b, true}};
  for (const Narrow& n : formats) {
    for (bool relu : {false, true}) {
      std::string modifiers = relu ? ".relu" : "";
      expect_same(
          {cvt(".rn.satfinite" + modifiers, n.name, "f32"), 2},
          [&](In x) -> Row {
            return {n.from(value_of(kF32, x[0]), relu) << 8 | n.from(value_of(kF32, x[1]), relu)};
          },
          2000);
      expect_same(
          {cvt(".rn.satfinite" + modifiers, n.name, "f16x2"), 1},
          [&](In x) -> Row {
            return {n.from(value_of(kF16, x[0] >> 16), relu) << 8 |
                    n.from(value_of(kF16, x[0] & 0xffff), relu)};
          },
          2000);
      auto half = [&](uint64_t byte) {
        double x = n.value(byte);
        return relu && std::signbit(x) && !std::isnan(x) ? 0 : round_to(kF16, x, Mode::rn);
      };
      expect_same(
          {cvt(".rn" + modifiers, "f16x2", n.name), 1},
          [&](In x) -> Row { return {half(x[0] >> 8) << 16 | half(x[0] & 0xff)}; }, 2000);
    }
  }
}

}  // namespace
}  // namespace km::simt::arith
