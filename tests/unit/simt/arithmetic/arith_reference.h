// Reference floating point for tests: every rounding mode of every format by the host's own FPU,
// its rounding mode and its inexact flag; nothing is shared with the code under test.
#pragma once

#include <bit>
#include <cstdint>

namespace km::simt::arith {

enum class Mode { rn, rz, rm, rp };
constexpr Mode kModes[] = {Mode::rn, Mode::rz, Mode::rm, Mode::rp};
const char* text_of(Mode mode);  // ".rn"

enum class Op { add, sub, mul, fma, div, rcp, sqrt };

/// F is float or double.
template <class F>
F compute(Op op, F a, F b, F c, Mode mode);

/// The result in double, rounded to odd: enough to round it once more to any narrower format.
double compute_to_odd(Op op, double a, double b, double c);
double integer_to_odd(unsigned __int128 magnitude, bool negative);

/// A binary format narrower than double.
struct Format {
  int bits, fraction;
  uint64_t infinity() const { return ((uint64_t{1} << (bits - 1 - fraction)) - 1) << fraction; }
  int bias() const { return (1 << (bits - 2 - fraction)) - 1; }
};
constexpr Format kF16{16, 10}, kBf16{16, 7}, kF32{32, 23};

/// Rounds to the format; NaN becomes all ones below the sign, PTX's canonical NaN.
uint64_t round_to(const Format& format, double value, Mode mode);
/// The number that the bits mean.
double value_of(const Format& format, uint64_t bits);
bool is_nan(const Format& format, uint64_t bits);
/// Subnormals made zeros of their sign.
uint64_t flush(const Format& format, uint64_t bits);

inline float flush(float x) {
  return std::bit_cast<float>(static_cast<uint32_t>(flush(kF32, std::bit_cast<uint32_t>(x))));
}

}  // namespace km::simt::arith
