// Headers of C and C++ that CUDA sources include and NVRTC lacks: what device code can use of them.
#pragma once

#include <string>
#include <vector>

#include "compile/compile.h"

namespace km {

/// True if a compilation that ended with this log lacked a header that there is here.
bool lacks_device_header(const std::string& log);

/// The input with those of these headers that neither it nor one of the folders has: NVRTC takes
/// what is given so before files.
CompileInput with_device_headers(const CompileInput& input,
                                 const std::vector<std::string>& folders);

/// The text of all of them, as a hash: what was compiled with others is of no use.
const std::string& device_headers_hash();

/// Advice on a source whose compilation ended with this log, if it is a whole program: what a
/// kernel's file must not hold, or which option it needs. Empty: nothing.
std::string whole_program_advice(const std::string& source, const std::string& log);

}  // namespace km
