#include "tools/wrap/inspect.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <random>
#include <system_error>

#include "base/text.h"
#include "tools/error.h"
#include "tools/files.h"
#include "tools/kernels/kernel.h"
#include "tools/library.h"
#include "tools/wrap/dwarf.h"
#include "tools/wrap/emit.h"
#include "tools/wrap/layout.h"

namespace km::tools {
namespace {

using InstanceNames = std::vector<std::pair<std::string, std::string>>;  // symbol, expression

/// Builds the model of one kernel of the loaded module.
class Inspector {
 public:
  Inspector(const DebugInfo& info, Wrapper* wrapper)
      : info_(info), layouts_(info, &wrapper->structures) {}
  Result<WrapKernel> kernel(km_function function, const std::string& symbol,
                            const std::string& cuda_name);

 private:
  Result<WrapParam> param(km_function function, uint32_t index, const DebugEntry* entry);
  WrapType element(const km_param_signature& found, const std::string& name, uint64_t offset);

  const DebugInfo& info_;
  Layouts layouts_;
};

WrapType Inspector::element(const km_param_signature& found, const std::string& name,
                            uint64_t offset) {
  switch (found.element) {
    case KM_ELEMENT_TYPE_UNKNOWN:
    case KM_ELEMENT_TYPE_VOID:
      return {WrapType::Kind::any, KM_ELEMENT_TYPE_UNKNOWN, 1, 0, 0};
    case KM_ELEMENT_TYPE_POINTER:
      return {WrapType::Kind::address, KM_ELEMENT_TYPE_U64, 1, 0, 8};
    case KM_ELEMENT_TYPE_NAMED:
      return found.kind == KM_SIGNATURE_KIND_POINTER
                 ? layouts_.pointed_to(layouts_.target_of(offset), name)
                 : layouts_.value(layouts_.target_of(offset), name, found.size_bytes);
    default:
      return {WrapType::Kind::scalar, found.element, found.lanes, 0, found.element_size_bytes};
  }
}

Result<WrapParam> Inspector::param(km_function function, uint32_t index, const DebugEntry* entry) {
  km_param_signature found{};
  found.struct_size = sizeof found;
  KM_TRY(check(km_function_param_signature(function, index, &found)));
  const std::string type_name = copy_text([&](char* buffer, uint64_t capacity, uint64_t* size) {
    return km_function_param_type_name(function, index, buffer, capacity, size);
  });
  WrapParam param;
  param.name = entry == nullptr ? "" : plain_name(entry->name);
  if (param.name.empty()) param.name = "p" + std::to_string(index);
  param.size_bytes = found.size_bytes;
  param.offset_bytes = found.offset_bytes;
  param.is_const = found.is_const != 0;
  // An unknown parameter of 8 bytes is taken as an address.
  const bool is_unknown = found.kind == KM_SIGNATURE_KIND_UNKNOWN;
  param.is_pointer =
      found.kind == KM_SIGNATURE_KIND_POINTER || (is_unknown && found.size_bytes == 8);
  if (is_unknown && !param.is_pointer) {
    param.type.size_bytes = found.size_bytes;
  } else {
    param.type = element(found, type_name, entry == nullptr ? 0 : entry->type);
  }
  param.cuda_text = (param.is_const ? "const " : "") + (type_name.empty() ? "?" : type_name) +
                    (param.is_pointer ? "*" : "");
  return param;
}

Result<WrapKernel> Inspector::kernel(km_function function, const std::string& symbol,
                                     const std::string& cuda_name) {
  WrapKernel kernel;
  kernel.symbol = symbol;
  kernel.cuda_name = cuda_name;
  kernel.name = plain_name(cuda_name);
  std::vector<const DebugEntry*> entries;
  if (const DebugEntry* const entry = info_.kernel(symbol)) {
    for (const uint64_t child : entry->children) {
      const DebugEntry* const each = info_.entry(child);
      if (each != nullptr && each->tag == kTagParameter) entries.push_back(each);
    }
  }
  uint32_t count = 0;
  KM_TRY(check(km_function_param_count(function, &count)));
  if (entries.size() != count) entries.assign(count, nullptr);
  for (uint32_t i = 0; i < count; ++i) {
    KM_ASSIGN(WrapParam each, param(function, i, entries[i]));
    const bool is_taken = std::any_of(
        kernel.params.begin(), kernel.params.end(),
        [&](const WrapParam& other) { return safe_name(other.name) == safe_name(each.name); });
    if (is_taken) each.name += std::to_string(i);
    kernel.params.push_back(std::move(each));
  }
  return kernel;
}

/// PTX with debug information; empty if the compiler produces none.
Result<std::string> debug_ptx(const Source& source, CompileOptions options,
                              const std::vector<std::string>& instances) {
  options.nvrtc.push_back("--device-debug");
  KM_ASSIGN(const Program program, compile_source(source, options, instances));
  return program_ptx(program.get());
}

std::string expression_of(const InstanceNames& names, const std::string& symbol) {
  for (const auto& [lowered, expression] : names) {
    if (lowered == symbol) return expression;
  }
  return source_name(symbol);
}

Status add_kernels(km_module module, const DebugInfo& info, const InstanceNames& names,
                   Wrapper* wrapper) {
  uint32_t count = 0;
  KM_TRY(check(km_module_function_count(module, &count)));
  Inspector inspector(info, wrapper);
  for (uint32_t i = 0; i < count; ++i) {
    const std::string symbol = function_name(module, i);
    Function function;
    KM_TRY(check(km_module_function(module, symbol.c_str(), function.out())));
    KM_ASSIGN(WrapKernel kernel,
              inspector.kernel(function.get(), symbol, expression_of(names, symbol)));
    for (const WrapKernel& other : wrapper->kernels) {
      if (camel_name(other.name) == camel_name(kernel.name)) {
        kernel.name += "_" + std::to_string(i);
      }
    }
    wrapper->kernels.push_back(std::move(kernel));
  }
  return {};
}

/// A path for a temporary file, unique to this process.
std::string temporary_path() {
  std::error_code code;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(code);
  std::random_device random;
  std::string name = "kernelmill-";
  for (int i = 0; i < 4; ++i) name += std::to_string(random()) + "-";
  return ((code ? std::filesystem::path(".") : folder) / (name + "object.kmo")).string();
}

/// The object code for this machine's CPU, which the library writes to a temporary file.
Result<std::string> object_code(km_module module, const std::vector<uint32_t>& blocks) {
  const std::string path = temporary_path();
  const Status saved =
      check(km_module_save_object(module, path.c_str(), blocks.data(), blocks.size() / 3));
  Result<std::string> read = saved ? read_file(path) : Result<std::string>(saved.error());
  std::error_code code;
  std::filesystem::remove(path, code);
  return read;
}

}  // namespace

std::string plain_name(const std::string& name) {
  std::string plain;
  for (const char letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_') {
      plain += letter;
    } else if (!plain.empty() && plain.back() != '_') {
      plain += '_';
    }
  }
  while (plain.size() > 1 && plain.back() == '_') plain.pop_back();
  if (!plain.empty() && std::isdigit(static_cast<unsigned char>(plain[0])) != 0)
    plain = "_" + plain;
  return plain;
}

Result<Wrapper> inspect_kernels(const Source& source, const CompileOptions& options,
                                const std::vector<std::string>& instances,
                                const ObjectOptions& object) {
  Wrapper wrapper;
  InstanceNames names;
  DebugInfo info;
  wrapper.ptx = source.text;
  if (!is_ptx(source.path)) {
    KM_ASSIGN(const Program program, compile_source(source, options, instances));
    wrapper.ptx = program_ptx(program.get());
    for (const std::string& instance : instances) {
      names.emplace_back(copy_text([&](char* buffer, uint64_t capacity, uint64_t* size) {
                           return km_program_lowered_name(program.get(), instance.c_str(), buffer,
                                                          capacity, size);
                         }),
                         instance);
    }
    KM_ASSIGN(const std::string with_debug, debug_ptx(source, options, instances));
    info = DebugInfo::read(with_debug);
  }
  Device device;
  Context context;
  Module module;
  KM_TRY(check(km_device_open("cpu", device.out())));
  KM_TRY(check(km_context_create(device.get(), context.out())));
  KM_TRY(check(km_module_load_ptx(context.get(), wrapper.ptx.data(), wrapper.ptx.size(),
                                  source.path.c_str(), module.out())));
  KM_TRY(add_kernels(module.get(), info, names, &wrapper));
  if (object.is_asked_for) {
    KM_ASSIGN(wrapper.object, object_code(module.get(), object.blocks));
  }
  return wrapper;
}

}  // namespace km::tools
