#include "tools/library.h"

#include "tools/error.h"
#include "tools/terminal/colour.h"

namespace km::tools {

namespace {

/// The library's text begins with the function that failed; users of the command never called it.
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
               failure.message.c_str());
  const bool is_usage =
      failure.status == KM_ERROR_INVALID_ARGUMENT && failure.native_code == kExitUsage;
  return is_usage ? kExitUsage : kExitFailure;
}

}  // namespace km::tools
