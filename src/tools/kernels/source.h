// CUDA C++ files and the options to compile them with: what `compile` and `run` share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/library.h"

namespace km::tools {

struct CompileOptions {
  std::string architecture;  ///< "90", "compute_90", "sm_90"; empty: the library's default
  std::vector<std::string> defines;
  std::vector<std::string> include_dirs;
  std::vector<std::string> nvrtc;  ///< passed on as they are
};
void add_compile_options(CLI::App& command, CompileOptions& options);
/// FILE, which check_kernel_file() says more about.
void add_kernel_file(CLI::App& command, std::string& file);
/// --device; `about` says what the device is for, and which one is the default.
void add_device_option(CLI::App& command, std::string& device, const char* about);

/// A usage error unless the file's name says that kernels are in it.
Status check_kernel_file(const std::string& path);

/// A file of CUDA C++, read but not compiled yet.
struct Source {
  std::string path;
  std::string text;
};

/// Compiles; warnings and errors go to standard error as NVRTC words them. The names are those of
/// templates to instantiate and kernels to look up (CompileInput::name_expressions).
Result<Program> compile_source(const Source& source, const CompileOptions& options,
                               const std::vector<std::string>& names);
/// Compiles and prints nothing: the failure's text is the first error of the source.
Result<Program> compile_quietly(const Source& source, const CompileOptions& options);

std::string program_ptx(km_program program);

}  // namespace km::tools
