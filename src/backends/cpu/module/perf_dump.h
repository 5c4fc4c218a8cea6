// Lists generated code for perf.
#pragma once

#include <string>

#include "simt/engine.h"

namespace km::cpu {

/// With KM_PERF=1, appends the code of a kernel to jit-PID.dump in the current folder, which `perf
/// inject --jit` reads (tools/perf/Documentation/jitdump-specification.txt of Linux).
void tell_perf(const simt::Code& code, const std::string& kernel, const simt::Variant& variant);

}  // namespace km::cpu
