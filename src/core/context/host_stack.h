// HostStack, the calls of the program that led to a call of this library.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "kernelmill/tracking.h"

namespace km {

/// Return addresses, the innermost first. Names are those that the program and its libraries
/// export.
struct HostStack {
  std::array<void*, KM_ALLOCATION_FRAMES> frames{};
  uint32_t count = 0;

  /// The calling thread's stack without its innermost frames, of which there are `own_frames`:
  /// those functions are not inlined either, since one frame less would be the program's.
  [[gnu::noinline]] static HostStack take(uint32_t own_frames);
  /// One line for each frame.
  std::string lines() const;
  /// The function of the API that the program called, "cuMemAlloc_v2"; empty if it is not known.
  std::string call() const;
  /// The callers of that function, up to main: "a.out+0x1230 < main in a.out+0x1234".
  std::string callers() const;

 private:
  uint32_t first_caller(std::string* out_call) const;
};

}  // namespace km
