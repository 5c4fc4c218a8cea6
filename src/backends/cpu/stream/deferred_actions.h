// DeferredActions: functions that run once tickets of a stream are complete.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace km::cpu {

/// Keeps each action until its ticket is complete; any thread may add actions.
class DeferredActions {
 public:
  /// Adds an action. If the ticket turns out to be complete afterwards, the caller must call run(),
  /// because the thread that completed it may have called is_due() before.
  void add(uint64_t ticket, std::function<void()> action);

  /// True if an action waits for this ticket or an earlier one.
  bool is_due(uint64_t ticket) const { return first_ticket_.load() <= ticket; }

  /// Runs the actions that wait for this ticket or an earlier one, each once.
  void run(uint64_t ticket);

 private:
  static constexpr uint64_t kNothing = UINT64_MAX;

  std::mutex mutex_;
  std::atomic<uint64_t> first_ticket_{kNothing};  // written only with mutex_ held
  std::vector<std::pair<uint64_t, std::function<void()>>> actions_;
};

}  // namespace km::cpu
