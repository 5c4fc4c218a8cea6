// The calling thread's control of floating-point arithmetic: rounding, subnormals, exceptions.
#pragma once

#include <cstdint>

namespace km::arch {

/// Rounding modes. PTX's matrix instructions carry these numbers.
enum class FloatRounding : uint8_t { nearest = 0, down = 1, up = 2, toward_zero = 3 };

}  // namespace km::arch

#if defined(__x86_64__)
#include "base/arch/x86_64/float_control.h"
#endif

namespace km::arch {

/// The control word.
FloatControl float_control();
/// Replaces the control word.
void set_float_control(FloatControl control);
/// The control word with another rounding mode.
FloatControl with_rounding(FloatControl control, FloatRounding rounding);

/// Sets kDefaultFloatControl, the state that programs start with, for as long as it lives: the
/// thread's own may be another.
class DefaultFloats {
 public:
  DefaultFloats() : before_(float_control()) { set_float_control(kDefaultFloatControl); }
  ~DefaultFloats() { set_float_control(before_); }
  DefaultFloats(const DefaultFloats&) = delete;
  DefaultFloats& operator=(const DefaultFloats&) = delete;

 private:
  const FloatControl before_;
};

}  // namespace km::arch
