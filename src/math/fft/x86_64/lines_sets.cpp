// Chooses the code of lines for this machine.
#include "math/fft/lines_tables.h"

namespace km::fft {
namespace {

bool has_wide() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_widest() {
  return has_wide() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

}  // namespace

template <>
const LineCode<float>& line_code<float>() {
  static const LineCode<float>& code = has_widest() ? widest_lines_float()
                                       : has_wide() ? wide_lines_float()
                                                    : plain_lines_float();
  return code;
}
template <>
const LineCode<double>& line_code<double>() {
  static const LineCode<double>& code = has_widest() ? widest_lines_double()
                                        : has_wide() ? wide_lines_double()
                                                     : plain_lines_double();
  return code;
}

}  // namespace km::fft
