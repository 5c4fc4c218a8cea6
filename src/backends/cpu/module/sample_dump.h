// Prints the source lines at which kernels spend their time.
#pragma once

#include "backends/cpu/module/module.h"

namespace km::cpu {

/// With KM_DUMP=samples, lists a module whose kernels are sampled until print_samples() is called.
void note_sampled(Module& module);

/// Prints the samples of a module's kernels that note_sampled() has listed, which are taken then: a
/// line "sample", file, line, count for each source line, separated by tabs. The file is empty for
/// lines of PTX without a source; line 0 stands for the functions that the code calls. The module
/// leaves the list, so that the code of others may take its place.
void print_samples(Module& module);

/// Does so at the end of the process for the modules that the program has not unloaded.
void print_samples_at_exit();

}  // namespace km::cpu
