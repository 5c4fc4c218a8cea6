#include "tools/kernels/kernel.h"

#include "base/text.h"
#include "tools/clock.h"
#include "tools/error.h"

namespace km::tools {
namespace {

bool is_template(const std::string& name) { return name.find('<') != std::string::npos; }

std::vector<std::string> kernel_names(km_module module) {
  uint32_t count = 0;
  km_module_function_count(module, &count);
  std::vector<std::string> names;
  for (uint32_t i = 0; i < count; ++i) names.push_back(function_name(module, i));
  return names;
}

std::string list_of(const std::vector<std::string>& names) {
  if (names.empty()) return "It has no kernels.";
  constexpr size_t kShown = 20;
  std::string list = names.size() == 1 ? "Its kernel is " : "Its kernels are ";
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    list += (i == 0 ? "" : ", ") + source_name(names[i]);
  }
  if (names.size() > kShown) list += " and " + std::to_string(names.size() - kShown) + " more";
  return list + ".";
}

/// Advice for a template, which becomes a kernel only if it is named with its arguments.
std::string template_advice(const Source& source, const std::string& wanted) {
  const bool is_one = is_cuda(source.path) && !is_template(wanted) &&
                      source.text.find("template") != std::string::npos;
  if (!is_one) return {};
  const std::string name = wanted.empty() ? "scale" : wanted;
  return " A template is named with its arguments: --kernel '" + name + "<float>'.";
}

Result<std::string> choose_name(const std::vector<std::string>& names, const std::string& wanted,
                                const Source& source) {
  const std::string& path = source.path;
  if (wanted.empty()) {
    if (names.size() == 1) return names[0];
    return usage_error(in_quotes(path) + ": name a kernel with --kernel. " + list_of(names) +
                       (names.empty() ? template_advice(source, wanted) : std::string()));
  }
  std::vector<std::string> matching;
  for (const std::string& name : names) {
    if (name == wanted) return name;
    if (source_name(name) == wanted) matching.push_back(name);
  }
  if (matching.size() == 1) return matching[0];
  if (matching.empty()) {
    const std::optional<size_t> near = nearest_kernel(wanted, names);
    return usage_error(in_quotes(path) + " has no kernel '" + wanted + "'." +
                       (near ? " Did you mean '" + source_name(names[*near]) + "'? " : " ") +
                       list_of(names) + template_advice(source, wanted));
  }
  std::string list;
  for (const std::string& name : matching) list += (list.empty() ? " " : ", ") + name;
  return usage_error(in_quotes(path) + " has several kernels '" + wanted +
                     "'; name one of them as in the PTX:" + list);
}

Status load_ptx(km_context context, const std::string& ptx, const std::string& name,
                Kernel& kernel) {
  const Stopwatch loading;
  KM_TRY(check(
      km_module_load_ptx(context, ptx.data(), ptx.size(), name.c_str(), kernel.module.out())));
  kernel.load_ms = loading.elapsed_ms();
  return {};
}

Status load_object(km_context context, const Source& source, Kernel& kernel) {
  const Stopwatch loading;
  KM_TRY(check(km_module_from_object(context, source.text.data(), source.text.size(),
                                     source.path.c_str(), kernel.module.out())));
  kernel.load_ms = loading.elapsed_ms();
  return {};
}

Status load_cuda(km_context context, const Source& source, const CompileOptions& options,
                 const std::string& wanted, Kernel& kernel) {
  std::vector<std::string> instances;
  if (is_template(wanted)) instances.push_back(wanted);
  const Stopwatch compiling;
  KM_ASSIGN(const Program program, compile_source(source, options, instances));
  kernel.compile_ms = compiling.elapsed_ms();
  if (is_template(wanted)) {
    kernel.name = copy_text([&](char* buffer, uint64_t capacity, uint64_t* size) {
      return km_program_lowered_name(program.get(), wanted.c_str(), buffer, capacity, size);
    });
  }
  return load_ptx(context, program_ptx(program.get()), source.path, kernel);
}

}  // namespace

bool is_ptx(const std::string& path) { return path.ends_with(".ptx"); }
bool is_cuda(const std::string& path) { return path.ends_with(".cu"); }
bool is_object(const std::string& path) { return path.ends_with(".kmo"); }

Result<Module> load_module(km_context context, const Source& source, const CompileOptions& options,
                           const std::vector<std::string>& instances) {
  std::string ptx = source.text;
  if (!is_ptx(source.path)) {
    KM_ASSIGN(const Program program, compile_source(source, options, instances));
    ptx = program_ptx(program.get());
  }
  Module module;
  KM_TRY(check(
      km_module_load_ptx(context, ptx.data(), ptx.size(), source.path.c_str(), module.out())));
  return module;
}

Result<Kernel> load_kernel(km_context context, const Source& source, const CompileOptions& options,
                           const std::string& name) {
  Kernel kernel;
  if (is_ptx(source.path)) {
    KM_TRY(load_ptx(context, source.text, source.path, kernel));
  } else if (is_object(source.path)) {
    KM_TRY(load_object(context, source, kernel));
  } else {
    KM_TRY(load_cuda(context, source, options, name, kernel));
  }
  if (kernel.name.empty()) {
    KM_ASSIGN(kernel.name, choose_name(kernel_names(kernel.module.get()), name, source));
  }
  KM_TRY(
      check(km_module_function(kernel.module.get(), kernel.name.c_str(), kernel.function.out())));
  return kernel;
}

}  // namespace km::tools
