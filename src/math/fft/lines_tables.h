// The code for each set of instructions: vectors of 16, 32 and 64 bytes.
#pragma once

#include <vector>

#include "math/fft/lines.h"

namespace km::fft {

const LineCode<float>& plain_lines_float();
const LineCode<double>& plain_lines_double();

const LineCode<float>& wide_lines_float();
const LineCode<double>& wide_lines_double();
const LineCode<float>& widest_lines_float();
const LineCode<double>& widest_lines_double();

/// The code for one set of instructions.
struct LineSet {
  const LineCode<float>* of_floats;
  const LineCode<double>* of_doubles;
};

/// The sets that this machine runs, the best one last.
std::vector<LineSet> line_sets();

}  // namespace km::fft
