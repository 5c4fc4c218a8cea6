// The settings of the CPU backend, read from the environment once.
#pragma once

#include <cstdint>
#include <optional>

#include "base/cuda/capability_limits.h"
#include "base/result.h"
#include "simt/engine.h"

namespace km::cpu {

/// The contexts whose kernels check their accesses: those that ask for it, none, or all.
enum class CheckedMemory { as_contexts_say, never, always };

/// The settings, with their defaults.
struct Config {
  uint32_t threads = 1;  // shared by all devices
  uint32_t devices = 1;
  bool pin = false;
  bool deterministic = false;
  bool perf = false;                                       // KM_PERF
  uint64_t memory_bytes = 0;                               // KM_CPU_MEMORY_MIB, 0: not set
  CheckedMemory checked = CheckedMemory::as_contexts_say;  // KM_CPU_MEMORY
  uint16_t check_tools = 0;                                // KM_CHECK, as bits of check_tool
  bool check_same_values = false;  // writes of the same value are findings too
  bool counters = false;           // KM_COUNTERS: profiles count what warps do
  uint64_t schedule_seed = 1;      // the first one of the orders of blocks, warps and lanes
  uint64_t explored_orders = 0;    // orders in which each launch is tried; 0: it runs once
  bool ignores_sum_order = false;  // differences of floating-point sums are no findings
  simt::Mode least_mode = simt::Mode::run_to_completion;  // KM_CPU_MODE
  uint32_t shapes = 6;                                    // KM_CPU_SHAPES
  uint64_t cache_bytes = 0;                               // KM_CPU_CACHE_KIB
  uint64_t kernel_timeout_ms = 0;                         // 0: no limit
  uint64_t stall_warning_ms = 10000;                      // KM_STALL_WARNING_MS, 0: none
  uint32_t capability_major = 0, capability_minor = 0;
  CapabilityLimits limits;          // limits of the capability, with KM_CPU_SHARED_KIB applied
  uint64_t compile_timeout_ms = 0;  // 0: no limit
  bool fast_mma = false;            // KM_CPU_MMA
  simt::Machine machine;
  std::optional<simt::Machine> object_machine;  // KM_CPU_OBJECT_ISA; nothing: that of the module
  uint64_t lazy_bytes = 64 << 10;               // KM_CPU_LAZY_KIB

  /// True if launches run in an order that a seed gives, or in several.
  bool has_orders() const { return (check_tools & simt::check_tool::kSchedule) != 0; }
  /// True if the checker follows the order of streams.
  bool checks_streams() const { return (check_tools & simt::check_tool::kStreams) != 0; }
  /// True if kernels of all contexts check their accesses.
  bool checks_all() const { return checked == CheckedMemory::always; }
};

/// Reads the environment. It must be called before config(), and fails with an error that names the
/// variable with the unusable value.
Status load_config();
const Config& config();

}  // namespace km::cpu
