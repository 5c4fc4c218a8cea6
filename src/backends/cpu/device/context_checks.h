// ContextChecks, the checker of a context: its tools, and the receiver of its findings.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "backends/cpu/check/finding.h"
#include "backends/cpu/check/shadow.h"
#include "base/check/check_tool_sets.h"
#include "kernelmill/check.h"

namespace km::cpu {

/// Thread-safe.
class ContextChecks {
 public:
  struct Settings {
    uint16_t tools = 0;  // bits of check_tool
    bool tells_same_values = false;
    uint64_t limit = 0;                      // of calls of the callback; 0: none
    km_finding_callback callback = nullptr;  // null: findings are printed
    void* user_data = nullptr;
  };

  /// Changes the settings. The former callback is not running any more when it returns.
  void set(const Settings& settings);

  uint16_t tools() const { return tools_.load(std::memory_order_relaxed); }
  bool has(uint16_t tool) const { return (tools() & tool) != 0; }
  /// The tools and rules of the process that need code of their own.
  uint16_t code_tools() const { return tools() & (check_tool::kInCode | check_tool::kOfProcess); }
  /// True if kernels test their accesses.
  bool tests_accesses() const { return (code_tools() & ~check_tool::kInStep) != 0; }
  /// True if unordered writes of one value are findings.
  bool tells_same_values() const { return tells_same_values_.load(std::memory_order_relaxed); }
  /// True if a context of the process has or had tools.
  static bool is_any_used() { return is_any_used_.load(std::memory_order_relaxed); }
  /// True if the context has or had tools, so that its launches may have findings.
  bool is_used() const { return is_used_.load(std::memory_order_relaxed); }
  /// Prints findings from now on. The callback is not running any more when it returns.
  void drop_callback();
  /// True if findings go to a callback.
  bool has_callback() const;
  /// Passes a finding on.
  void add(const Finding& finding);

 private:
  static inline std::atomic<bool> is_any_used_{false};

  std::atomic<uint16_t> tools_{0};
  std::atomic<bool> tells_same_values_{false}, is_used_{false};
  // The lock is held while the callback runs. It is recursive, because a launch in the callback may
  // run on the same thread.
  mutable std::recursive_mutex mutex_;
  Settings settings_;
  std::optional<GlobalShadow::Use> shadow_;  // while races are looked for
  uint64_t given_ = 0;
};

/// The structure of the C ABI for a finding, and the finding of one that another library made.
km_finding abi_finding(const Finding& finding);
Finding own_finding(const km_finding& finding);

}  // namespace km::cpu
