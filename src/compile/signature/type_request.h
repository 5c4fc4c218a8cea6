// How the types of `extern "C"` kernels are found: the compiler is asked for the names of instances
// of a variable template, one for the type of each kernel.
#pragma once

#include <string>
#include <vector>

#include "compile/compile.h"
#include "compile/signature/kernel_names.h"

namespace km {

/// The kernels of a source and its headers whose types have to be asked for; none where the options
/// make something else than plain PTX.
std::vector<KernelName> kernels_to_ask_for(const CompileInput& input,
                                           const std::vector<std::string>& options);

/// The input with the template after the source and the requests after the name expressions.
CompileInput with_type_requests(const CompileInput& input, const std::vector<KernelName>& kernels);

/// True if the log of a failed compilation is about the requests, and not about the source alone.
bool mentions_type_requests(const std::string& log);

/// Takes the answers out of the names, and the variables out of the PTX, and puts the types into
/// lines of comment at its end.
void take_type_answers(const std::vector<KernelName>& kernels, CompileOutput* output);

/// Puts the names that the source has for the kernels' parameters into lines of comment at the end
/// of the PTX, where sources and PTX agree on their number.
void add_parameter_names(const CompileInput& input, CompileOutput* output);

/// The kernels that are in the PTX.
std::vector<KernelName> confirmed_kernels(const std::vector<KernelName>& kernels,
                                          const std::string& ptx);

}  // namespace km
