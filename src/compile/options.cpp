#include "compile/options.h"

#include <algorithm>
#include <charconv>

#include "base/env.h"
#include "compile/nvrtc.h"

namespace km {
namespace {

constexpr int kDefaultComputeCapability = 90;

bool names_architecture(const std::string& option) {
  return option.starts_with("--gpu-architecture") || option.starts_with("-arch");
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
                      "'%s' is no compute capability; expected for example 9.0", text.c_str());
  }
  return number;
}

std::vector<std::string> nvrtc_options(const CompileInput& input, const std::string& architecture,
                                       const std::vector<std::string>& include_dirs) {
  std::vector<std::string> options = input.options;
  if (std::none_of(options.begin(), options.end(), names_architecture)) {
    options.push_back("--gpu-architecture=" + architecture);
  }
  for (const std::string& dir : include_dirs) options.push_back("--include-path=" + dir);
  return options;
}

Result<std::string> default_architecture() {
  int wanted = kDefaultComputeCapability;
  if (const auto named = env(EnvVar::KM_CPU_CC)) {
    KM_ASSIGN(wanted, parse_compute_capability(*named));
  }
  KM_ASSIGN(const Nvrtc* const loaded, nvrtc());
  return "compute_" + std::to_string(choose_architecture(wanted, loaded->info.architectures));
}

}  // namespace km
