// The vector instruction sets, detection of those that this machine has, and KM_CPU_ISA.
#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>

#include <array>
#include <span>

#include "base/env.h"
#include "simt/engine.h"

namespace km::simt {
namespace {

struct Level {
  Isa isa;
  std::string_view name;
  std::span<const char* const> features;  // in addition to those of the level before
};

constexpr const char* kV2[] = {"cx16", "sahf", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2"};
constexpr const char* kV3[] = {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"};
constexpr const char* kV4[] = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"};

constexpr std::array<Level, 3> kLevels{{
    {Isa::x86_64_v2, "x86-64-v2", kV2},
    {Isa::avx2, "avx2", kV3},
    {Isa::avx512, "avx512", kV4},
}};

/// The number of levels that this machine supports, 0 if it lacks even x86-64-v2. LLVM's detection
/// by cpuid includes whether the operating system saves the wide registers.
size_t count_levels() {
  const auto have = llvm::sys::getHostCPUFeatures();
  size_t count = 0;
  for (const Level& level : kLevels) {
    for (const char* feature : level.features) {
      if (!have.lookup(feature)) return count;
    }
    ++count;
  }
  return count;
}

size_t supported_levels() {
  static const size_t count = count_levels();
  return count;
}

}  // namespace

std::string_view text_of(Isa isa) {
  for (const Level& level : kLevels) {
    if (level.isa == isa) return level.name;
  }
  return "unknown";
}

Isa best_isa() {
  const size_t count = supported_levels();
  return kLevels[count == 0 ? 0 : count - 1].isa;
}

Result<Isa> select_isa() {
  const size_t count = supported_levels();
  if (count == 0) {
    return make_error(KM_ERROR_NOT_SUPPORTED,
                      "this processor lacks x86-64-v2 (SSE4.2), which kernels need");
  }
  const std::optional<std::string> wanted = env(EnvVar::KM_CPU_ISA);
  if (!wanted) return best_isa();
  for (size_t i = 0; i < kLevels.size(); ++i) {
    if (kLevels[i].name != *wanted) continue;
    if (i < count) return kLevels[i].isa;
    return make_error(KM_ERROR_NOT_SUPPORTED,
                      "KM_CPU_ISA=%s: this machine's best is %s; unset it or choose that",
                      wanted->c_str(), std::string(text_of(best_isa())).c_str());
  }
  return make_error(KM_ERROR_INVALID_ARGUMENT, "KM_CPU_ISA=%s: expected x86-64-v2, avx2 or avx512",
                    wanted->c_str());
}

}  // namespace km::simt
