#include "tools/library.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "tools/error.h"
#include "tools/terminal/colour.h"

namespace km::tools {

namespace {

bool is_json_wanted = false;  // set before the command runs

/// Removes the failed function's name from the library's text, because users of the command never
/// called it.
std::string without_function(const std::string& text) {
  const size_t colon = text.find(": ");
  const bool is_prefixed = text.starts_with("km_") && text.find(' ') == colon + 1;
  return is_prefixed ? text.substr(colon + 2) : text;
}

}  // namespace

Status check(km_status status) {
  if (status == KM_SUCCESS) return {};
  std::string text = without_function(copy_text(km_last_error_message));
  const char* name = "";
  if (text.empty() && km_status_name(status, &name) == KM_SUCCESS) text = name;
  return error(status, std::move(text));
}

std::string function_name(km_module module, uint32_t index) {
  return copy_text([&](char* buffer, uint64_t capacity, uint64_t* size) {
    return km_module_function_name(module, index, buffer, capacity, size);
  });
}

Result<km_device_info> device_info(km_device device) {
  km_device_info info{};
  info.struct_size = sizeof info;
  KM_TRY(check(km_device_info_get(device, &info)));
  return info;
}

std::string version_text() {
  uint32_t major = 0;
  uint32_t minor = 0;
  uint32_t patch = 0;
  km_version(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

int report(const Error& failure) {
  std::fprintf(stderr, "%s %s\n", painted(Colour::red, "kernelmill:", stderr).c_str(),
               printable(failure.message).c_str());
  const bool is_usage =
      failure.status == KM_ERROR_INVALID_ARGUMENT && failure.native_code == kExitUsage;
  const int exit_code = is_usage ? kExitUsage : kExitFailure;
  print_failure_json(failure.status, failure.message, exit_code);
  return exit_code;
}

void report_json() { is_json_wanted = true; }

void print_failure_json(km_status status, const std::string& message, int exit_code) {
  using Json = nlohmann::ordered_json;
  if (!is_json_wanted) return;
  const char* name = "";
  km_status_name(status, &name);
  const Json failure = {{"status", name}, {"message", message}, {"exit_code", exit_code}};
  std::puts(Json{{"error", failure}}.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

void note(const char* format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  std::string text(static_cast<size_t>(std::max(std::vsnprintf(nullptr, 0, format, arguments), 0)),
                   '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  va_end(arguments);
  std::fprintf(stderr, "kernelmill: %s\n", printable(text).c_str());
}

}  // namespace km::tools
