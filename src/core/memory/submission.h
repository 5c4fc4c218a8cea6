// Submits operations to streams. In contexts with KM_CONTEXT_ORDERED, an operation waits for
// conflicting uses of its memory; in all contexts its uses are recorded, so that memory outlives
// its last use.
#pragma once

#include <optional>
#include <span>

#include "core/memory/memory.h"

namespace km {

/// An operation's use of a range of one allocation.
struct MemoryUse {
  /// An empty use, which orders and records nothing.
  MemoryUse() = default;
  /// Covers `size_bytes` from a device address on, which must lie within the memory.
  static MemoryUse of(Memory& memory, uint64_t address, uint64_t size_bytes, AccessKind kind) {
    return {&memory, memory.accesses(), {address, address + size_bytes, kind}};
  }
  /// The use of a module's variables by its kernels.
  static MemoryUse of_variables(AccessList* variables) {
    return {nullptr, variables, kAllVariables};
  }

  Memory* memory = nullptr;  // kept alive until the operation ends; null: the caller keeps it alive
  AccessList* accesses = nullptr;  // null: the use is not ordered
  AccessRange range;
  // Only Submission sets these two.
  bool holds_lock = false;
  uint32_t entry = AccessList::kNone;

 private:
  MemoryUse(Memory* of, AccessList* by, const AccessRange& part)
      : memory(of), accesses(by), range(part) {}
};

/// The uses of an operation that repeats the last uses of all its memory, the most frequent case:
/// it has nothing to wait for, and this class finds that out cheaper than Submission.
class RepeatedUses {
 public:
  explicit RepeatedUses(std::span<const MemoryUse> uses) : uses_(uses) {}
  /// Releases the locks without recording the operation if end() was not called.
  ~RepeatedUses() {
    if (is_taken_) [[unlikely]]
      let_go(uses_);
  }
  RepeatedUses(const RepeatedUses&) = delete;
  RepeatedUses& operator=(const RepeatedUses&) = delete;

  /// Locks all lists; false, with no lock held, if a use is not the last one of its list.
  bool take(uint64_t stream_number) {
    for (const MemoryUse& use : uses_) {
      if (use.accesses == nullptr) continue;
      if (use.accesses->take_for_latest(stream_number, use.range)) [[likely]]
        continue;
      let_go(uses_.first(static_cast<size_t>(&use - uses_.data())));
      return false;
    }
    is_taken_ = true;
    return true;
  }
  /// Records the uses and releases the locks, after the backend has queued the operation.
  void end(uint64_t ticket) {
    is_taken_ = false;
    for (const MemoryUse& use : uses_) {
      if (use.accesses != nullptr) use.accesses->give_back(use.range.kind, ticket);
    }
  }

 private:
  static void let_go(std::span<const MemoryUse> taken) {
    for (const MemoryUse& use : taken) {
      if (use.accesses != nullptr) use.accesses->lock().unlock();
    }
  }

  const std::span<const MemoryUse> uses_;
  bool is_taken_ = false;
};

/// One operation from begin() over the backend's call to end(). In between, no other thread can
/// queue a conflicting operation, because this one holds the locks of all lists. Locks are taken in
/// one order or only tried, so that two operations never wait for each other.
///
/// If one stream alone uses the memory, the cost is one comparison for each use: the lock is the
/// one that recording the use takes anyway.
class Submission {
 public:
  /// `uses` must stay valid until the end; `variables` is the access list of a launched module's
  /// variables, or null.
  Submission(Stream& stream, std::span<MemoryUse> uses, AccessList* variables = nullptr)
      : stream_(stream), uses_(uses), variables_(variables) {}
  /// Drops the operation if end() was not called, because the backend refused it.
  ~Submission() {
    if (holds_locks_ || is_open_) [[unlikely]]
      abandon();
  }
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;

  /// Succeeds without waiting if this stream alone uses the memory; if it returns false, the caller
  /// calls begin_others().
  bool begin_at_once() {
    for (MemoryUse& use : uses_) {
      if (use.accesses != nullptr && !take_own(use)) return false;
    }
    return variables_ == nullptr || take_own(use_of_variables());
  }
  /// Makes the stream wait for all conflicting operations. The caller's thread waits only while
  /// another thread is about to queue one of them.
  Status begin_others();
  Status begin() { return begin_at_once() ? Status() : begin_others(); }

  /// Records the uses and releases the locks, after the backend has queued the operation.
  void end(uint64_t ticket) noexcept {
    if (is_noted_) return;
    is_noted_ = true;
    if (is_open_) [[unlikely]]
      return close(ticket);
    // The order is reversed, because the first of several uses of a list holds its lock.
    if (of_variables_) [[unlikely]]
      note_ordered(*of_variables_, ticket);
    for (size_t i = uses_.size(); i-- > 0;) note(uses_[i], ticket);
    holds_locks_ = false;
  }

  const AccessList* variables() const { return variables_; }

  /// The callback of backend entries that may wait for the operation: they call it before, which
  /// releases the locks. Null if no lock is held.
  const kmb_queued* queued() {
    queued_ = {&Submission::on_queued, this};
    return holds_locks_ ? &queued_ : nullptr;
  }

 private:
  /// False if another operation holds the list's lock or another stream has used the memory.
  bool take_own(MemoryUse& use) {
    if (use.accesses->lock().try_lock()) [[likely]] {
      use.holds_lock = holds_locks_ = true;
    } else if (!is_taken(use)) {
      return false;
    }
    use.entry = use.accesses->find_own(stream_.number(), use.range, use.holds_lock);
    return use.entry != AccessList::kNone;
  }
  void note(MemoryUse& use, uint64_t ticket) noexcept {
    if (use.accesses != nullptr) return note_ordered(use, ticket);
    if (use.memory != nullptr) use.memory->record_use(stream_, ticket);
  }
  void note_ordered(MemoryUse& use, uint64_t ticket) noexcept {
    if (use.entry == AccessList::kNone) [[unlikely]] {
      use.accesses->note(stream_, use.range, ticket);
    } else {
      use.accesses->note_again(use.entry, use.range.kind, ticket);
    }
    if (!use.accesses->records_uses() && use.memory != nullptr) [[unlikely]]
      use.memory->record_use(stream_, ticket);
    let_go(use);
  }
  static void let_go(MemoryUse& use) noexcept {
    if (!use.holds_lock) return;
    use.holds_lock = false;
    use.accesses->lock().unlock();
  }
  MemoryUse& use_of_variables() {
    if (!of_variables_) of_variables_.emplace(MemoryUse::of_variables(variables_));
    return *of_variables_;
  }
  template <class Visit>
  bool all_ordered(Visit&& visit);
  void let_go() noexcept;
  bool is_taken(const MemoryUse& use) const;
  bool take_others();
  void take_in_turn();
  bool find_conflicts(std::vector<StreamTicket>* conflicts);
  static void on_queued(void* self, uint64_t ticket);
  void open() noexcept;
  void close(uint64_t ticket) noexcept;
  void abandon() noexcept;

  Stream& stream_;
  const std::span<MemoryUse> uses_;
  AccessList* const variables_;
  bool holds_locks_ = false;
  bool is_open_ = false;   // recorded without a ticket; the backend's entry returns it at its end
  bool is_noted_ = false;  // end() was called
  std::optional<MemoryUse> of_variables_;  // treated as the last use of the operation
  kmb_queued queued_;                      // returned by queued()
};

/// Queues an operation by calling `queue(submission, &ticket)`.
template <class Queue>
Status submit(Stream& stream, std::span<MemoryUse> uses, Queue&& queue) {
  Submission submission(stream, uses);
  KM_TRY(submission.begin());
  uint64_t ticket = 0;
  KM_TRY(queue(submission, &ticket));
  submission.end(ticket);
  return {};
}

}  // namespace km
