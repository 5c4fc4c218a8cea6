// The sets of x86-64 that this machine runs.
#include "math/fft/lines_tables.h"

namespace km::fft {
namespace {

bool has_wide() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_widest() {
  return has_wide() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

}  // namespace

std::vector<LineSet> line_sets() {
  std::vector<LineSet> sets = {{&plain_lines_float(), &plain_lines_double()}};
  if (has_wide()) sets.push_back({&wide_lines_float(), &wide_lines_double()});
  if (has_widest()) sets.push_back({&widest_lines_float(), &widest_lines_double()});
  return sets;
}

}  // namespace km::fft
