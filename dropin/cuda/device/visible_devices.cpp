#include "dropin/cuda/device/visible_devices.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <numeric>
#include <string_view>

namespace km::dropin {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// The device whose UUID has this prefix; nothing if several have it.
std::optional<uint32_t> find_uuid(std::string_view beginning, uint32_t count) {
  std::optional<uint32_t> found;
  for (uint32_t index = 0; index < count; ++index) {
    if (!uuid_text(index).starts_with(beginning)) continue;
    if (found) return std::nullopt;
    found = index;
  }
  return found;
}

std::optional<uint32_t> find_device(std::string_view name, uint32_t count) {
  if (name.starts_with("GPU-")) return find_uuid(name, count);
  uint32_t index = 0;
  const char* end = name.data() + name.size();
  const auto [stop, code] = std::from_chars(name.data(), end, index);
  if (code != std::errc() || stop != end || index >= count) return std::nullopt;
  return index;
}

}  // namespace

std::string uuid_of(uint32_t index) {
  char bytes[17];
  std::snprintf(bytes, sizeof bytes, "kernelmill-%04x", index);
  return {bytes, 16};
}

std::string uuid_text(uint32_t index) {
  std::string text = "GPU";
  const std::string bytes = uuid_of(index);
  for (size_t i = 0; i < bytes.size(); ++i) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(bytes[i]));
    if (i == 0 || (i >= 4 && i <= 10 && i % 2 == 0)) text += '-';
    text += digits;
  }
  return text;
}

std::vector<uint32_t> visible_devices(const std::optional<std::string>& list, uint32_t count) {
  std::vector<uint32_t> seen;
  if (!list) {
    seen.resize(count);
    std::iota(seen.begin(), seen.end(), 0U);
    return seen;
  }
  for (std::string_view rest = *list;;) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::optional<uint32_t> index = find_device(trimmed(rest.substr(0, comma)), count);
    if (!index || std::find(seen.begin(), seen.end(), *index) != seen.end()) return seen;
    seen.push_back(*index);
    if (comma == rest.size()) return seen;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace km::dropin
