// The sets of AArch64: every machine has the vectors of 16 bytes that plain code uses.
#include "math/fft/lines_tables.h"

namespace km::fft {

std::vector<LineSet> line_sets() { return {{&plain_lines_float(), &plain_lines_double()}}; }

}  // namespace km::fft
