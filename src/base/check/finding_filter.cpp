#include "base/check/finding_filter.h"

#include <optional>

#include "base/env.h"

namespace km {

Result<KernelPattern> KernelPattern::parse(const std::string& pattern) {
  auto compiled = std::make_unique<Compiled>();
  const int code = regcomp(&compiled->regex, pattern.c_str(), REG_EXTENDED | REG_NOSUB);
  if (code != 0) {
    char text[128];
    regerror(code, &compiled->regex, text, sizeof text);
    return make_error(KM_ERROR_INVALID_ARGUMENT, "'%s' is no regular expression: %s",
                      pattern.c_str(), text);
  }
  compiled->is_valid = true;
  KernelPattern parsed;
  parsed.compiled_ = std::move(compiled);
  return parsed;
}

bool KernelPattern::fits(const std::string& kernel) const {
  return regexec(&compiled_->regex, kernel.c_str(), 0, nullptr, 0) == 0;
}

Result<FindingFilter> FindingFilter::from_environment() {
  FindingFilter filter;
  if (const std::optional<std::string> path = env(EnvVar::KM_CHECK_SUPPRESS)) {
    Result<Suppressions> read = Suppressions::load(*path);
    if (!read) {
      return make_error(read.error().status, "KM_CHECK_SUPPRESS: %s", read.error().message.c_str());
    }
    filter.suppressions_ = std::move(*read);
  }
  if (const std::optional<std::string> pattern = env(EnvVar::KM_CHECK_KERNELS)) {
    Result<KernelPattern> parsed = KernelPattern::parse(*pattern);
    if (!parsed) {
      return make_error(parsed.error().status, "KM_CHECK_KERNELS: %s",
                        parsed.error().message.c_str());
    }
    filter.kernels_ = std::make_unique<KernelPattern>(std::move(*parsed));
  }
  return filter;
}

bool FindingFilter::wants(const std::string& kernel) const {
  return kernels_ == nullptr || kernel.empty() || kernels_->fits(kernel);
}

}  // namespace km
