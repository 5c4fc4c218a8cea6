// Prints the source lines at which kernels spend their time.
#pragma once

#include "backends/cpu/module/module.h"

namespace km::cpu {

/// With KM_DUMP=samples, prints the samples of a kernel's code, which are taken then: a line
/// "sample", file, line, count for each source line, separated by tabs. The file is empty for lines
/// of PTX without a source; line 0 stands for the functions that the code calls.
void print_samples(const Function& function);

}  // namespace km::cpu
