// Examines one file of a corpus: compiles it, loads it, and generates machine code for each kernel.
#include <algorithm>
#include <ctime>
#include <set>
#include <sstream>

#include "tools/clock.h"
#include "tools/corpus/corpus.h"
#include "tools/error.h"
#include "tools/files.h"

namespace km::tools {

namespace {

struct Target {
  Device device;
  Context context;
};

Result<Target> open_target(const std::string& uri) {
  Target target;
  KM_TRY(check(km_device_open(uri.c_str(), target.device.out())));
  KM_TRY(check(km_context_create(target.device.get(), target.context.out())));
  return target;
}

/// "add.s32" of "@%p1 add.s32 %r1, ...": the first word after a label and a guard.
std::string form_of(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  while (words >> word) {
    const bool skipped = word[0] == '@' || word.back() == ':' || word == "{";
    if (!skipped) break;
    word.clear();
  }
  const bool is_opcode = !word.empty() && word[0] >= 'a' && word[0] <= 'z' &&
                         word.find_first_of("=[(") == std::string::npos;
  if (!is_opcode) return {};
  word.erase(std::min(word.find_first_of(";,"), word.size()));
  return word;
}

std::vector<std::string> forms_of(const std::string& ptx) {
  std::set<std::string> forms;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    if (std::string form = form_of(line); !form.empty()) forms.insert(std::move(form));
  }
  return {forms.begin(), forms.end()};
}

Result<std::string> ptx_of(const std::string& path, const CompileOptions& options) {
  KM_ASSIGN(std::string text, read_file(path));
  if (path.ends_with(".ptx")) return text;
  KM_ASSIGN(const Program program, compile_quietly({path, std::move(text)}, options));
  return program_ptx(program.get());
}

int64_t attribute_of(km_function function, km_function_attribute attribute) {
  int64_t value = 0;
  return km_function_attribute_get(function, attribute, &value) == KM_SUCCESS ? value : 0;
}

/// The processor time of this process, which examines one file only.
double processor_ms() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Examines a kernel, with a block size that its launch bounds allow.
Json examine_kernel(km_module module, uint32_t index, uint32_t block_size) {
  Json result;
  const std::string name = function_name(module, index);
  result["name"] = name;
  Function function;
  Status status = check(km_module_function(module, name.c_str(), function.out()));
  const Stopwatch watch;
  const double start_ms = processor_ms();
  if (status) {
    const int64_t most = attribute_of(function.get(), KM_FUNCTION_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    const auto threads = std::min(block_size, static_cast<uint32_t>(std::max<int64_t>(most, 1)));
    status = check(km_function_prepare(function.get(), threads, 1, 1));
    const bool wrong_shape = !status && status.error().status == KM_ERROR_INVALID_LAUNCH;
    // The kernel's .reqntid excludes the block size, so the refusal is not counted as a failure.
    if (wrong_shape) status = {};
    result["mode"] = attribute_of(function.get(), KM_FUNCTION_ATTRIBUTE_EXECUTION_MODE);
  }
  result["made"] = static_cast<bool>(status);
  result["ms"] = watch.elapsed_ms();
  result["cpu_ms"] = processor_ms() - start_ms;
  if (!status) result["reason"] = status.error().message;
  return result;
}

Status examine(const std::string& path, const CompileOptions& options, const std::string& device,
               uint32_t block_size, Json& result) {
  KM_ASSIGN(const Target target, open_target(device));
  KM_ASSIGN(const std::string ptx, ptx_of(path, options));
  result["compiled"] = true;
  result["forms"] = forms_of(ptx);
  const Stopwatch watch;
  Module module;
  KM_TRY(check(km_module_load_ptx(target.context.get(), ptx.data(), ptx.size(), path.c_str(),
                                  module.out())));
  result["ms"] = watch.elapsed_ms();
  result["loaded"] = true;
  uint32_t count = 0;
  KM_TRY(check(km_module_function_count(module.get(), &count)));
  for (uint32_t i = 0; i < count; ++i) {
    result["kernels"].push_back(examine_kernel(module.get(), i, block_size));
  }
  return {};
}

}  // namespace

Json examine_file(const std::string& path, const CompileOptions& options, const std::string& device,
                  uint32_t block_size) {
  Json result = {{"file", path}, {"compiled", false},      {"loaded", false},
                 {"ms", 0.0},    {"forms", Json::array()}, {"kernels", Json::array()}};
  const Status status = examine(path, options, device, block_size, result);
  if (!status) result["reason"] = status.error().message;
  return result;
}

}  // namespace km::tools
