// Determines the types of `extern "C"` kernels: the compiler is asked for the names of instances of
// a variable template, one with the type of each kernel.
#pragma once

#include <string>
#include <vector>

#include "compile/compile.h"
#include "compile/signature/kernel_names.h"

namespace km {

/// The kernels of a source and its headers whose types must be requested; none if the options
/// produce anything but plain PTX.
std::vector<KernelName> kernels_to_ask_for(const CompileInput& input,
                                           const std::vector<std::string>& options);

/// The input with the template after the source, and one name expression per kernel.
CompileInput with_type_requests(const CompileInput& input, const std::vector<KernelName>& kernels);

/// True if the log of a failed compilation mentions the requests, so that they may have caused the
/// failure.
bool mentions_type_requests(const std::string& log);

/// Removes the answers from the lowered names and the variables from the PTX, and appends the types
/// to the PTX as comment lines.
void take_type_answers(const std::vector<KernelName>& kernels, CompileOutput* output);

/// Appends the source's names of kernels' parameters to the PTX as comment lines, if source and PTX
/// agree on their number.
void add_parameter_names(const CompileInput& input, CompileOutput* output);

/// The kernels of the list that the PTX really has.
std::vector<KernelName> confirmed_kernels(const std::vector<KernelName>& kernels,
                                          const std::string& ptx);

}  // namespace km
