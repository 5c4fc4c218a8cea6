// How results are rounded.
#pragma once

#include <cstdint>

namespace km::simt {

/// PTX's rounding modes, by their names there: to nearest, down, up, toward zero. Generated code
/// carries the numbers.
enum class Round : uint8_t { rn = 0, rm = 1, rp = 2, rz = 3 };

}  // namespace km::simt
