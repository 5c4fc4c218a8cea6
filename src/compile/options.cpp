#include "compile/options.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/cuda/compute_capability.h"
#include "base/env.h"
#include "compile/nvrtc.h"

namespace km {
namespace {

bool names_architecture(const std::string& option) {
  return option.starts_with("--gpu-architecture") || option.starts_with("-arch");
}

bool brings_line_info(const std::string& option) {
  return option == "-lineinfo" || option == "--generate-line-info" || option == "-G" ||
         option == "--device-debug";
}

bool names_standard(const std::string& option) {
  return option.starts_with("--std") || option.starts_with("-std");
}

}  // namespace

int choose_architecture(int wanted, const std::vector<int>& supported) {
  if (supported.empty()) return wanted;
  int best = *std::min_element(supported.begin(), supported.end());
  for (const int architecture : supported) {
    if (architecture <= wanted) best = std::max(best, architecture);
  }
  return best;
}

Result<int> parse_compute_capability(const std::string& text) {
  std::string digits = text;
  const size_t dot = digits.find('.');
  if (dot != std::string::npos && dot + 2 == digits.size()) digits.erase(dot, 1);
  int number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, code] = std::from_chars(digits.data(), end, number);
  if (code != std::errc() || stop != end || number < 10 || number > 999) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "'%s' is not a compute capability; expected for example 8.9", text.c_str());
  }
  return number;
}

std::vector<std::string> nvrtc_options(const CompileInput& input, const std::string& architecture,
                                       const NvrtcInfo& info) {
  std::vector<std::string> options = input.options;
  if (std::none_of(options.begin(), options.end(), names_architecture)) {
    options.push_back("--gpu-architecture=" + architecture);
  }
  if (info.major == 11 && std::none_of(options.begin(), options.end(), names_standard)) {
    options.push_back("--std=c++17");
  }
  for (const std::string& dir : info.include_dirs) options.push_back("--include-path=" + dir);
  return options;
}

std::vector<std::string> include_folders(const std::vector<std::string>& options) {
  std::vector<std::string> folders;
  for (size_t i = 0; i < options.size(); ++i) {
    const std::string& option = options[i];
    for (const std::string_view name : {"--include-path", "-I"}) {
      if (!option.starts_with(name)) continue;
      std::string rest = option.substr(name.size());
      if (rest.starts_with('=')) rest.erase(0, 1);
      if (rest.empty() && i + 1 < options.size()) rest = options[i + 1];
      if (!rest.empty()) folders.push_back(std::move(rest));
    }
  }
  return folders;
}

void add_line_info(std::vector<std::string>* options) {
  if (std::any_of(options->begin(), options->end(), brings_line_info)) return;
  options->emplace_back("--generate-line-info");
}

Result<std::string> default_architecture() {
  int wanted = int{kDefaultComputeCapability};
  if (const auto named = env(EnvVar::KM_CPU_CC)) {
    KM_ASSIGN(wanted, parse_compute_capability(*named));
  }
  return architecture_for(wanted);
}

Result<std::string> architecture_for(int compute_capability) {
  KM_ASSIGN(const Nvrtc* const loaded, nvrtc());
  return "compute_" +
         std::to_string(choose_architecture(compute_capability, loaded->info.architectures));
}

}  // namespace km
