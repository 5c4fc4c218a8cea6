// cvt in its corner cases, from the manual's text: NaN, overflow, saturation, rounding modes,
// narrow integers, .ftz on either side.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "harness/forms.h"
#include "harness/inputs.h"
#include "harness/soft_float.h"

namespace km::kernels {
namespace {

using std::vector;

struct Mode {
  const char* name;
  Round round;
};
constexpr Mode kModes[] = {{"n", Round::rn}, {"z", Round::rz}, {"m", Round::rm}, {"p", Round::rp}};

struct Integer {
  const char* name;
  int bits;
  bool is_signed;
};
constexpr Integer kIntegers[] = {{"u8", 8, false},   {"s8", 8, true},    {"u16", 16, false},
                                 {"s16", 16, true},  {"u32", 32, false}, {"s32", 32, true},
                                 {"u64", 64, false}, {"s64", 64, true}};

uint64_t mask(int bits) { return bits == 64 ? ~0ull : (1ull << bits) - 1; }

/// The value of an integer operand: its low bits, extended.
uint64_t extended(uint64_t raw_bits, const Integer& type) {
  const uint64_t low = raw_bits & mask(type.bits), sign = 1ull << (type.bits - 1);
  return type.is_signed ? (low ^ sign) - sign : low;
}

/// Results narrower than 32 bits are extended to the destination register, 32 bits wide.
uint64_t in_register(uint64_t value, const Integer& type) {
  return type.bits == 64 ? value : value & 0xFFFFFFFFu;
}

std::string signature(const Integer& to, bool from_64) {
  return std::string(to.bits == 64 ? "l" : "r") + (from_64 ? "l" : "r");
}

template <class F>
vector<Operands> float_inputs(vector<F> values) {
  for (const Integer& type : kIntegers) {
    const double limit = std::ldexp(1.0, type.bits - (type.is_signed ? 1 : 0));
    for (const double offset : {-2.0, -1.5, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 1.5}) {
      values.push_back(static_cast<F>(limit + offset));
      values.push_back(static_cast<F>(-limit + offset));
    }
  }
  for (int k = -20; k <= 20; ++k) values.push_back(static_cast<F>(k) / 4);
  vector<Operands> inputs;
  for (const F value : values) inputs.push_back({raw(value), 0, 0});
  return inputs;
}

vector<Operands> inputs32() { return float_inputs(mixed_f32(1500, 1)); }
vector<Operands> inputs64() { return float_inputs(mixed_f64(1500, 2)); }

TEST(TrickyConvert, F32ToInteger) {
  vector<Form> forms;
  for (const Integer& to : kIntegers) {
    for (const Mode& mode : kModes) {
      for (const bool ftz : {false, true}) {
        const Round round = mode.round;
        // NaN becomes zero, or 1 << 63 where the destination has 64 bits.
        const uint64_t nan = to.bits == 64 ? 1ull << 63 : 0;
        forms.push_back(
            {std::string("cvt.r") + mode.name + "i" + (ftz ? ".ftz." : ".") + to.name + ".f32",
             signature(to, false), [=](const Operands& o) {
               const float a = ftz ? flush(f32(o.a)) : f32(o.a);
               return in_register(soft_to_integer(a, round, to.is_signed, to.bits, nan), to);
             }});
      }
    }
  }
  check_forms(forms, inputs32());
}

TEST(TrickyConvert, F64ToInteger) {
  vector<Form> forms;
  for (const Integer& to : kIntegers) {
    if (to.bits < 32) continue;
    for (const Mode& mode : kModes) {
      const Round round = mode.round;
      const uint64_t nan = extended(1ull << (to.bits - 1), to);
      forms.push_back({std::string("cvt.r") + mode.name + "i." + to.name + ".f64",
                       signature(to, true), [=](const Operands& o) {
                         return in_register(
                             soft_to_integer(f64(o.a), round, to.is_signed, to.bits, nan), to);
                       }});
    }
  }
  check_forms(forms, inputs64());
}

vector<Operands> integer_inputs() {
  vector<Operands> inputs;
  for (const uint64_t a : mixed_u64(1500, 3)) {
    inputs.push_back({a, 0, 0});
    inputs.push_back({~a, 0, 0});
  }
  Random random(4);
  for (int i = 0; i < 1000; ++i) {  // ties and near ties at 24 and 53 bits
    const uint32_t shift = random.below(39);
    inputs.push_back({((random.bits64() >> 39 | 1u << 24) << 1 | 1) << shift, 0, 0});
    inputs.push_back({(random.bits64() | 1ull << 63) >> random.below(11), 0, 0});
  }
  return inputs;
}

template <class F>
F from_integer(uint64_t bits, const Integer& type, Round round) {
  const uint64_t value = extended(bits, type);
  return type.is_signed ? soft_from_s64<F>(static_cast<int64_t>(value), round)
                        : soft_from_u64<F>(value, round);
}

TEST(TrickyConvert, IntegerToFloat) {
  vector<Form> forms;
  for (const Integer& from : kIntegers) {
    const std::string operand = from.bits == 64 ? "l" : "r";
    for (const Mode& mode : kModes) {
      const Round round = mode.round;
      const std::string start = std::string("cvt.r") + mode.name;
      forms.push_back({start + ".f32." + from.name, "r" + operand, [=](const Operands& o) {
                         return raw(from_integer<float>(o.a, from, round));
                       }});
      forms.push_back({start + ".f64." + from.name, "l" + operand, [=](const Operands& o) {
                         return raw(from_integer<double>(o.a, from, round));
                       }});
    }
  }
  check_forms(forms, integer_inputs());
}

/// cvt.sat between integers: clamps to the range of the destination.
uint64_t saturated(uint64_t bits, const Integer& from, const Integer& to) {
  const uint64_t value = extended(bits, from);
  const bool negative = from.is_signed && static_cast<int64_t>(value) < 0;
  const uint64_t most = to.is_signed ? mask(to.bits) >> 1 : mask(to.bits);
  if (!negative) return std::min(value, most);
  if (!to.is_signed) return 0;
  const int64_t least = -static_cast<int64_t>(most) - 1;
  return static_cast<uint64_t>(std::max(static_cast<int64_t>(value), least));
}

TEST(TrickyConvert, IntegerToInteger) {
  vector<Form> forms;
  for (const Integer& from : kIntegers) {
    for (const Integer& to : kIntegers) {
      const std::string types = std::string(to.name) + "." + from.name;
      forms.push_back({"cvt." + types, signature(to, from.bits == 64), [=](const Operands& o) {
                         return in_register(extended(extended(o.a, from), to), to);
                       }});
      // Saturation is for conversions that can overflow.
      const bool fits =
          to.bits > from.bits || (to.bits == from.bits && to.is_signed == from.is_signed);
      if (fits) continue;
      forms.push_back({"cvt.sat." + types, signature(to, from.bits == 64), [=](const Operands& o) {
                         return in_register(saturated(o.a, from, to), to);
                       }});
    }
  }
  check_forms(forms, integer_inputs());
}

float saturate(float value) { return value > 0 ? std::min(value, 1.0f) : 0.0f; }

TEST(TrickyConvert, F64ToF32) {
  vector<Form> forms;
  for (const Mode& mode : kModes) {
    const Round round = mode.round;
    const std::string start = std::string("cvt.r") + mode.name;
    forms.push_back({start + ".f32.f64", "rl",
                     [=](const Operands& o) { return raw(soft_narrow(f64(o.a), round)); },
                     Compare::f32});
    forms.push_back({start + ".sat.f32.f64", "rl",
                     [=](const Operands& o) { return raw(saturate(soft_narrow(f64(o.a), round))); },
                     Compare::f32});
    forms.push_back({start + ".ftz.f32.f64", "rl",
                     [=](const Operands& o) { return raw(flush(soft_narrow(f64(o.a), round))); },
                     Compare::f32});
  }
  vector<Operands> inputs;
  for (const float x : mixed_f32(1500, 5)) {
    const auto wide = static_cast<double>(x);
    const auto next = static_cast<double>(std::nextafter(x, 2 * x));
    for (const double value : {wide, std::nextafter(wide, 0.0), wide + (next - wide) / 2,
                               std::nextafter(wide + (next - wide) / 2, 2 * wide)}) {
      if (std::fabs(value) > 0x0.fffffep-126 && std::fabs(value) < 0x1p-126) continue;  // .ftz open
      inputs.push_back({raw(value), 0, 0});
    }
  }
  for (const double x : corners_f64()) inputs.push_back({raw(x), 0, 0});
  check_forms(forms, inputs);
}

TEST(TrickyConvert, WithinF32) {
  vector<Form> forms{
      {"cvt.sat.f32.f32", "rr", [](const Operands& o) { return raw(saturate(f32(o.a))); },
       Compare::f32},
      {"cvt.ftz.f32.f32", "rr", [](const Operands& o) { return raw(flush(f32(o.a))); },
       Compare::f32},
      {"cvt.f64.f32", "lr", [](const Operands& o) { return raw(static_cast<double>(f32(o.a))); },
       Compare::f64},
      {"cvt.ftz.f64.f32", "lr",
       [](const Operands& o) { return raw(static_cast<double>(flush(f32(o.a)))); }, Compare::f64}};
  for (const Mode& mode : kModes) {
    const Round round = mode.round;
    const auto integral = [=](float a) {
      return static_cast<float>(soft_round_to_integral(a, round));
    };
    const std::string start = std::string("cvt.r") + mode.name + "i";
    forms.push_back({start + ".f32.f32", "rr",
                     [=](const Operands& o) { return raw(integral(f32(o.a))); }, Compare::f32});
    forms.push_back({start + ".ftz.f32.f32", "rr",
                     [=](const Operands& o) { return raw(integral(flush(f32(o.a)))); },
                     Compare::f32});
    forms.push_back({start + ".sat.f32.f32", "rr",
                     [=](const Operands& o) { return raw(saturate(integral(f32(o.a)))); },
                     Compare::f32});
  }
  check_forms(forms, inputs32());
}

TEST(TrickyConvert, WithinF64) {
  vector<Form> forms;
  for (const Mode& mode : kModes) {
    const Round round = mode.round;
    forms.push_back(
        {std::string("cvt.r") + mode.name + "i.f64.f64", "ll",
         [=](const Operands& o) { return raw(soft_round_to_integral(f64(o.a), round)); },
         Compare::f64});
  }
  check_forms(forms, inputs64());
}

/// An H200 gives these: tests/gpu/golden/h200.
TEST(TrickyConvert, NansAsOnAGpu) {
  struct Case {
    const char *instruction, *signature;
    uint64_t source, result;
  };
  const Case cases[] = {
      {"cvt.f64.bf16", "lh", 0x7f81, 0x7ff8200000000000},
      {"cvt.f64.f16", "lh", 0x7c01, 0x7ff8040000000000},
      {"cvt.f64.f32", "lr", 0x7f800001, 0x7ff8000020000000},
      {"cvt.ftz.f64.f32", "lr", 0x7f800001, 0x7fffffffe0000000},
      {"cvt.f64.f64", "ll", 0x7ff0000000000001, 0x7ff0000000000001},
      {"cvt.rni.f64.f64", "ll", 0x7ff0000000000001, 0x7ff8000000000001},
      {"cvt.rmi.f64.f64", "ll", 0x7ff0000000000001, 0x7ff8000000000001},
      {"cvt.f32.bf16", "rh", 0x7f81, 0x7f810000},
      {"cvt.f32.f32", "rr", 0x7f800001, 0x7f800001},
      {"cvt.rn.f32.f64", "rl", 0x7ff0000000000001, 0x7fc00000},
      {"cvt.rz.ftz.f32.f64", "rl", 0x7ff0000000000001, 0x7fc00000},
      {"cvt.rp.f16.f64", "hl", 0x7ff0000000000001, 0x7e00},
      {"cvt.rm.bf16.f64", "hl", 0x7ff0000000000001, 0x7fc0},
  };
  for (const Case& each : cases) {
    const auto result = [&](const Operands&) { return each.result; };
    check_forms({{each.instruction, each.signature, result}}, {{each.source, 0, 0}});
  }
}

}  // namespace
}  // namespace km::kernels
