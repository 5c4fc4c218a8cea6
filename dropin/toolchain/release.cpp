#include "dropin/toolchain/release.h"

#include <charconv>
#include <optional>

#include "base/env.h"
#include "base/log.h"
#include "base/printable.h"
#include "km_version.h"
#include "ptx/target.h"

namespace km::toolchain {
namespace {

constexpr Release kDefault = {12, 9};
constexpr uint32_t kUnitsOfMajor = 10;

std::optional<Release> parse_release(std::string_view text) {
  Release release;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, release.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, release.minor);
  if (minor.ec != std::errc() || minor.ptr != end) return std::nullopt;
  return release;
}

}  // namespace

uint32_t Release::isa_version() const {
  // PTX ISA 7.x came with CUDA 11.x, 9.x with 13.x. Two releases of CUDA 12 share version 8.5.
  constexpr uint32_t kIsa12[] = {80, 81, 82, 83, 84, 85, 85, 86, 87, 88};
  constexpr uint32_t kFirstMajor = 11, kFirstIsa = 70;
  if (major == 12) return kIsa12[minor < std::size(kIsa12) ? minor : std::size(kIsa12) - 1];
  const uint32_t units = minor < kUnitsOfMajor ? minor : kUnitsOfMajor - 1;
  const uint32_t version =
      kFirstIsa + (major < kFirstMajor ? 0 : major - kFirstMajor) * kUnitsOfMajor + units;
  return version < ptx::kNewestIsa ? version : ptx::kNewestIsa;
}

std::string Release::text() const { return std::to_string(major) + "." + std::to_string(minor); }

Release command_release() {
  const auto text = env(EnvVar::KM_CUDA_RELEASE);
  if (!text) return kDefault;
  if (const auto release = parse_release(*text)) return *release;
  log(LogLevel::kWarn, "cuda", "KM_CUDA_RELEASE=%s is no release of CUDA: give one such as 12.9",
      printable_name(*text).c_str());
  return kDefault;
}

std::string version_text(std::string_view name, std::string_view title) {
  const std::string release = command_release().text();
  return std::string(name) + ": Kernelmill " + KM_VERSION_STRING + " in place of NVIDIA (R) " +
         std::string(title) + "\nCuda compilation tools, release " + release + ", V" + release +
         ".0\n";
}

std::vector<uint32_t> isa_versions(uint32_t newest) {
  std::vector<uint32_t> found;
  for (uint32_t version = kUnitsOfMajor; version <= newest; ++version) {
    if (ptx::is_isa_version(version)) found.push_back(version);
  }
  return found;
}

std::vector<uint32_t> architectures() {
  constexpr uint32_t kOldest = 50, kNewest = 130;
  std::vector<uint32_t> found;
  for (uint32_t number = kOldest; number < kNewest; ++number) {
    if (ptx::find_target("sm_" + std::to_string(number))) found.push_back(number);
  }
  return found;
}

}  // namespace km::toolchain
