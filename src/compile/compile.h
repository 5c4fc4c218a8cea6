// CUDA C++ to PTX by NVRTC, which is found at run time (compile/find.h): nothing of it is needed to
// build this library.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace km {

/// A header given in memory: what `#include "name"` finds before any folder is searched.
struct CompileHeader {
  std::string name;
  std::string source;
};

struct CompileInput {
  std::string source;
  std::string name;                  ///< for messages; empty: "kernel.cu"
  std::vector<std::string> options;  ///< NVRTC's, passed on as they are
  std::vector<CompileHeader> headers;
  std::vector<std::string> name_expressions;  ///< "scale<float>": see CompileOutput
  std::string architecture;                   ///< "compute_90"; empty: default_architecture()
};

struct CompileOutput {
  std::string ptx;
  std::string log;  ///< warnings, or the errors of a failed compilation; filled in both cases
  /// Each name expression with the name of its kernel in the PTX, in the order of the input.
  std::vector<std::pair<std::string, std::string>> lowered_names;
};

/// Compiles. Errors in the source are KM_ERROR_COMPILATION_FAILED with the first of them in the
/// message and all of them in `output.log`; without NVRTC it is KM_ERROR_NVRTC_UNAVAILABLE.
/// Callable from any thread, with any stack size; compilations run one after the other.
Status compile_cuda(const CompileInput& input, CompileOutput& output);

/// The NVRTC in use.
struct NvrtcInfo {
  std::string path;
  int major = 0;
  int minor = 0;
  std::vector<std::string> include_dirs;  ///< the CUDA headers that belong to it
  std::vector<int> architectures;         ///< 75, 80, ...; empty: it cannot say (before 11.2)
};

/// Finds and loads NVRTC on first use; the outcome holds for the life of the process.
Result<NvrtcInfo> nvrtc_info();

/// The architecture to compile for by default: the CPU device's compute capability (KM_CPU_CC, 8.9
/// unless set), or the nearest that the NVRTC in use can target. For example "compute_90".
Result<std::string> default_architecture();
/// The architecture for a device of this compute capability (89 for 8.9).
Result<std::string> architecture_for(int compute_capability);

}  // namespace km
