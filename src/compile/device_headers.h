// The C and C++ headers that CUDA sources include and NVRTC lacks, reduced to the parts that device
// code can use.
#pragma once

#include <string>
#include <vector>

#include "compile/compile.h"

namespace km {

/// True if a compilation with this log lacked a header that this file provides.
bool lacks_device_header(const std::string& log);

/// The input plus those of these headers that neither it nor one of the folders has; NVRTC prefers
/// headers in memory to files.
CompileInput with_device_headers(const CompileInput& input,
                                 const std::vector<std::string>& folders);

/// A hash of the texts of all these headers, so that cached PTX made with others is not used.
const std::string& device_headers_hash();

/// Advice for a source whose compilation ended with this log, if it is a whole program: the parts
/// that a kernel's file must not contain, or the option that it needs. Empty if there is none.
std::string whole_program_advice(const std::string& source, const std::string& log);

}  // namespace km
