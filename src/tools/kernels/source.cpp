#include "tools/kernels/source.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "base/printable.h"
#include "tools/error.h"
#include "tools/kernels/kernel.h"
#include "tools/terminal/colour.h"
#include "tools/terminal/progress.h"

namespace km::tools {
namespace {

std::string architecture_option(const std::string& architecture) {
  const bool is_number = architecture.find('_') == std::string::npos;
  return "--gpu-architecture=" + (is_number ? "compute_" : std::string()) + architecture;
}

/// The user's include folders come before the file's own, where quoted includes are looked up.
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

struct Compiled {
  Program program;
  Status status;
  std::string log;
};

Result<Compiled> compile(const Source& source, const CompileOptions& options,
                         const std::vector<std::string>& names) {
  Compiled result;
  Program& program = result.program;
  KM_TRY(check(km_program_create(source.text.data(), source.text.size(), source.path.c_str(),
                                 program.out())));
  for (const std::string& option : option_list(source, options)) {
    KM_TRY(check(km_program_add_option(program.get(), option.c_str())));
  }
  for (const std::string& name : names) {
    KM_TRY(check(km_program_add_name_expression(program.get(), name.c_str())));
  }
  result.status = check(km_program_compile(program.get()));
  result.log = copy_text([&](char* buffer, uint64_t capacity, uint64_t* size) {
    return km_program_log(program.get(), buffer, capacity, size);
  });
  return result;
}

/// Prints the log; on terminals, errors and warnings are coloured.
void print_log(const std::string& log) {
  for (size_t from = 0; from < log.size();) {
    const size_t end = std::min(log.find('\n', from), log.size());
    const std::string line = log.substr(from, end - from);
    const bool is_error = line.find(": error") != std::string::npos;
    const bool is_warning = line.find(": warning") != std::string::npos;
    std::fprintf(stderr, "%s\n",
                 is_error     ? painted(Colour::red, line, stderr).c_str()
                 : is_warning ? painted(Colour::yellow, line, stderr).c_str()
                              : printable(line).c_str());
    from = end + 1;
  }
}

/// Advice for a header that the compiler does not find; empty for other errors.
std::string header_advice(const std::string& log) {
  const bool is_missing = log.find("cannot open source file") != std::string::npos;
  return is_missing ? "; name the folder of that header with -I DIR" : "";
}

/// The text of the first error without its position; empty if there is none.
std::string first_error(const std::string& log) {
  constexpr std::string_view kMark = "error: ";
  const size_t found = log.find(kMark);
  if (found == std::string::npos) return {};
  const size_t begin = found + kMark.size();
  return log.substr(begin, log.find('\n', begin) - begin);
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

void add_kernel_file(CLI::App& command, std::string& file) {
  command.add_option("FILE", file, "CUDA C++ (.cu), PTX (.ptx) or object code (.kmo)")
      ->required()
      ->type_name("FILE");
}

void add_argument_options(CLI::App& command, std::vector<std::string>& specs,
                          uint64_t& shared_bytes, const char* about) {
  command.add_option("--shared", shared_bytes, "Dynamic shared memory per block")
      ->type_name("BYTES")
      ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 32));
  command.add_option("-a,--arg", specs, about)->type_name("SPEC")->allow_extra_args(false);
}

void add_device_option(CLI::App& command, std::string& device, const char* about) {
  command.add_option("-d,--device", device, about)->type_name("URI");
}

Status check_kernel_file(const std::string& path) {
  if (is_ptx(path) || is_cuda(path) || is_object(path)) return {};
  return usage_error(in_quotes(path) + ": expected a FILE.cu, a FILE.ptx or a FILE.kmo");
}

Result<Program> compile_source(const Source& source, const CompileOptions& options,
                               const std::vector<std::string>& names) {
  Result<Compiled> compiled = [&] {
    const Progress progress("compiling " + source.path);
    return compile(source, options, names);
  }();
  if (!compiled) return compiled.error();
  print_log(compiled->log);
  const Status& status = compiled->status;
  if (status) return std::move(compiled->program);
  // The log was printed, so only the advice after the last ';' remains.
  if (status.error().status == KM_ERROR_COMPILATION_FAILED) {
    const std::string& message = status.error().message;
    const size_t advice = std::min(message.find("; the file is a whole program"),
                                   message.find("; a kernel that launches another one"));
    return error(KM_ERROR_COMPILATION_FAILED,
                 in_quotes(source.path) + " does not compile" + header_advice(compiled->log) +
                     (advice == std::string::npos ? std::string() : message.substr(advice)));
  }
  return status.error();
}

Result<Program> compile_quietly(const Source& source, const CompileOptions& options) {
  KM_ASSIGN(Compiled compiled, compile(source, options, {}));
  if (compiled.status) return std::move(compiled.program);
  const std::string why = first_error(compiled.log);
  if (why.empty()) return compiled.status.error();
  return error(compiled.status.error().status, why);
}

std::string program_ptx(km_program program) {
  return copy_text([&](char* buffer, uint64_t capacity, uint64_t* size) {
    return km_program_ptx(program, buffer, capacity, size);
  });
}

}  // namespace km::tools
