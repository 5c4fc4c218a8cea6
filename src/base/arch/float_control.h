// The calling thread's floating-point control word: rounding, subnormals, exceptions.
#pragma once

#include <cstdint>

namespace km::arch {

/// The rounding modes, with the numbers that forms of PTX's matrix instructions carry.
enum class FloatRounding : uint8_t { nearest = 0, down = 1, up = 2, toward_zero = 3 };

}  // namespace km::arch

#if defined(__x86_64__)
#include "base/arch/x86_64/float_control.h"
#elif defined(__aarch64__)
#include "base/arch/aarch64/float_control.h"
#endif

namespace km::arch {

/// Reads the control word.
FloatControl float_control();
/// Writes the control word.
void set_float_control(FloatControl control);
/// Returns the control word with its rounding mode replaced.
FloatControl with_rounding(FloatControl control, FloatRounding rounding);

/// Sets the control word to kDefaultFloatControl for the lifetime of the object, because the
/// program may have changed that of its threads.
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
