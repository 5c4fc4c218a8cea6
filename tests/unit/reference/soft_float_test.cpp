// The reference's arithmetic against MPFR: all pairs of corner cases and random operands, in every
// format and rounding mode; conversions of 16 bits and less exhaustively.
#include <gtest/gtest.h>

#include "reference/evaluate.h"
#include "reference/inputs.h"
#include "unit/reference/mpfr_format.h"

namespace km::reference {
namespace {

struct Named {
  const char* name;
  Type type;
  const Format& format;
};

const Named kFormats[] = {{"f16", Type::f16, kF16},
                          {"bf16", Type::bf16, kBf16},
                          {"f32", Type::f32, kF32},
                          {"f64", Type::f64, kF64}};
constexpr Round kModes[] = {Round::rn, Round::rz, Round::rm, Round::rp};

using Computed = std::function<Number(const Number*, Round)>;

struct Operation {
  const char* name;
  unsigned operands;
  Computed computed;
  MpfrOperation exact;
};

const Operation kOperations[] = {
    {"add", 2, [](const Number* n, Round round) { return add(n[0], n[1], round); },
     [](mpfr_t out, const mpfr_t* in, mpfr_rnd_t mode) {
       return mpfr_add(out, in[0], in[1], mode);
     }},
    {"sub", 2, [](const Number* n, Round round) { return add(n[0], negated(n[1]), round); },
     [](mpfr_t out, const mpfr_t* in, mpfr_rnd_t mode) {
       return mpfr_sub(out, in[0], in[1], mode);
     }},
    {"mul", 2, [](const Number* n, Round) { return multiply(n[0], n[1]); },
     [](mpfr_t out, const mpfr_t* in, mpfr_rnd_t mode) {
       return mpfr_mul(out, in[0], in[1], mode);
     }},
    {"div", 2, [](const Number* n, Round) { return divide(n[0], n[1]); },
     [](mpfr_t out, const mpfr_t* in, mpfr_rnd_t mode) {
       return mpfr_div(out, in[0], in[1], mode);
     }},
    {"fma", 3, [](const Number* n, Round round) { return add(multiply(n[0], n[1]), n[2], round); },
     [](mpfr_t out, const mpfr_t* in, mpfr_rnd_t mode) {
       return mpfr_fma(out, in[0], in[1], in[2], mode);
     }},
    {"sqrt", 1, [](const Number* n, Round) { return square_root(n[0]); },
     [](mpfr_t out, const mpfr_t* in, mpfr_rnd_t mode) { return mpfr_sqrt(out, in[0], mode); }},
};

std::string text_of(const Named& format, const Operation& operation, Round round,
                    const uint64_t* operands) {
  std::string text = std::string(operation.name) + "." + format.name + " mode " +
                     std::to_string(static_cast<int>(round));
  for (unsigned i = 0; i < operation.operands; ++i) {
    char word[24];
    std::snprintf(word, sizeof word, " %llx", static_cast<unsigned long long>(operands[i]));
    text += word;
  }
  return text;
}

void check(const Named& format, const Operation& operation, const uint64_t* operands) {
  Number numbers[3];
  for (unsigned i = 0; i < operation.operands; ++i) {
    numbers[i] = decode(format.format, operands[i]);
  }
  for (Round round : kModes) {
    const uint64_t got = encode(format.format, operation.computed(numbers, round), round);
    const uint64_t want = mpfr_result(format.format, format.format, round, operands,
                                      operation.operands, operation.exact);
    ASSERT_EQ(got, want) << text_of(format, operation, round, operands);
  }
}

TEST(SoftFloat, PairsOfCornerCases) {
  for (const Named& format : kFormats) {
    const auto& list = corners(format.type);
    for (const Operation& operation : kOperations) {
      for (size_t i = 0; i < list.size() * list.size(); ++i) {
        const uint64_t operands[] = {list[i % list.size()], list[i / list.size()],
                                     list[i * 13 / 7 % list.size()]};
        if (operation.operands == 1 && i >= list.size()) break;
        ASSERT_NO_FATAL_FAILURE(check(format, operation, operands));
      }
    }
  }
}

TEST(SoftFloat, RandomOperands) {
  Random random(1);
  for (const Named& format : kFormats) {
    for (const Operation& operation : kOperations) {
      for (uint64_t i = 0; i < random_count(); ++i) {
        uint64_t operands[3];
        for (uint64_t& word : operands) word = any_value(format.type, random);
        ASSERT_NO_FATAL_FAILURE(check(format, operation, operands));
      }
    }
  }
}

/// Sums that cancel to a few bits, and products that a third operand nearly meets.
TEST(SoftFloat, Cancellation) {
  Random random(2);
  for (const Named& format : kFormats) {
    for (uint64_t i = 0; i < random_count(); ++i) {
      const uint64_t a = any_value(format.type, random), b = any_value(format.type, random);
      const Number product = multiply(decode(format.format, a), decode(format.format, b));
      const uint64_t near = encode(format.format, negated(product), Round::rn);
      const uint64_t operands[] = {a, b, near + random.below(5) - 2};
      if (format.format.width < 64 && operands[2] >> format.format.width != 0) continue;
      ASSERT_NO_FATAL_FAILURE(check(format, kOperations[4], operands));
      const uint64_t terms[] = {a, (a ^ sign_bit(format.format)) + random.below(5) - 2};
      if (format.format.width < 64 && terms[1] >> format.format.width != 0) continue;
      ASSERT_NO_FATAL_FAILURE(check(format, kOperations[0], terms));
    }
  }
}

int copy(mpfr_t out, const mpfr_t* in, mpfr_rnd_t mode) { return mpfr_set(out, in[0], mode); }

TEST(SoftFloat, NarrowingAndWidening) {
  const Named targets[] = {{"f16", Type::f16, kF16},    {"bf16", Type::bf16, kBf16},
                           {"f32", Type::f32, kF32},    {"f64", Type::f64, kF64},
                           {"tf32", Type::tf32, kTf32}, {"e5m2", Type::e5m2, kE5m2}};
  Random random(3);
  for (const Named& from : kFormats) {
    const bool exhaustive = from.format.width == 16;
    const uint64_t count = exhaustive ? 65536 : random_count();
    for (const Named& to : targets) {
      for (uint64_t i = 0; i < count; ++i) {
        const uint64_t word = exhaustive ? i : any_value(from.type, random);
        for (Round round : kModes) {
          const uint64_t got = encode(to.format, decode(from.format, word), round);
          const uint64_t want = mpfr_result(from.format, to.format, round, &word, 1, copy);
          ASSERT_EQ(got, want) << from.name << " to " << to.name << " " << std::hex << word;
        }
      }
    }
  }
}

TEST(SoftFloat, EightBitsToF16AndBack) {
  for (const Format* format : {&kE4m3, &kE5m2}) {
    for (uint64_t word = 0; word < 256; ++word) {
      const Number number = decode(*format, word);
      const uint64_t wide = encode(kF16, number, Round::rz);
      EXPECT_EQ(wide, mpfr_result(*format, kF16, Round::rn, &word, 1, copy)) << word;
      const uint64_t back = encode(*format, decode(kF16, wide), Round::rz, true);
      if (number.is_nan()) {
        EXPECT_EQ(back, format->canonical_nan);
      } else if (!number.is_infinite()) {
        EXPECT_EQ(back, word);
      }
    }
  }
}

/// e4m3 has neither infinities nor a MPFR of its own: its 127 magnitudes are searched.
TEST(SoftFloat, NarrowingToE4m3) {
  for (uint64_t word = 0; word < 65536; ++word) {
    const Number number = decode(kF16, word);
    if (number.is_nan()) continue;
    const uint64_t got = encode(kE4m3, number, Round::rn, true);
    EXPECT_EQ(got >> 7, word >> 15);
    const Number result = decode(kE4m3, got);
    ASSERT_FALSE(result.is_nan()) << word;
    // No neighbour is nearer.
    const auto distance = [&](uint64_t code) {
      const Number there = decode(kE4m3, code);
      Number gap = add(number, negated(there), Round::rn);
      gap.negative = false;
      return encode(kF64, gap, Round::rn);
    };
    if ((got & 0x7f) < 0x7e) {
      EXPECT_LE(distance(got), distance(got + 1)) << word;
    }
    if ((got & 0x7f) > 0) {
      EXPECT_LE(distance(got), distance(got - 1)) << word;
    }
  }
}

TEST(SoftFloat, RoundsTiesAwayForTf32) {
  Random random(4);
  for (uint64_t i = 0; i < random_count(); ++i) {
    const uint64_t word = any_value(Type::f32, random);
    if (is_nan(kF32, word)) continue;
    const uint64_t infinity = 0x7f800000, magnitude = word & 0x7fffffff;
    const uint64_t rounded = magnitude == infinity ? magnitude : (magnitude + 0x1000) & ~0x1fffull;
    EXPECT_EQ(encode(kTf32, decode(kF32, word), Round::rna), rounded | (word & 0x80000000))
        << std::hex << word;
  }
}

TEST(SoftFloat, IntegralValues) {
  Random random(5);
  const auto exact = [](mpfr_t out, const mpfr_t* in, mpfr_rnd_t mode) {
    mpfr_t whole;
    mpfr_init2(whole, 64);
    mpfr_rint(whole, in[0], mode);
    const int ternary = mpfr_set(out, whole, MPFR_RNDN);
    mpfr_clear(whole);
    return ternary;
  };
  for (const Named& format : kFormats) {
    for (uint64_t i = 0; i < random_count(); ++i) {
      const uint64_t word = any_value(format.type, random);
      for (Round round : kModes) {
        const Number got = round_to_integral(decode(format.format, word), round);
        EXPECT_EQ(encode(format.format, got, Round::rn),
                  mpfr_result(format.format, format.format, round, &word, 1, exact))
            << format.name << std::hex << " " << word;
      }
    }
  }
}

TEST(SoftFloat, Order) {
  Random random(6);
  for (const Named& format : kFormats) {
    for (uint64_t i = 0; i < random_count(); ++i) {
      const uint64_t a = any_value(format.type, random);
      const uint64_t b = random.below(4) == 0 ? a : any_value(format.type, random);
      const auto order = compare(decode(format.format, a), decode(format.format, b));
      if (is_nan(format.format, a) || is_nan(format.format, b)) {
        EXPECT_EQ(order, std::partial_ordering::unordered);
        continue;
      }
      // As integers, once negative ones are mirrored; both zeros become one.
      const auto key = [&](uint64_t word) {
        const uint64_t sign = sign_bit(format.format);
        const auto magnitude = static_cast<int64_t>(word & (sign - 1));
        return (word & sign) != 0 ? -magnitude : magnitude;
      };
      EXPECT_EQ(order, std::partial_ordering(key(a) <=> key(b))) << std::hex << a << " " << b;
    }
  }
}

}  // namespace
}  // namespace km::reference
