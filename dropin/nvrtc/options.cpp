#include "dropin/nvrtc/options.h"

#include <algorithm>
#include <string_view>

namespace km::nvrtc {
namespace {

constexpr std::string_view kReal = "sm_";

/// The length of an option's text before the architecture, if both are one word (-arch=sm_89).
size_t prefix_length(std::string_view option) {
  for (const std::string_view prefix : {"-arch=", "--gpu-architecture="}) {
    if (option.starts_with(prefix)) return prefix.size();
  }
  return 0;
}

bool is_architecture_option(std::string_view option) {
  return option == "-arch" || option == "--gpu-architecture";
}

bool asks_for_linker_code(std::string_view option) {
  return option == "-dlto" || option == "--dlink-time-opt" || option == "-ltoir";
}

bool is_null(const char* option) { return option == nullptr; }

}  // namespace

VirtualOptions::VirtualOptions(std::span<const char* const> options)
    : options_(options.begin(), options.end()) {
  if (std::any_of(options.begin(), options.end(), is_null)) return;  // NVRTC rejects null options
  if (std::any_of(options.begin(), options.end(), asks_for_linker_code)) return;
  for (size_t i = 0; i < options_.size(); ++i) {
    const std::string_view option = options_[i];
    const bool is_value = i > 0 && is_architecture_option(options_[i - 1]);
    const size_t start = is_value ? 0 : prefix_length(option);
    if ((!is_value && start == 0) || !option.substr(start).starts_with(kReal)) continue;
    replaced_ = std::string(option.substr(0, start)) + "compute_" +
                std::string(option.substr(start + kReal.size()));
    options_[i] = replaced_.c_str();
  }
}

}  // namespace km::nvrtc
