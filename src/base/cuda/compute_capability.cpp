#include "base/cuda/compute_capability.h"

#include <charconv>

namespace km {

std::optional<uint32_t> parse_device_capability(std::string_view text) {
  constexpr uint32_t kLeastMajor = 5, kMostMajor = 12, kMostMinor = 9;
  const size_t dot = text.find('.');
  if (dot == text.npos) return std::nullopt;
  const auto number = [](std::string_view digits) -> std::optional<uint32_t> {
    uint32_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, code] = std::from_chars(digits.data(), end, value);
    if (code != std::errc() || stop != end) return std::nullopt;
    return value;
  };
  const auto major = number(text.substr(0, dot)), minor = number(text.substr(dot + 1));
  if (!major || !minor || *major < kLeastMajor || *major > kMostMajor || *minor > kMostMinor) {
    return std::nullopt;
  }
  return *major * 10 + *minor;
}

}  // namespace km
