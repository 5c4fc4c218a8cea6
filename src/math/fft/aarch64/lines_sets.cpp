// The code of lines: every machine has the vectors of 16 bytes that plain code uses.
#include "math/fft/lines_tables.h"

namespace km::fft {

template <>
const LineCode<float>& line_code<float>() {
  return plain_lines_float();
}
template <>
const LineCode<double>& line_code<double>() {
  return plain_lines_double();
}

}  // namespace km::fft
