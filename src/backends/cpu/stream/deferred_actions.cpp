#include "backends/cpu/stream/deferred_actions.h"

#include <algorithm>

#include "base/assert.h"
#include "base/memory/host_allocator.h"

namespace km::cpu {

void DeferredActions::add(uint64_t ticket, std::function<void()> action) {
  KM_ASSERT(ticket != kNothing, "an action awaits a ticket that no stream issues");
  std::lock_guard lock(mutex_);
  actions_.emplace_back(ticket, std::move(action));
  if (ticket < first_ticket_.load(std::memory_order_relaxed)) first_ticket_.store(ticket);
}

void DeferredActions::run(uint64_t ticket) {
  const HostMemoryNeeded needed;
  std::vector<std::function<void()>> due;
  {
    std::lock_guard lock(mutex_);
    uint64_t next = kNothing;
    std::erase_if(actions_, [&](auto& entry) {
      if (entry.first <= ticket) {
        due.push_back(std::move(entry.second));
        return true;
      }
      next = std::min(next, entry.first);
      return false;
    });
    KM_ASSERT(next > ticket, "an action that is due was not run");
    first_ticket_.store(next);
  }
  for (auto& action : due) action();
}

}  // namespace km::cpu
