#include "backends/cpu/config/config.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/check/check_tool_sets.h"
#include "base/check/finding_filter.h"
#include "base/cuda/compute_capability.h"
#include "base/env.h"
#include "base/process/processors.h"

namespace km::cpu {
namespace {

constexpr uint64_t kMaxThreads = 1024;

Config& stored() {
  static Config config;
  return config;
}

/// NVIDIA's own variable has a say, because programs that want all errors at load set it.
Status load_lazy_size(Config* config) {
  constexpr uint64_t kNeverKib = uint64_t{1} << 40;
  const bool is_eager = foreign_env("CUDA_MODULE_LOADING") == "EAGER";
  const uint64_t usual_kib = is_eager ? kNeverKib : config->lazy_bytes >> 10;
  KM_ASSIGN(const uint64_t kib, env_integer(EnvVar::KM_CPU_LAZY_KIB, 0, kNeverKib, usual_kib));
  config->lazy_bytes = kib << 10;
  return {};
}

Status load_capability(Config* config) {
  uint32_t capability = kDefaultComputeCapability;
  if (const std::optional<std::string> text = env(EnvVar::KM_CPU_CC)) {
    const std::optional<uint32_t> given = parse_device_capability(*text);
    if (!given) {
      return make_error(KM_ERROR_INVALID_ARGUMENT,
                        "KM_CPU_CC is '%s': give a compute capability from 5.0 to 12.9, for "
                        "example 8.9",
                        text->c_str());
    }
    capability = *given;
  }
  config->capability_major = capability / 10;
  config->capability_minor = capability % 10;
  config->limits = capability_limits(capability);
  constexpr uint64_t kMostKib = 227;  // the most that any GPU has
  KM_ASSIGN(const uint64_t shared_kib,
            env_integer(EnvVar::KM_CPU_SHARED_KIB, kSharedBytesWithoutOptIn >> 10, kMostKib,
                        config->limits.block_shared_bytes >> 10));
  config->limits = with_block_shared_bytes(config->limits, shared_kib << 10);
  return {};
}

Status load_mma(Config* config) {
  const std::string text = env(EnvVar::KM_CPU_MMA).value_or("device");
  config->fast_mma = text == "fast";
  if (config->fast_mma || text == "device") return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT, "KM_CPU_MMA is '%s': give device or fast",
                    text.c_str());
}

Status load_memory_mode(Config* config) {
  const std::optional<std::string> text = env(EnvVar::KM_CPU_MEMORY);
  if (!text) return {};
  config->checked = *text == "checked" ? CheckedMemory::always : CheckedMemory::never;
  if (*text == "checked" || *text == "plain") return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT, "KM_CPU_MEMORY is '%s': give plain or checked",
                    text->c_str());
}

/// Reads "explore=16", "seed=7" and what belongs to them. False if the word is another one.
Result<bool> load_order(Config* config, const std::string& word) {
  if (word == "ignore-atomic-order") return config->ignores_sum_order = true;
  const size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  if (equals == std::string::npos || (name != "explore" && name != "seed")) return false;
  uint64_t& number = name == "seed" ? config->schedule_seed : config->explored_orders;
  const char *const begin = word.c_str() + equals + 1, *const end = word.c_str() + word.size();
  const auto [stop, code] = std::from_chars(begin, end, number);
  if (code != std::errc() || stop != end || number == 0) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "KM_CHECK has '%s': give a whole number from 1 on",
                      word.c_str());
  }
  config->check_tools |= check_tool::kSchedule;
  config->deterministic = true;  // one thread runs all blocks of a launch
  return true;
}

/// The bits of a word of KM_CHECK; nothing if there is no such word.
std::optional<uint16_t> bits_of(const std::string& word) {
  if (word == "same-value") return check_tool::kRace;
  if (word == "warp-in-step") return check_tool::kInStep;
  return check_tools_named(word);
}

/// The tools of KM_CHECK. Those of kernels need kernels that test their accesses, since what they
/// know is of memory that exists.
Status load_checks(Config* config) {
  const std::optional<std::string> text = env(EnvVar::KM_CHECK);
  if (!text) return {};
  std::istringstream list(*text);
  for (std::string word; std::getline(list, word, ',');) {
    KM_ASSIGN(const bool is_order, load_order(config, word));
    if (is_order) continue;
    config->check_same_values |= word == "same-value";
    const std::optional<uint16_t> bits = bits_of(word);
    if (!bits) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "KM_CHECK names the tool '%s': give %s",
                        word.c_str(), kAllCheckToolNames);
    }
    config->check_tools |= *bits;
  }
  KM_TRY(FindingFilter::from_environment());
  constexpr uint16_t kTesting = check_tool::kInCode | check_tool::kSchedule;
  if ((config->check_tools & kTesting) != 0) config->checked = CheckedMemory::always;
  return {};
}

Status load_mode(Config* config) {
  std::string text = env(EnvVar::KM_CPU_MODE).value_or("a");
  if (text != "a" && text != "b" && text != "c") {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "KM_CPU_MODE is '%s': give a, b or c",
                      text.c_str());
  }
  config->least_mode = static_cast<simt::Mode>(text[0] - 'a' + 1);
  return {};
}

}  // namespace

Status load_config() {
  Config config;
  KM_ASSIGN(uint64_t threads,
            env_integer(EnvVar::KM_CPU_THREADS, 1, kMaxThreads, usable_processors()));
  KM_ASSIGN(const uint64_t memory_mib,
            env_integer(EnvVar::KM_CPU_MEMORY_MIB, 16, uint64_t{1} << 40, 0));
  KM_ASSIGN(uint64_t devices, env_integer(EnvVar::KM_CPU_DEVICES, 1, kMaxThreads, 1));
  KM_ASSIGN(config.pin, env_flag(EnvVar::KM_CPU_PIN, false));
  KM_ASSIGN(config.deterministic, env_flag(EnvVar::KM_CPU_DETERMINISTIC, false));
  KM_ASSIGN(config.perf, env_flag(EnvVar::KM_PERF, false));
  KM_ASSIGN(config.kernel_timeout_ms,
            env_integer(EnvVar::KM_KERNEL_TIMEOUT_MS, 0, uint64_t{1} << 40, 0));
  KM_ASSIGN(config.stall_warning_ms, env_integer(EnvVar::KM_STALL_WARNING_MS, 0, uint64_t{1} << 40,
                                                 config.stall_warning_ms));
  KM_ASSIGN(config.compile_timeout_ms,
            env_integer(EnvVar::KM_COMPILE_TIMEOUT_MS, 0, uint64_t{1} << 40, 0));
  KM_TRY(load_capability(&config));
  KM_TRY(load_mma(&config));
  KM_TRY(load_memory_mode(&config));
  KM_TRY(load_mode(&config));
  KM_TRY(load_checks(&config));
  KM_ASSIGN(config.counters, env_flag(EnvVar::KM_COUNTERS, false));
  KM_ASSIGN(uint64_t shapes, env_integer(EnvVar::KM_CPU_SHAPES, 0, 1000, config.shapes));
  config.shapes = static_cast<uint32_t>(shapes);
  KM_TRY(load_lazy_size(&config));
  KM_ASSIGN(config.cache_bytes, cache_limit_bytes());
  KM_ASSIGN(config.machine, simt::Machine::selected());
  KM_ASSIGN(config.object_machine, simt::Machine::selected_for_objects());
  config.memory_bytes = memory_mib << 20;
  config.devices = static_cast<uint32_t>(devices);
  config.threads = static_cast<uint32_t>(threads < devices ? devices : threads);
  stored() = config;
  return {};
}

const Config& config() { return stored(); }

}  // namespace km::cpu
