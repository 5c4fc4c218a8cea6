#include "compile/compile.h"

#include <chrono>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/env.h"
#include "base/file/disk_cache.h"
#include "base/log.h"
#include "compile/compiler_thread.h"
#include "compile/device_headers.h"
#include "compile/nvrtc.h"
#include "compile/options.h"
#include "compile/ptx_cache.h"
#include "compile/signature/type_request.h"

namespace km {
namespace {

constexpr const char* kDefaultName = "kernel.cu";

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> result;
  for (const std::string& text : texts) result.push_back(text.c_str());
  return result;
}

/// NVRTC takes C strings, so it would silently ignore the text after a zero byte.
Status check_no_zero(const std::string& text, const char* what) {
  const size_t position = text.find('\0');
  if (position == std::string::npos) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%s has a zero byte at offset %zu", what, position);
}

Status check_input(const CompileInput& input) {
  KM_TRY(check_no_zero(input.source, "the source"));
  for (const CompileHeader& header : input.headers) {
    if (header.name.empty()) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "a header has an empty name");
    }
    KM_TRY(check_no_zero(header.source, ("header '" + header.name + "'").c_str()));
  }
  return {};
}

/// Owns one nvrtcProgram. It is used on the compiler thread only.
class Program {
 public:
  explicit Program(const NvrtcApi& api) : api_(api) {}
  ~Program() {
    if (handle_ != nullptr) api_.nvrtcDestroyProgram(&handle_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  Status create(const CompileInput& input);
  int compile(const std::vector<std::string>& options) {
    const std::vector<const char*> list = pointers(options);
    return api_.nvrtcCompileProgram(handle_, static_cast<int>(list.size()), list.data());
  }
  std::string log() const;
  Result<std::string> ptx() const;
  Result<std::string> lowered_name(const std::string& expression) const;
  Error error(km_status status, int result, const std::string& text) const {
    Error failure =
        make_error(status, "%s (NVRTC: %s)", text.c_str(), api_.nvrtcGetErrorString(result));
    failure.native_code = result;
    return failure;
  }

 private:
  const NvrtcApi& api_;
  void* handle_ = nullptr;
};

Status Program::create(const CompileInput& input) {
  std::vector<const char*> sources;
  std::vector<const char*> names;
  for (const CompileHeader& header : input.headers) {
    sources.push_back(header.source.c_str());
    names.push_back(header.name.c_str());
  }
  const char* name = input.name.empty() ? kDefaultName : input.name.c_str();
  int result =
      api_.nvrtcCreateProgram(&handle_, input.source.c_str(), name, static_cast<int>(names.size()),
                              sources.data(), names.data());
  if (result != kNvrtcSuccess) {
    return error(result == kNvrtcOutOfMemory ? KM_ERROR_OUT_OF_HOST_MEMORY : KM_ERROR_COMPILER,
                 result, "cannot create a program");
  }
  for (const std::string& expression : input.name_expressions) {
    result = api_.nvrtcAddNameExpression(handle_, expression.c_str());
    if (result != kNvrtcSuccess) {
      return error(KM_ERROR_INVALID_ARGUMENT, result, "name expression '" + expression + "'");
    }
  }
  return {};
}

std::string Program::log() const {
  size_t size = 0;
  if (api_.nvrtcGetProgramLogSize(handle_, &size) != kNvrtcSuccess || size <= 1) return {};
  std::string text(size, '\0');
  if (api_.nvrtcGetProgramLog(handle_, text.data()) != kNvrtcSuccess) return {};
  text.resize(size - 1);
  return text;
}

Result<std::string> Program::ptx() const {
  size_t size = 0;
  int result = api_.nvrtcGetPTXSize(handle_, &size);
  std::string text(size, '\0');
  if (result == kNvrtcSuccess && size > 0) result = api_.nvrtcGetPTX(handle_, text.data());
  if (result != kNvrtcSuccess || size <= 1) {
    return error(KM_ERROR_INVALID_ARGUMENT, result,
                 "these options give no PTX; leave out -dlto and --optix-ir");
  }
  text.resize(size - 1);
  return text;
}

Result<std::string> Program::lowered_name(const std::string& expression) const {
  const char* name = nullptr;
  const int result = api_.nvrtcGetLoweredName(handle_, expression.c_str(), &name);
  if (result != kNvrtcSuccess || name == nullptr) {
    return error(KM_ERROR_NOT_FOUND, result,
                 "name expression '" + expression + "' names nothing in the source");
  }
  return std::string(name);
}

/// The most relevant line of the log, without its line end: the first error.
std::string first_error(const std::string& log) {
  size_t start = log.find("error");
  if (start == std::string::npos) start = log.find_first_not_of('\n');
  if (start == std::string::npos) return "no log";
  const size_t line = log.rfind('\n', start);
  const size_t begin = line == std::string::npos ? 0 : line + 1;
  return log.substr(begin, log.find('\n', start) - begin);
}

/// "; NVRTC 13.5 compiles for 75, 80 ..." if the architecture was the problem.
std::string architecture_hint(const std::string& text, const NvrtcInfo& info) {
  if (text.find("gpu-architecture") == std::string::npos || info.architectures.empty()) return {};
  std::string hint =
      "; NVRTC " + std::to_string(info.major) + "." + std::to_string(info.minor) + " compiles for ";
  for (const int architecture : info.architectures) {
    hint += (hint.back() == ' ' ? "" : ", ") + std::to_string(architecture);
  }
  return hint;
}

Error compile_error(const Program& program, int result, const std::string& log,
                    const NvrtcInfo& info) {
  const std::string text = first_error(log);
  switch (result) {
    case kNvrtcCompilation:
      return program.error(KM_ERROR_COMPILATION_FAILED, result, text);
    case kNvrtcNameExpressionNotValid:
      return program.error(KM_ERROR_NOT_FOUND, result, text);
    case kNvrtcInvalidOption:
      return program.error(KM_ERROR_INVALID_ARGUMENT, result, text + architecture_hint(text, info));
    case kNvrtcOutOfMemory:
      return program.error(KM_ERROR_OUT_OF_HOST_MEMORY, result, text);
    case kNvrtcBuiltinOperationFailure:
      return program.error(KM_ERROR_NVRTC_UNAVAILABLE, result,
                           text + "; libnvrtc-builtins must lie beside libnvrtc");
    default:
      return program.error(KM_ERROR_COMPILER, result, text);
  }
}

Status compile_once(const Nvrtc& nvrtc, const CompileInput& input,
                    const std::vector<std::string>& options, CompileOutput& output) {
  Program program(nvrtc.api);
  KM_TRY(program.create(input));
  const int result = program.compile(options);
  output.log = program.log();
  if (result != kNvrtcSuccess) return compile_error(program, result, output.log, nvrtc.info);
  KM_ASSIGN(std::string ptx, program.ptx());
  std::vector<std::pair<std::string, std::string>> names;
  for (const std::string& expression : input.name_expressions) {
    KM_ASSIGN(std::string name, program.lowered_name(expression));
    names.emplace_back(expression, std::move(name));
  }
  output.ptx = std::move(ptx);
  output.lowered_names = std::move(names);
  return {};
}

Status compile_with_types(const Nvrtc& nvrtc, const CompileInput& input,
                          const std::vector<KernelName>& kernels,
                          const std::vector<std::string>& options, CompileOutput& output) {
  KM_TRY(compile_once(nvrtc, with_type_requests(input, kernels), options, output));
  take_type_answers(kernels, &output);
  return {};
}

/// Compiles, usually once. If requested kernels are missing because conditions or macros hide them,
/// two more compilations follow.
Status compile_here(const Nvrtc& nvrtc, const CompileInput& input,
                    const std::vector<std::string>& options, CompileOutput& output) {
  const std::vector<KernelName> kernels = kernels_to_ask_for(input, options);
  if (!kernels.empty()) {
    Status status = compile_with_types(nvrtc, input, kernels, options, output);
    if (status || !mentions_type_requests(output.log)) return status;
    output = {};
  }
  KM_TRY(compile_once(nvrtc, input, options, output));
  const std::vector<KernelName> confirmed = confirmed_kernels(kernels, output.ptx);
  if (confirmed.empty() || confirmed.size() == kernels.size()) return {};
  CompileOutput with_types;
  if (compile_with_types(nvrtc, input, confirmed, options, with_types)) {
    output = std::move(with_types);
  }
  return {};
}

/// Adds advice to the failure if the source is one that NVRTC cannot compile.
Error with_advice(const CompileInput& input, const std::string& log, Error failure) {
  const std::string advice = whole_program_advice(input.source, log);
  if (!advice.empty() && failure.status == KM_ERROR_COMPILATION_FAILED) {
    failure.message += "; " + advice;
  }
  return failure;
}

/// If a source includes headers that NVRTC lacks and device_headers.h has, it is compiled again
/// with these.
Status compile_on_thread(const Nvrtc& nvrtc, const CompileInput& input,
                         const std::vector<std::string>& options, CompileOutput& output) {
  Status status;
  KM_TRY(run_on_compiler_thread([&] {
    status = compile_here(nvrtc, input, options, output);
    if (status || !lacks_device_header(output.log)) return;
    output = {};
    const CompileInput with_headers = with_device_headers(input, include_folders(options));
    status = compile_here(nvrtc, with_headers, options, output);
  }));
  if (status) add_parameter_names(input, &output);
  return status ? status : with_advice(input, output.log, status.error());
}

/// NVRTC writes the full path of each file. Files below the current folder get relative paths, so
/// that the same source gives the same PTX, and the same cached code, in every folder.
void name_files_from_here(std::string* ptx) {
  std::error_code failure;
  const std::string here = std::filesystem::current_path(failure).string();
  if (failure || here.size() <= 1) return;
  const std::string prefix = '"' + here + '/';
  constexpr std::string_view kFile = "\n\t.file\t";
  for (size_t at = ptx->find(kFile); at != std::string::npos; at = ptx->find(kFile, at + 1)) {
    const size_t name = ptx->find('"', at);
    if (name != std::string::npos && ptx->compare(name, prefix.size(), prefix) == 0) {
      ptx->erase(name + 1, prefix.size() - 1);
    }
  }
}

}  // namespace

Status compile_cuda(const CompileInput& input, CompileOutput& output) {
  output = {};
  KM_TRY(check_input(input));
  KM_ASSIGN(const Nvrtc* const loaded, nvrtc());
  std::string architecture = input.architecture;
  if (architecture.empty()) {
    KM_ASSIGN(architecture, default_architecture());
  }
  std::vector<std::string> options = nvrtc_options(input, architecture, loaded->info);
  KM_ASSIGN(const bool has_line_info, env_flag(EnvVar::KM_LINE_INFO, true));
  if (has_line_info) add_line_info(&options);
  const char* const name = input.name.empty() ? kDefaultName : input.name.c_str();
  // The key is costly and only useful with a cache.
  const std::optional<std::string> key =
      DiskCache::instance() != nullptr ? ptx_key(input, options, loaded->info) : std::nullopt;
  if (std::optional<CompileOutput> kept = key ? find_ptx(*key) : std::nullopt) {
    output = std::move(*kept);
    log(LogLevel::kDebug, "compile", "%s: %zu bytes of PTX, from the cache", name,
        output.ptx.size());
    return {};
  }
  const auto start = std::chrono::steady_clock::now();
  KM_TRY(compile_on_thread(*loaded, input, options, output));
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  log(LogLevel::kDebug, "compile", "%s: %zu bytes of CUDA C++ to %zu bytes of PTX in %.1f ms", name,
      input.source.size(), output.ptx.size(), elapsed.count());
  if (has_line_info) name_files_from_here(&output.ptx);
  if (key) keep_ptx(*key, output);
  return {};
}

}  // namespace km
