// Compiles CUDA C++ to PTX with NVRTC, which is loaded at run time (compile/find.h), so that
// building this library does not require it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace km {

/// A header in memory: `#include "name"` finds it before any folder is searched.
struct CompileHeader {
  std::string name;
  std::string source;
};

struct CompileInput {
  std::string source;
  std::string name;                  ///< used in messages; empty: "kernel.cu"
  std::vector<std::string> options;  ///< NVRTC's options, passed on unchanged
  std::vector<CompileHeader> headers;
  std::vector<std::string> name_expressions;  ///< "scale<float>": see CompileOutput
  std::string architecture;                   ///< "compute_90"; empty: default_architecture()
};

struct CompileOutput {
  std::string ptx;
  std::string log;  ///< warnings, or the errors of a failed compilation
  /// Pairs of name expression and kernel name in the PTX, in the order of the input.
  std::vector<std::pair<std::string, std::string>> lowered_names;
};

/// Compiles. Errors in the source are KM_ERROR_COMPILATION_FAILED, with the first one in the
/// message and all of them in `output.log`; without NVRTC the status is KM_ERROR_NVRTC_UNAVAILABLE.
/// It may be called on any thread with any stack size; compilations are serialised.
Status compile_cuda(const CompileInput& input, CompileOutput& output);

/// The loaded NVRTC.
struct NvrtcInfo {
  std::string path;
  int major = 0;
  int minor = 0;
  std::vector<std::string> include_dirs;  ///< the CUDA headers that belong to it
  /// 75, 80, ...; empty: NVRTC before 11.2, which has no list.
  std::vector<int> architectures;
};

/// Finds and loads NVRTC at the first call; the outcome is final for the life of the process.
Result<NvrtcInfo> nvrtc_info();

/// The default architecture, for example "compute_90": the CPU device's compute capability
/// (KM_CPU_CC, 8.9 unless set), or the nearest one that the loaded NVRTC supports.
Result<std::string> default_architecture();
/// The architecture for a device of this compute capability (89 for 8.9).
Result<std::string> architecture_for(int compute_capability);

}  // namespace km
