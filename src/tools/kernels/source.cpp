#include "tools/kernels/source.h"

#include <cstdio>

#include "tools/error.h"

namespace km::tools {
namespace {

std::string architecture_option(const std::string& architecture) {
  const bool is_number = architecture.find('_') == std::string::npos;
  return "--gpu-architecture=" + (is_number ? "compute_" : std::string()) + architecture;
}

/// The user's folders before the file's own, where quoted includes are expected to work from.
std::vector<std::string> option_list(const Source& source, const CompileOptions& options) {
  std::vector<std::string> list;
  if (!options.architecture.empty()) list.push_back(architecture_option(options.architecture));
  for (const std::string& define : options.defines) list.push_back("-D" + define);
  for (const std::string& dir : options.include_dirs) list.push_back("-I" + dir);
  const size_t slash = source.path.rfind('/');
  list.push_back("-I" + (slash == std::string::npos ? "." : source.path.substr(0, slash + 1)));
  list.insert(list.end(), options.nvrtc.begin(), options.nvrtc.end());
  return list;
}

}  // namespace

void add_compile_options(CLI::App& command, CompileOptions& options) {
  command
      .add_option("--arch", options.architecture,
                  "Virtual architecture to compile for, for example 90")
      ->type_name("CC");
  command.add_option("-D,--define", options.defines, "Define a macro")
      ->type_name("NAME[=VALUE]")
      ->allow_extra_args(false);
  command.add_option("-I,--include", options.include_dirs, "Search a folder for headers")
      ->type_name("DIR")
      ->allow_extra_args(false);
  command.add_option("--nvrtc", options.nvrtc, "Pass an option on to NVRTC: --nvrtc=-fmad=false")
      ->type_name("OPTION")
      ->allow_extra_args(false);
}

Result<Program> compile_source(const Source& source, const CompileOptions& options,
                               const std::vector<std::string>& names) {
  Program program;
  KM_TRY(check(km_program_create(source.text.data(), source.text.size(), source.path.c_str(),
                                 program.out())));
  for (const std::string& option : option_list(source, options)) {
    KM_TRY(check(km_program_add_option(program.get(), option.c_str())));
  }
  for (const std::string& name : names) {
    KM_TRY(check(km_program_add_name_expression(program.get(), name.c_str())));
  }
  const Status status = check(km_program_compile(program.get()));
  const std::string log = copy_text([&](char* buffer, uint64_t capacity, uint64_t* size) {
    return km_program_log(program.get(), buffer, capacity, size);
  });
  if (!log.empty()) std::fprintf(stderr, "%s%s", log.c_str(), log.ends_with('\n') ? "" : "\n");
  if (status) return program;
  // The log has said it all, but for the advice behind the last ';'.
  if (status.error().status == KM_ERROR_COMPILATION_FAILED) {
    const std::string& message = status.error().message;
    const size_t advice = message.find("; the file is a whole program");
    return error(KM_ERROR_COMPILATION_FAILED,
                 "'" + source.path + "' does not compile" +
                     (advice == std::string::npos ? std::string() : message.substr(advice)));
  }
  return status.error();
}

std::string program_ptx(km_program program) {
  return copy_text([&](char* buffer, uint64_t capacity, uint64_t* size) {
    return km_program_ptx(program, buffer, capacity, size);
  });
}

}  // namespace km::tools
