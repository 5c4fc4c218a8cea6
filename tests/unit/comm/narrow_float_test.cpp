// Numbers of 8 bits against a search of the nearest.
#include "comm/operation/narrow_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace {

using km::comm::E4m3;
using km::comm::E5m2;

/// The code of the nearest finite number, of two the even one.
template <class Format>
uint8_t nearest(float value, uint8_t most) {
  uint8_t best = 0;
  double distance = INFINITY;
  for (unsigned code = 0; code <= most; ++code) {
    const double each =
        std::fabs(double{Format::kTable[code]} - std::fabs(static_cast<double>(value)));
    if (each > distance || (each == distance && code % 2 != 0)) continue;
    best = static_cast<uint8_t>(code);
    distance = each;
  }
  return static_cast<uint8_t>(best | (std::signbit(value) ? 0x80U : 0U));
}

template <class Format>
void check(uint8_t most, float largest) {
  EXPECT_EQ(Format::kTable[most], largest);
  for (unsigned code = 0; code < 256; ++code) {
    const float value = Format::kTable[code];
    if (std::isfinite(value)) {
      EXPECT_EQ(Format::encode(value), code);
    }
  }
  std::mt19937 random(1);
  std::uniform_real_distribution<float> exponents(-30, 20), mantissas(-2, 2);
  for (int i = 0; i < 20000; ++i) {
    const float value = std::ldexp(mantissas(random), static_cast<int>(exponents(random)));
    EXPECT_EQ(Format::encode(value), nearest<Format>(value, most)) << value;
  }
  // Ties lie halfway between neighbours.
  for (unsigned code = 0; code < most; ++code) {
    const float middle = (Format::kTable[code] + Format::kTable[code + 1]) / 2;
    EXPECT_EQ(Format::encode(middle), nearest<Format>(middle, most)) << middle;
  }
  EXPECT_EQ(Format::encode(INFINITY), most);
  EXPECT_EQ(Format::encode(-INFINITY), most | 0x80U);
  EXPECT_TRUE(std::isnan(Format::kTable[Format::encode(NAN)]));
}

TEST(NarrowFloat, RoundsToTheNearestAndSaturates) {
  check<E4m3>(0x7e, 448);
  check<E5m2>(0x7b, 57344);
}

}  // namespace
