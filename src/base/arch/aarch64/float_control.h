// base/arch/float_control.h for AArch64: FPCR.
#pragma once

#include <cstdint>

namespace km::arch {

using FloatControl = uint64_t;

/// No exception traps, rounding to nearest even, subnormals and the payloads of NaNs kept.
constexpr FloatControl kDefaultFloatControl = 0;
/// The bit by which subnormal results and operands become zero: FZ.
constexpr FloatControl kFlushSubnormals = FloatControl{1} << 24;

inline FloatControl float_control() {
  FloatControl control;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return control;
}
inline void set_float_control(FloatControl control) {
  asm volatile("msr fpcr, %0" : : "r"(control) : "memory");
}
inline FloatControl with_rounding(FloatControl control, FloatRounding rounding) {
  constexpr unsigned kShift = 22;
  // RMode has up before down.
  constexpr FloatControl kModes[] = {0, 2, 1, 3};
  return (control & ~(FloatControl{3} << kShift)) | kModes[static_cast<int>(rounding)] << kShift;
}

}  // namespace km::arch
