// DeferredActions: what runs once tickets of a stream are complete.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace km::cpu {

/// DeferredActions keeps actions, each until its ticket is complete; any thread may add some.
class DeferredActions {
 public:
  /// add() keeps an action. An adder that reads after it that the ticket is complete calls run():
  /// whoever completed the ticket may have read is_due() before.
  void add(uint64_t ticket, std::function<void()> action);

  /// is_due() tells if an action awaits this ticket or an earlier one.
  bool is_due(uint64_t ticket) const { return first_ticket_.load() <= ticket; }

  /// run() runs the actions that await this ticket or an earlier one, each once.
  void run(uint64_t ticket);

 private:
  static constexpr uint64_t kNothing = UINT64_MAX;

  std::mutex mutex_;
  std::atomic<uint64_t> first_ticket_{kNothing};  // written under mutex_
  std::vector<std::pair<uint64_t, std::function<void()>>> actions_;
};

}  // namespace km::cpu
