// The rounding modes of results.
#pragma once

#include <cstdint>

namespace km::simt {

/// PTX's rounding modes under their PTX names: to nearest even, down, up, toward zero. Generated
/// code contains the numbers, which are also those of x86-64's rounding control.
enum class Round : uint8_t { rn = 0, rm = 1, rp = 2, rz = 3 };

}  // namespace km::simt
