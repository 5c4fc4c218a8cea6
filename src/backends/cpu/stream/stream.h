// Streams: ordered queues of commands. The owner of a stream (a worker, or a thread that waits for
// it) runs its commands in order; any other thread may append. A stream is not freed but reused by
// its pool, and its tickets never decrease, so that an old (stream, ticket) pair always reads as
// complete.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include "backend/interface.h"
#include "backends/cpu/command/command.h"
#include "backends/cpu/order/stream_order.h"
#include "backends/cpu/stream/deferred_actions.h"
#include "base/thread/spin_lock.h"

namespace km::cpu {

class Context;
class Executor;
class Marker;
class ThreadPool;

class Stream {
 public:
  /// Opens a stream of `context`, which it keeps alive until it is closed and all its work is over.
  static Stream* open(Context* context, int32_t priority);
  /// Queued work still runs; after it the pool reuses the stream.
  void close();

  Context* context() const { return context_; }
  int32_t priority() const { return of_user_.priority.load(std::memory_order_relaxed); }
  /// Sets the priority of work that is submitted from now on.
  void set_priority(int32_t priority) {
    of_user_.priority.store(priority, std::memory_order_relaxed);
  }

  /// The number by which the checker knows the stream, from its first use on.
  uint32_t order_number();
  /// The work that the checker knows to be in the stream; null if it knows of none.
  StreamOrder::Clock known_order() const;
  /// Sets that core orders the stream's work with that of others.
  void set_ordered(bool on) { of_user_.is_ordered = on; }
  /// True if the checker follows what the stream's work accesses.
  bool is_followed() const { return !of_user_.is_ordered; }

  /// Returns a command to fill in; null without memory.
  Command* allocate();
  /// Returns a command that was not submitted.
  void discard(Command* command) { recycle(command); }
  /// Appends the command and returns its ticket.
  uint64_t submit(Command* command);
  /// submit() for a command that takes no time (is_light()). If the queue is empty, the caller runs
  /// it, so that no worker has to be free.
  uint64_t submit_light(Command* command);

  /// If the queue is empty, the caller may run a short command itself between begin_inline() and
  /// end_inline().
  bool begin_inline(uint64_t* out_ticket);
  void end_inline(uint64_t ticket) { complete(ticket, 0); }

  uint64_t submitted() const { return submitted_.load(std::memory_order_acquire); }
  bool is_complete(uint64_t ticket) const {
    return completed_.load(std::memory_order_acquire) >= ticket;
  }
  /// Waits for the ticket, and runs work meanwhile if that is safe. Returns false after the
  /// timeout.
  bool wait(uint64_t ticket, uint64_t timeout_ns);
  /// Runs `action` once the ticket is complete: at once, or on the thread that completes it.
  void when_complete(uint64_t ticket, std::function<void()> action);

  // For the pool and for streams that wait for another one.
  bool try_own();
  /// Runs commands until none is left, one continues on another thread or `until` is complete. The
  /// caller owns the stream before but not after.
  void drive(Executor* executor, uint64_t until);
  /// Called when the first command is over: completes it and hands the stream to the pool.
  void resume();
  /// resume() for a thread that is not a worker: it only runs commands that take no time.
  void resume_light();
  /// resume() for the participant that finishes a shared command: it may continue the stream
  /// itself.
  void resume_here(Executor* executor, uint64_t until);
  /// Ends a wait for an event, in a stream that is being reset.
  void cancel_park();
  /// True if there is work and no thread owns the stream.
  bool is_ready() const { return state_.load(std::memory_order_relaxed) == kReady; }
  uint64_t ready_ticks() const { return ready_ticks_.load(std::memory_order_relaxed); }
  /// The time that a host thread has, after it queued work, to wait for the stream and run the work
  /// itself: 1 to 2.5 us. It is longer if the work is long, because the thread that shares it
  /// decides how many threads compete.
  static constexpr uint64_t kLeastGraceNs = 2'500;
  uint64_t grace_ticks() const { return grace_ticks_.load(std::memory_order_relaxed); }

 private:
  friend class ThreadPool;
  friend std::default_delete<Stream>;
  explicit Stream(ThreadPool* pool);
  ~Stream() = default;
  uint64_t append(Command* command, bool* out_first);
  void drive_light();
  void make_ready();
  void recycle(Command* command);
  bool execute(Command& command, Executor* executor);
  bool perform(Command& command, Executor* executor);
  bool execute_graph(Command& command, Executor* executor);
  bool execute_event(Command& step, Marker* marker, bool ends);
  bool go_on_with(FollowUps& launches, const Command& front, uint64_t until, bool* out_owned);
  bool finish_step(Command& command, uint64_t until, bool* out_owned);
  bool execute_work(Command& command, Executor* executor);
  bool execute_shared(Command& command, Executor* executor, uint64_t first_piece);
  bool wait_for_marker(Command& command);
  static void announce(Marker* marker);
  bool hand_to_callback_thread(Command& command);
  bool finish(uint64_t until);
  // The checker is told what is queued and what ends (stream_checks.cpp).
  void note_operation(Command& command);
  void publish_values(const Command& command);
  std::function<void()> followed_call(std::function<void()> call);
  void end_checks(Command& front);
  void end_operation(const Command& front);
  void drop_order_number();
  bool complete(uint64_t ticket, uint64_t until);
  void wake_waiters(uint64_t ticket);
  bool help(Executor* executor, uint64_t ticket, int depth);
  void sleep(uint64_t ticket, uint64_t limit_ns);
  void reuse();

  enum State : uint32_t { kOwned, kReady };
  static constexpr uint64_t kNothing = UINT64_MAX;
  static constexpr uint64_t kLight = UINT64_MAX - 1;  // `until` of a thread that is not a worker
  static constexpr uint32_t kMaxFreeCommands = 1024;
  // 1 / kPartTried of a kernel's pieces runs alone first, to test if the kernel is short.
  static constexpr uint64_t kPartTried = 16;

  // The pool is never replaced, because a thread may still be leaving its add_ready() when the
  // stream is reused.
  ThreadPool* const pool_;
  const uint64_t first_grid_id_;  // the first grid id of the stream, minus one
  Context* context_ = nullptr;
  struct {
    std::atomic<int32_t> priority{0};
    std::atomic<uint32_t> order_number{0};  // 0: none yet
    bool is_ordered = false;                // set before the stream is used
  } of_user_;

  // The members for appending.
  alignas(64) SpinLock lock_;
  Command* tail_;                       // guarded by lock_
  Command* spare_ = nullptr;            // guarded by lock_: free commands
  std::atomic<uint64_t> submitted_{0};  // written only with lock_ held

  // The members that appending threads and the owner share.
  alignas(64) std::atomic<uint64_t> pending_{
      0};  // submitted and not complete; the thread that raises it from 0 owns the stream first
  std::atomic<uint32_t> state_{kOwned};
  std::atomic<bool> listed_{false};  // it is in the pool's list of ready streams
  std::atomic<uint64_t> ready_ticks_{0}, grace_ticks_{0};
  std::atomic<Command*> freed_{nullptr};
  std::atomic<uint32_t> freed_count_{0};
  Stream* next_ready_ = nullptr;  // link of the pool's list

  // The members of the owner.
  alignas(64) Command* head_;  // the last finished command; its `next` is the first unfinished one
  std::atomic<uint64_t> completed_{0};
  Command* launched_ = nullptr;  // a launch of the first command's kernel, which runs instead of it
  std::atomic<uint64_t> job_{0};  // the pool's job for the first command; 0: none

  // The members for waiting.
  std::mutex wait_mutex_;
  std::atomic<uint64_t> wanted_{kNothing};  // the lowest ticket that a sleeping thread waits for
  std::atomic<uint32_t> wake_word_{0};
  DeferredActions deferred_;
  std::mutex park_mutex_;
  Marker* parked_on_ = nullptr;               // guarded by park_mutex_
  std::atomic<Stream*> blocked_by_{nullptr};  // the stream whose marker it waits for
  std::atomic<uint64_t> blocked_ticket_{0};
};

/// Returns a command to fill in; throws std::bad_alloc.
Command* new_command(Stream* stream, CommandKind kind);

/// Runs `action` once all tickets are complete, on the thread that completes the last one.
void when_all_complete(std::span<const kmb_use> uses, std::function<void()> action);
/// Waits for all tickets, for callers without memory to record them.
void wait_for_all(std::span<const kmb_use> uses) noexcept;

/// Queues the task and returns its ticket. The stream's context must be alive.
uint64_t queue_task(Stream& stream, std::shared_ptr<const Task> task);

}  // namespace km::cpu
