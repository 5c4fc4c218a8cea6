#include "core/memory/submission.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "base/assert.h"
#include "base/callback/host_function.h"
#include "base/thread/cancellation.h"

namespace km {
namespace {

// The pause between two attempts while another call is about to queue its use.
constexpr long kPauseNs = 20'000;

}  // namespace

/// Calls `visit(use)` for each ordered use until it returns false; true if it never did.
template <class Visit>
bool Submission::all_ordered(Visit&& visit) {
  for (MemoryUse& use : uses_) {
    if (use.accesses != nullptr && !visit(use)) return false;
  }
  return variables_ == nullptr || visit(use_of_variables());
}

void Submission::let_go() noexcept {
  for (MemoryUse& use : uses_) let_go(use);
  if (of_variables_) let_go(*of_variables_);
  holds_locks_ = false;
  KM_ASSERT(
      std::none_of(uses_.begin(), uses_.end(), [](const MemoryUse& use) { return use.holds_lock; }),
      "all locks are released");
}

/// True if an earlier use of this operation holds the list's lock. The search goes backwards,
/// because graphs sort their uses by list.
bool Submission::is_taken(const MemoryUse& use) const {
  const bool is_last = of_variables_ && &use == &*of_variables_;
  const size_t before = is_last ? uses_.size() : static_cast<size_t>(&use - uses_.data());
  return std::any_of(
      uses_.rend() - static_cast<std::ptrdiff_t>(before), uses_.rend(),
      [&](const MemoryUse& other) { return other.holds_lock && other.accesses == use.accesses; });
}

/// Tries to take the locks that are not held yet; false if another operation holds one of them.
bool Submission::take_others() {
  return all_ordered([&](MemoryUse& use) {
    if (use.holds_lock || is_taken(use)) return true;
    use.holds_lock = use.accesses->lock().try_lock();
    holds_locks_ = holds_locks_ || use.holds_lock;
    return use.holds_lock;
  });
}

/// Takes the locks of all lists in the order of their addresses, each once, so that no two
/// operations wait for each other.
void Submission::take_in_turn() {
  let_go();
  std::vector<MemoryUse*> ordered;
  ordered.reserve(uses_.size() + 1);
  all_ordered([&](MemoryUse& use) {
    ordered.push_back(&use);
    return true;
  });
  // A stable sort keeps the first of several uses of a list in front, which then holds the lock.
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const MemoryUse* one, const MemoryUse* other) {
                     return std::less<>()(one->accesses, other->accesses);
                   });
  KM_ASSERT(!holds_locks_, "locks are taken in the order of their addresses");
  holds_locks_ = true;
  for (size_t i = 0; i < ordered.size(); ++i) {
    if (i != 0 && ordered[i]->accesses == ordered[i - 1]->accesses) continue;
    ordered[i]->accesses->lock().lock();
    ordered[i]->holds_lock = true;
  }
}

/// Needs all locks. Returns false if a conflicting use is not queued yet.
bool Submission::find_conflicts(std::vector<StreamTicket>* conflicts) {
  // Room is made before the search, because it may drop references to streams that the search would
  // return.
  all_ordered([&](MemoryUse& use) {
    use.entry = AccessList::kNone;
    use.accesses->make_room(stream_.number(), uses_.size() + 1);
    return true;
  });
  return all_ordered([&](MemoryUse& use) {
    return use.accesses->find_conflicts(stream_.number(), use.range, conflicts);
  });
}

/// A host function may not wait: the call that holds the lock may wait for room in a queue whose
/// head is this host function, and the driver refuses work from host functions anyway.
static Status require_may_wait_for_calls() {
  if (!in_host_function()) return {};
  return make_error(KM_ERROR_NOT_PERMITTED,
                    "a callback queues work that uses memory which a call on another thread uses; "
                    "signal another thread to queue it");
}

Status Submission::begin_others() {
  std::vector<StreamTicket> conflicts;
  for (;;) {
    if (!take_others()) {
      KM_TRY(require_may_wait_for_calls());
      take_in_turn();
    }
    if (find_conflicts(&conflicts)) break;
    let_go();
    KM_TRY(require_may_wait_for_calls());
    conflicts.clear();
    sleep_uncancelled(kPauseNs);
  }
  for (const StreamTicket& conflict : conflicts) {
    KM_ASSERT(conflict.stream->number() != stream_.number(), "a stream keeps its own order");
    KM_ASSERT(conflict.ticket != AccessList::kOpen, "a conflicting use has been queued");
    KM_TRY(stream_.wait_for(*conflict.stream, conflict.ticket));
  }
  return {};
}

void Submission::on_queued(void* self, uint64_t ticket) {
  auto& submission = *static_cast<Submission*>(self);
  KM_ASSERT(ticket != AccessList::kOpen, "the number of an open use is no ticket");
  if (ticket != 0) return submission.end(ticket);
  submission.open();
}

/// Releases the locks before the ticket is known; conflicting uses wait for close().
void Submission::open() noexcept {
  KM_ASSERT(!is_open_ && !is_noted_, "an operation opens once, before its end");
  KM_ASSERT(holds_locks_, "uses are noted as open under their locks");
  for (MemoryUse& use : uses_) {
    if (use.accesses == nullptr) continue;
    if (use.entry != AccessList::kNone) {
      use.accesses->reopen(use.entry, use.range.kind);
    } else {
      use.accesses->note(stream_, use.range, AccessList::kOpen);
    }
  }
  is_open_ = true;
  let_go();
}

void Submission::close(uint64_t ticket) noexcept {
  KM_ASSERT(is_open_, "only an open operation is closed");
  KM_ASSERT(!holds_locks_, "open() has released the locks that are taken here");
  is_open_ = false;
  for (MemoryUse& use : uses_) {
    if (use.accesses != nullptr) {
      const std::lock_guard lock(use.accesses->lock());
      use.accesses->close(stream_, use.range, ticket);
    }
    if (use.memory != nullptr) use.memory->record_use(stream_, ticket);
  }
}

void Submission::abandon() noexcept {
  if (is_open_) {
    // The library may have queued a part before it failed, so the stream's last ticket closes the
    // use.
    close(stream_.last_ticket());
  }
  let_go();
}

}  // namespace km
