// Modules and kernels of the fake backend.
#include <cstring>
#include <regex>

#include "support/core/fake_backend.h"
#include "support/core/fake_objects.h"

namespace km::test {
namespace {

/// An expression that is never destroyed: calls of other threads may come while the process exits.
const std::regex& kept(const char* text) { return *new std::regex(text); }

uint32_t size_of_type(const std::string& type) {
  return static_cast<uint32_t>(std::stoul(type.substr(1)) / 8);
}

kmb_function parse_function(const std::string& name, const std::string& params) {
  static const std::regex& kParam = kept(R"(\.param\s+\.([usfb]\d+)\s+\w+)");
  kmb_function function;
  function.name = name;
  for (std::sregex_iterator it(params.begin(), params.end(), kParam), end; it != end; ++it) {
    const uint32_t size = size_of_type((*it)[1]);
    const uint64_t offset = (function.param_bytes + size - 1) / size * size;
    function.params.push_back(
        {KM_PARAM_KIND_UNKNOWN, size, size, offset, KM_PARAM_TYPE_UNKNOWN, 0});
    function.param_bytes = offset + size;
  }
  return function;
}

template <class T>
T argument(const kmb_function& function, const std::vector<char>& arguments, size_t index) {
  T value;
  std::memcpy(&value, arguments.data() + function.params[index].offset_bytes, sizeof value);
  return value;
}

km_status module_load(kmb_context* context, const char* ptx, uint64_t size, const char* name,
                      kmb_module** out_module, kmb_error* error) {
  if (const km_status status = begin_call(error)) return status;
  auto module = std::make_unique<kmb_module>();
  module->context = context;
  std::string reason;
  if (!parse_module(std::string(ptx, size), *module, &reason)) {
    return fail(KM_ERROR_INVALID_PTX, (std::string(name) + ":1:1: " + reason).c_str(), error);
  }
  *out_module = module.release();
  ++fake_counters().modules;
  return KM_SUCCESS;
}

void module_unload(kmb_module* module, const kmb_use* uses, uint64_t use_count) {
  // Kernels run by reference to their function, so all of them must be done.
  for (uint64_t i = 0; i < use_count; ++i) drain(uses[i].stream);
  delete module;
  --fake_counters().modules;
}

km_status module_function_count(kmb_module* module, uint32_t* out_count, kmb_error*) {
  *out_count = static_cast<uint32_t>(module->functions.size());
  return KM_SUCCESS;
}

km_status module_function_at(kmb_module* module, uint32_t index, kmb_function** out_function,
                             kmb_error*) {
  *out_function = &module->functions[index];
  return KM_SUCCESS;
}

km_status module_global(kmb_module* module, const char* name, kmb_global_info* out_info,
                        kmb_error* error) {
  for (kmb_module::Global& global : module->globals) {
    if (global.name != name) continue;
    *out_info = {reinterpret_cast<uint64_t>(global.data.data()), global.data.data(),
                 global.data.size(), global.element_size_bytes, 0};
    return KM_SUCCESS;
  }
  return fail(KM_ERROR_NOT_FOUND, "no such symbol", error);
}

km_status function_info(kmb_function* function, kmb_function_info* out_info, kmb_error*) {
  *out_info = {function->name.c_str(),
               static_cast<uint32_t>(function->params.size()),
               0,
               function->params.data(),
               function->param_bytes,
               nullptr};
  return KM_SUCCESS;
}

km_status function_attribute_get(kmb_function* function, km_function_attribute attribute,
                                 int64_t* out_value, kmb_error*) {
  *out_value = attribute == KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES
                   ? function->max_dynamic_shared_bytes
                   : 1;
  return KM_SUCCESS;
}

km_status function_attribute_set(kmb_function* function, km_function_attribute, int64_t value,
                                 kmb_error* error) {
  if (value < 0) return fail(KM_ERROR_INVALID_ARGUMENT, "value is negative", error);
  function->max_dynamic_shared_bytes = value;
  return KM_SUCCESS;
}

kmb_backend make_entries() {
  kmb_backend table{};
  table.module_load = module_load;
  table.module_unload = module_unload;
  table.module_function_count = module_function_count;
  table.module_function_at = module_function_at;
  table.module_global = module_global;
  table.function_info = function_info;
  table.function_attribute_get = function_attribute_get;
  table.function_attribute_set = function_attribute_set;
  return table;
}

}  // namespace

const kmb_backend& module_entries() {
  static const kmb_backend entries = make_entries();
  return entries;
}

bool parse_module(const std::string& ptx, kmb_module& module, std::string* out_reason) {
  static const std::regex& kEntry = kept(R"(\.entry\s+(\w+)\s*\(([^)]*)\))");
  static const std::regex& kGlobal =
      kept(R"(\.global\s+\.align\s+\d+\s+\.([usfb]\d+)\s+(\w+)\[(\d+)\])");
  if (ptx.find(".version") == std::string::npos) {
    *out_reason = "expected .version";
    return false;
  }
  for (std::sregex_iterator it(ptx.begin(), ptx.end(), kEntry), end; it != end; ++it) {
    module.functions.push_back(parse_function((*it)[1], (*it)[2]));
  }
  for (std::sregex_iterator it(ptx.begin(), ptx.end(), kGlobal), end; it != end; ++it) {
    const uint32_t size = size_of_type((*it)[1]);
    module.globals.push_back({(*it)[2], size, std::vector<char>(size * std::stoul((*it)[3]))});
  }
  return true;
}

km_status run_kernel(const kmb_function& function, const std::vector<char>& arguments) {
  if (function.name == "crash") return KM_ERROR_TRAP;
  if (function.name == "fill_index") {
    auto* out = reinterpret_cast<uint32_t*>(argument<uint64_t>(function, arguments, 0));
    const auto base = argument<uint32_t>(function, arguments, 1);
    const auto n = argument<uint32_t>(function, arguments, 2);
    for (uint32_t i = 0; i < n; ++i) out[i] = base + i;
  }
  if (function.name == "scale") {
    auto* data = reinterpret_cast<float*>(argument<uint64_t>(function, arguments, 0));
    const auto factor = argument<float>(function, arguments, 1);
    const auto n = argument<uint32_t>(function, arguments, 2);
    for (uint32_t i = 0; i < n; ++i) data[i] *= factor;
  }
  return KM_SUCCESS;
}

}  // namespace km::test
