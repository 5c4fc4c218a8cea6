// Lines by vectors of 16 bytes.
#include "math/fft/lines.h"

#include <algorithm>
#include <utility>

#include "base/half_float.h"
#include "math/fft/lines_tables.h"

#define KM_FFT_BYTES 16
#define KM_FFT_NAME plain_lines
#include "math/fft/lines_code.inc"

namespace km::fft {

template <>
const LineCode<float>& line_code<float>() {
  static const LineCode<float>& code = *line_sets().back().of_floats;
  return code;
}
template <>
const LineCode<double>& line_code<double>() {
  static const LineCode<double>& code = *line_sets().back().of_doubles;
  return code;
}

}  // namespace km::fft
