#include "tools/kernels/signature.h"

#include "base/text.h"
#include "tools/error.h"

namespace km::tools {
namespace {

const char* kind_text(const km_param_info& param) {
  if (param.value_type == KM_PARAM_TYPE_FLOAT) return " (a float)";
  if (param.kind == KM_PARAM_KIND_POINTER) return " (a pointer)";
  if (param.kind == KM_PARAM_KIND_UNKNOWN) return "";
  return param.value_type == KM_PARAM_TYPE_INTEGER ? " (an integer)" : " (a value)";
}

Result<std::vector<km_param_info>> parameters_of(km_function function) {
  uint32_t count = 0;
  KM_TRY(check(km_function_param_count(function, &count)));
  std::vector<km_param_info> params(count);
  for (uint32_t i = 0; i < count; ++i) {
    params[i].struct_size = sizeof params[i];
    KM_TRY(check(km_function_param(function, i, &params[i])));
  }
  return params;
}

/// "; its parameters: 0: 8 bytes (a pointer), 1: 4 bytes (a float)".
std::string parameter_list(const std::vector<km_param_info>& params) {
  std::string list;
  for (size_t i = 0; i < params.size(); ++i) {
    list += (i == 0 ? "; its parameters: " : ", ") + std::to_string(i) + ": " +
            counted(params[i].size_bytes, "byte") + kind_text(params[i]);
  }
  return list;
}

/// "f32:2" for "i32:2": the numbers of `spec` in the parameter's type.
std::string respelled(const std::string& spec, const km_param_info& param) {
  const bool is_number = param.size_bytes == 1 || param.size_bytes == 2 || param.size_bytes == 4 ||
                         param.size_bytes == 8;
  if (!is_number) return {};
  const std::string bits = std::to_string(8 * param.size_bytes);
  const std::string values = spec.substr(spec.find(':'));
  if (param.value_type == KM_PARAM_TYPE_INTEGER) {
    const bool has_point = values.find_first_of(".eE") != std::string::npos;
    const std::string shown = has_point ? ":NUMBER" : values;
    return "; write i" + bits + shown + " or u" + bits + shown;
  }
  return param.size_bytes < 4 ? std::string() : "; write f" + bits + values;
}

Status check_one(const Argument& argument, const km_param_info& param, const std::string& what) {
  const bool wants_float = param.value_type == KM_PARAM_TYPE_FLOAT;
  if (argument.is_buffer) {
    if (!wants_float) return {};
    return usage_error(what + " is a float of " + counted(param.size_bytes, "byte") +
                       ", not the address of an array");
  }
  if (param.value_type == KM_PARAM_TYPE_UNKNOWN || is_float(argument.scalar_type) == wants_float) {
    return {};
  }
  return usage_error(what + (wants_float ? " is a float of " : " is an integer of ") +
                     counted(param.size_bytes, "byte") + ", but " +
                     element_type_name(argument.scalar_type) +
                     (wants_float ? " an integer" : " a float") + respelled(argument.spec, param));
}

}  // namespace

Status check_arguments(km_function function, const std::string& kernel,
                       const std::vector<Argument>& arguments) {
  KM_ASSIGN(const std::vector<km_param_info> params, parameters_of(function));
  if (arguments.size() != params.size()) {
    return usage_error("kernel '" + kernel + "' takes " + counted(params.size(), "argument") +
                       ", but " + std::to_string(arguments.size()) +
                       (arguments.size() == 1 ? " was given" : " were given") +
                       parameter_list(params));
  }
  for (size_t i = 0; i < params.size(); ++i) {
    const std::string what = "parameter " + std::to_string(i) + " of kernel '" + kernel + "'";
    const Status fits = check_one(arguments[i], params[i], what);
    if (!fits) return about_argument(i, arguments[i], fits.error());
  }
  return {};
}

Error about_argument(size_t index, const Argument& argument, const Error& failure) {
  return about("argument " + std::to_string(index) + ", '" + argument.spec + "'", failure);
}

}  // namespace km::tools
