// An ordered queue of commands. Whoever owns the stream (a worker, or a thread that waits for it)
// runs the commands in order; everybody else may append. Streams are never freed but used again
// by their pool, and tickets never go back, so an old (stream, ticket) pair always reads as
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
#include "backends/cpu/stream/deferred_actions.h"
#include "backends/cpu/threads/futex.h"

namespace km::cpu {

class Context;
class Executor;
class Marker;
class ThreadPool;

class Stream {
 public:
  /// A stream of `context`, which it keeps alive until it is closed and drained.
  static Stream* open(Context* context, int32_t priority);
  /// Queued work goes on; afterwards the stream is used again.
  void close();

  Context* context() const { return context_; }
  int32_t priority() const { return priority_.load(std::memory_order_relaxed); }
  /// Sets the priority of work that is submitted from now on.
  void set_priority(int32_t priority) { priority_.store(priority, std::memory_order_relaxed); }

  /// A command to fill in; null when memory is short.
  Command* allocate();
  /// Gives back a command that was not submitted.
  void discard(Command* command) { recycle(command); }
  /// Appends; returns the ticket.
  uint64_t submit(Command* command);
  /// submit() for a command that takes no time (is_light()): when nothing is queued before it, the
  /// caller begins with it, so that no worker has to be free.
  uint64_t submit_light(Command* command);

  /// When nothing is queued the caller may do a short command itself, between these two.
  bool begin_inline(uint64_t* out_ticket);
  void end_inline(uint64_t ticket) { complete(ticket, 0); }

  uint64_t submitted() const { return submitted_.load(std::memory_order_acquire); }
  bool is_complete(uint64_t ticket) const {
    return completed_.load(std::memory_order_acquire) >= ticket;
  }
  /// Waits, helping where that is safe. False: the time has passed.
  bool wait(uint64_t ticket, uint64_t timeout_ns);
  /// Runs `action` once the ticket is complete, on the thread that completes it (or at once).
  void when_complete(uint64_t ticket, std::function<void()> action);

  // For the pool and for those that a stream waits for.
  bool try_own();
  /// Runs commands until none is left, one runs elsewhere or `until` is complete. The caller owns
  /// the stream and no longer does afterwards.
  void drive(Executor* executor, uint64_t until);
  /// The front command is over: completes it, and lets the pool go on.
  void resume();
  /// resume() for a thread that is no worker: it does work that takes no time itself.
  void resume_light();
  /// resume() for the participant that finishes a shared command: it may continue the stream
  /// itself.
  void resume_here(Executor* executor, uint64_t until);
  /// Ends a wait for an event (of a stream that is being reset).
  void cancel_park();
  /// There is work, and nobody owns the stream.
  bool is_ready() const { return state_.load(std::memory_order_relaxed) == kReady; }
  uint64_t ready_ticks() const { return ready_ticks_.load(std::memory_order_relaxed); }
  /// The time that a host thread has from then on to wait for the stream and do its work itself: 1
  /// to 2 us; more if the work is long, since the thread that shares it decides how many threads
  /// get in each other's way.
  static constexpr uint64_t kLeastGraceTicks = 5000;
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
  bool complete(uint64_t ticket, uint64_t until);
  void wake_waiters(uint64_t ticket);
  bool help(Executor* executor, uint64_t ticket, int depth);
  void sleep(uint64_t ticket, uint64_t limit_ns);
  void reuse();

  enum State : uint32_t { kOwned, kReady };
  static constexpr uint64_t kNothing = UINT64_MAX;
  static constexpr uint64_t kLight = UINT64_MAX - 1;  // `until` of a thread that is no worker
  static constexpr uint32_t kMaxFreeCommands = 1024;
  static constexpr uint64_t kPartTried = 16;  // of a kernel, before it is known to be short

  // A thread may still be leaving add_ready() of the pool when the stream has been used again: so
  // the pool never changes.
  ThreadPool* const pool_;
  const uint64_t first_grid_id_;  // less one
  Context* context_ = nullptr;
  std::atomic<int32_t> priority_{0};

  // Appending.
  alignas(64) SpinLock lock_;
  Command* tail_;                       // under lock_
  Command* spare_ = nullptr;            // under lock_: commands to fill in
  std::atomic<uint64_t> submitted_{0};  // written under lock_

  // Both sides.
  alignas(64) std::atomic<uint64_t> pending_{
      0};  // submitted, not yet complete; 0 to 1: nobody owns
  std::atomic<uint32_t> state_{kOwned};
  std::atomic<bool> listed_{false};  // in the pool's list of ready streams
  std::atomic<uint64_t> ready_ticks_{0}, grace_ticks_{0};
  std::atomic<Command*> freed_{nullptr};
  std::atomic<uint32_t> freed_count_{0};
  Stream* next_ready_ = nullptr;  // the pool's

  // The owner's.
  alignas(64) Command* head_;  // the last command that is over
  std::atomic<uint64_t> completed_{0};
  Command* launched_ = nullptr;   // by the kernel at the front: what runs in its place
  std::atomic<uint64_t> job_{0};  // the pool's job that runs the front command, or 0

  // Waiting.
  std::mutex wait_mutex_;
  std::atomic<uint64_t> wanted_{kNothing};  // the lowest ticket that a sleeper waits for
  std::atomic<uint32_t> wake_word_{0};
  DeferredActions deferred_;
  std::mutex park_mutex_;
  Marker* parked_on_ = nullptr;               // under park_mutex_
  std::atomic<Stream*> blocked_by_{nullptr};  // whose marker it waits for
  std::atomic<uint64_t> blocked_ticket_{0};
};

/// A command to fill in; throws std::bad_alloc.
Command* new_command(Stream* stream, CommandKind kind);

/// Runs `action` once all tickets are complete, on the thread that completes the last one.
void when_all_complete(std::span<const kmb_use> uses, std::function<void()> action);
/// Waits for all tickets, for want of memory for a note.
void wait_for_all(std::span<const kmb_use> uses) noexcept;

}  // namespace km::cpu
