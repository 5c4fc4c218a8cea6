// base/arch/float_control.h for x86-64: MXCSR.
#pragma once

#include <cstdint>

namespace km::arch {

using FloatControl = uint32_t;

/// All exceptions masked, rounding to nearest even, subnormals kept.
constexpr FloatControl kDefaultFloatControl = 0x1F80;
/// The bits by which subnormal results and operands become zero.
constexpr FloatControl kFlushSubnormals = 0x8040;

inline FloatControl float_control() { return __builtin_ia32_stmxcsr(); }
inline void set_float_control(FloatControl control) { __builtin_ia32_ldmxcsr(control); }
inline FloatControl with_rounding(FloatControl control, FloatRounding rounding) {
  constexpr unsigned kShift = 13;
  return (control & ~(FloatControl{3} << kShift)) | static_cast<FloatControl>(rounding) << kShift;
}

}  // namespace km::arch
