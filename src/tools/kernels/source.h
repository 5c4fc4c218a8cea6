// CUDA C++ files and their compiler options, for the commands that compile.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/library.h"

namespace km::tools {

struct CompileOptions {
  std::string architecture;  ///< "90", "compute_90", "sm_90"; empty: the library's default
  std::vector<std::string> defines;
  std::vector<std::string> include_dirs;
  std::vector<std::string> nvrtc;  ///< passed to NVRTC unchanged
};
void add_compile_options(CLI::App& command, CompileOptions& options);
/// Adds the argument FILE, which check_kernel_file() checks.
void add_kernel_file(CLI::App& command, std::string& file);
/// Adds --shared, and --arg with this description, for each argument of a launch.
void add_argument_options(CLI::App& command, std::vector<std::string>& specs,
                          uint64_t& shared_bytes, const char* about);
/// Adds --device; `about` describes its purpose and the default.
void add_device_option(CLI::App& command, std::string& device, const char* about);

/// A usage error unless the file's name has an ending of kernel files.
Status check_kernel_file(const std::string& path);

/// The text of a CUDA C++ file.
struct Source {
  std::string path;
  std::string text;
};

/// Compiles, and prints warnings and errors on standard error in NVRTC's words. The names are those
/// of templates to instantiate and kernels to look up (CompileInput::name_expressions).
Result<Program> compile_source(const Source& source, const CompileOptions& options,
                               const std::vector<std::string>& names);
/// Compiles without printing; the failure's text is the first error of the source.
Result<Program> compile_quietly(const Source& source, const CompileOptions& options);

std::string program_ptx(km_program program);

}  // namespace km::tools
