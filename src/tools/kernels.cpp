// kernelmill kernels: lists the kernels of a file with their parameters, or writes one as a shader.
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "base/text.h"
#include "tools/arrays/argument.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/files.h"
#include "tools/kernels/kernel.h"
#include "tools/kernels/shader.h"
#include "tools/terminal/colour.h"
#include "tools/wrap/inspect.h"

namespace km::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFooter =
    "Templates are listed when they are instantiated: --instantiate 'scale<float>'.\n"
    "'kernelmill run FILE --kernel NAME' runs a kernel.\n"
    "'kernelmill kernels FILE --emit msl --kernel NAME' writes one as a compute shader.";

class KernelsCommand : public Command {
 public:
  explicit KernelsCommand(CLI::App& app);
  int run() override;

 private:
  Status list() const;
  Status emit() const;
  Result<Module> load(km_context context, Wrapper* described) const;
  Result<Json> describe_at(km_module module, const std::string& symbol,
                           const Wrapper& described) const;

  std::string file_, device_ = "cpu";
  std::string language_, kernel_, output_ = "-", block_;  // of --emit
  uint64_t shared_bytes_ = 0;
  bool has_arena_ = false;
  std::vector<std::string> instances_;
  bool json_ = false;
  CompileOptions options_;
};

KernelsCommand::KernelsCommand(CLI::App& app)
    : Command(app.add_subcommand("kernels", "List the kernels of a file and their parameters")) {
  parser_->footer(kFooter);
  add_kernel_file(*parser_, file_);
  parser_->add_flag("--json", json_, "Print the list as JSON");
  parser_
      ->add_option("--instantiate", instances_,
                   "List this instance of a template kernel: 'scale<float>'")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_device_option(*parser_, device_, "Whose resources are shown (default cpu)");
  CLI::Option* const emit =
      parser_
          ->add_option("--emit", language_,
                       "Write a kernel as a compute shader: SPIR-V, or text by SPIRV-Cross")
          ->check(CLI::IsMember(shader_languages()))
          ->type_name("LANGUAGE");
  parser_->add_option("--kernel", kernel_, "With --emit: the kernel, if the file has several")
      ->type_name("NAME")
      ->needs(emit);
  parser_
      ->add_option("-b,--block", block_,
                   "With --emit: the size of the shader's blocks; text in other languages needs it")
      ->type_name("X[,Y[,Z]]")
      ->needs(emit);
  parser_
      ->add_flag("--arena", has_arena_,
                 "With --emit: device memory is one buffer, also where the language has pointers")
      ->needs(emit);
  parser_->add_option("--shared", shared_bytes_, "With --emit: dynamic shared memory per block")
      ->type_name("BYTES")
      ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 20))
      ->needs(emit);
  parser_
      ->add_option("-o,--output", output_,
                   "With --emit: where the shader goes (default -, standard output)")
      ->type_name("FILE")
      ->needs(emit);
  add_compile_options(*parser_, options_);
}

/// "const float*", or "8 bytes" if neither the source nor the name determines the type.
Result<std::string> type_text(km_function function, uint32_t index) {
  km_param_signature signature{};
  signature.struct_size = sizeof signature;
  KM_TRY(check(km_function_param_signature(function, index, &signature)));
  if (signature.kind == KM_SIGNATURE_KIND_UNKNOWN) return counted(signature.size_bytes, "byte");
  const std::string name = copy_text([&](char* buffer, uint64_t capacity, uint64_t* size) {
    return km_function_param_type_name(function, index, buffer, capacity, size);
  });
  return (signature.is_const != 0 ? "const " : "") + name +
         (signature.kind == KM_SIGNATURE_KIND_POINTER ? "*" : "");
}

/// The source's names of the parameters; empty names without a source.
std::vector<std::string> parameter_names(const Wrapper& described, const std::string& symbol,
                                         uint32_t count) {
  std::vector<std::string> names(count);
  for (const WrapKernel& kernel : described.kernels) {
    if (kernel.symbol != symbol || kernel.params.size() != count) continue;
    for (uint32_t i = 0; i < count; ++i) names[i] = kernel.params[i].name;
  }
  return names;
}

/// {"name", "symbol", "parameters": [{"name"?, "type", "size_bytes"}]}.
Result<Json> describe(km_function function, const std::string& symbol, const Wrapper& described,
                      bool has_names) {
  uint32_t count = 0;
  KM_TRY(check(km_function_param_count(function, &count)));
  const std::vector<std::string> names = parameter_names(described, symbol, count);
  Json parameters = Json::array();
  for (uint32_t i = 0; i < count; ++i) {
    km_param_info info{};
    info.struct_size = sizeof info;
    KM_TRY(check(km_function_param(function, i, &info)));
    KM_ASSIGN(const std::string type, type_text(function, i));
    Json parameter;
    if (has_names && !names[i].empty()) parameter["name"] = names[i];
    parameter["type"] = type;
    parameter["size_bytes"] = info.size_bytes;
    parameters.push_back(std::move(parameter));
  }
  return Json{{"name", source_name(symbol)}, {"symbol", symbol}, {"parameters", parameters}};
}

/// {"name", "symbol", "refusal"} of a kernel that the device cannot run, in a module of which it
/// runs others.
Json describe_refused(const std::string& symbol, const Error& error) {
  return Json{{"name", source_name(symbol)}, {"symbol", symbol}, {"refusal", error.message}};
}

/// Adds the launch limits and resources of the kernel that the device reports.
void add_resources(km_function function, Json* kernel) {
  constexpr std::pair<const char*, km_function_attribute> kShown[] = {
      {"max_threads_per_block", KM_FUNCTION_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
      {"registers", KM_FUNCTION_ATTRIBUTE_REGISTERS},
      {"shared_bytes", KM_FUNCTION_ATTRIBUTE_SHARED_BYTES},
      {"local_bytes", KM_FUNCTION_ATTRIBUTE_LOCAL_BYTES},
      {"constant_bytes", KM_FUNCTION_ATTRIBUTE_CONSTANT_BYTES}};
  for (const auto& [name, attribute] : kShown) {
    int64_t value = 0;
    if (km_function_attribute_get(function, attribute, &value) == KM_SUCCESS) {
      (*kernel)[name] = value;
    }
  }
  constexpr const char* kModes[] = {"", "run to completion", "fibers", "independent threads"};
  int64_t mode = 0;
  const km_status known =
      km_function_attribute_get(function, KM_FUNCTION_ATTRIBUTE_EXECUTION_MODE, &mode);
  if (known == KM_SUCCESS && mode >= 1 && mode <= 3) (*kernel)["mode"] = kModes[mode];
}

std::string text_of(const Json& json, const char* key) {
  return printable_name(json[key].get<std::string>());
}

void print_refused(const Json& kernel) {
  std::printf("%s\n    %s %s\n", painted(Colour::bold, text_of(kernel, "name"), stdout).c_str(),
              painted(Colour::yellow, "refused:", stdout).c_str(),
              printable(kernel["refusal"].get<std::string>()).c_str());
}

void print_kernel(const Json& kernel) {
  if (kernel.contains("refusal")) {
    print_refused(kernel);
    return;
  }
  std::string parameters;
  for (const Json& parameter : kernel["parameters"]) {
    parameters += (parameters.empty() ? "" : ", ") + text_of(parameter, "type");
    if (parameter.contains("name")) parameters += " " + text_of(parameter, "name");
  }
  // The name of an overload or template instance may include its parameters already.
  const std::string name = text_of(kernel, "name");
  std::printf("%s(%s)\n", painted(Colour::bold, name, stdout).c_str(), parameters.c_str());
  if (name != text_of(kernel, "symbol")) {
    std::printf("    in the PTX %s\n", text_of(kernel, "symbol").c_str());
  }
  std::printf("    up to %s per block",
              counted(kernel.value("max_threads_per_block", uint64_t{0}), "thread").c_str());
  constexpr std::pair<const char*, const char*> kBytes[] = {
      {"shared_bytes", "shared"}, {"local_bytes", "local"}, {"constant_bytes", "constant"}};
  if (kernel.contains("registers")) {
    std::printf(", %s", counted(kernel["registers"].get<uint64_t>(), "register").c_str());
  }
  for (const auto& [key, space] : kBytes) {
    const auto size_bytes = kernel.value(key, uint64_t{0});
    if (size_bytes != 0)
      std::printf(", %s of %s memory", counted(size_bytes, "byte").c_str(), space);
  }
  if (kernel.contains("mode")) std::printf(", %s", text_of(kernel, "mode").c_str());
  std::printf("\n");
}

/// Loads the module; for CUDA C++ also describes the source's parameters.
Result<Module> KernelsCommand::load(km_context context, Wrapper* described) const {
  KM_ASSIGN(std::string text, read_named_file(file_));
  Module module;
  if (is_object(file_)) {
    KM_TRY(check(
        km_module_from_object(context, text.data(), text.size(), file_.c_str(), module.out())));
    return module;
  }
  if (is_cuda(file_)) {
    KM_ASSIGN(*described, inspect_kernels({file_, std::move(text)}, options_, instances_, {}));
    text = described->ptx;
  }
  KM_TRY(check(km_module_load_ptx(context, text.data(), text.size(), file_.c_str(), module.out())));
  return module;
}

Result<Json> KernelsCommand::describe_at(km_module module, const std::string& symbol,
                                         const Wrapper& described) const {
  Function function;
  const Status found = check(km_module_function(module, symbol.c_str(), function.out()));
  if (!found && found.error().status == KM_ERROR_UNSUPPORTED_PTX) {
    return describe_refused(symbol, found.error());
  }
  KM_TRY(found);
  KM_ASSIGN(Json kernel, describe(function.get(), symbol, described, is_cuda(file_)));
  add_resources(function.get(), &kernel);
  return kernel;
}

Status KernelsCommand::list() const {
  KM_TRY(check_kernel_file(file_));
  Device device;
  Context context;
  KM_TRY(check(km_device_open(device_.c_str(), device.out())));
  KM_TRY(check(km_context_create(device.get(), context.out())));
  Wrapper described;
  KM_ASSIGN(const Module module, load(context.get(), &described));
  uint32_t count = 0;
  KM_TRY(check(km_module_function_count(module.get(), &count)));
  Json kernels = Json::array();
  for (uint32_t i = 0; i < count; ++i) {
    const std::string symbol = function_name(module.get(), i);
    KM_ASSIGN(Json kernel, describe_at(module.get(), symbol, described));
    kernels.push_back(std::move(kernel));
  }
  if (json_) {
    std::puts(kernels.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    return {};
  }
  for (const Json& kernel : kernels) print_kernel(kernel);
  if (count == 0) note("'%s' has no kernels", file_.c_str());
  return {};
}

Status KernelsCommand::emit() const {
  KM_TRY(check_kernel_file(file_));
  if (is_object(file_)) {
    return usage_error("--emit takes CUDA C++ or PTX: object code has neither");
  }
  if (language_ == "spirv" && output_ == "-" && isatty(STDOUT_FILENO) == 1) {
    return usage_error("SPIR-V is no text for a terminal: name a file with -o");
  }
  if (language_ != "spirv" && block_.empty()) {
    return usage_error("--emit " + language_ +
                       " needs the size of blocks, which becomes a part of the text: --block 256");
  }
  std::array<uint32_t, 3> block{};
  if (!block_.empty()) {
    KM_ASSIGN(block, parse_dimensions(block_, "--block"));
    constexpr uint64_t kMostThreads = 1024;
    const uint64_t threads = uint64_t{block[0]} * block[1];
    if (threads > kMostThreads || threads * block[2] > kMostThreads) {
      return usage_error("--block " + block_ + ": a block has at most 1024 threads");
    }
  }
  KM_ASSIGN(std::string text, read_named_file(file_));
  KM_TRY(check_output(output_));
  ShaderRequest request{
      .source = {file_, std::move(text)},
      .options = options_,
      .instances = instances_,
      .kernel = kernel_,
      .language = language_,
      .has_arena = has_arena_,
      .shape = {block[0], block[1], block[2], static_cast<uint32_t>((shared_bytes_ + 3) / 4)},
  };
  KM_ASSIGN(const std::string shader, make_shader(request));
  return write_output(output_, shader);
}

int KernelsCommand::run() {
  const Status status = language_.empty() ? list() : emit();
  return status ? kExitOk : report(status.error());
}

}  // namespace

std::unique_ptr<Command> make_kernels(CLI::App& app) {
  return std::make_unique<KernelsCommand>(app);
}

}  // namespace km::tools
