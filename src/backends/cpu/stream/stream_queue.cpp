#include "backends/cpu/stream/stream.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "backends/cpu/check/undefined_memory.h"
#include "backends/cpu/command/check_report.h"
#include "backends/cpu/command/task.h"
#include "backends/cpu/command/work.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/execution/executor.h"
#include "backends/cpu/fault/fault.h"
#include "backends/cpu/order/stream_order.h"
#include "backends/cpu/stream/graph_program.h"
#include "backends/cpu/stream/marker.h"
#include "backends/cpu/stream/memory_ops.h"
#include "backends/cpu/stream/profile.h"
#include "backends/cpu/stream/thread_pool.h"
#include "backends/cpu/threads/futex.h"
#include "base/arch/float_control.h"
#include "base/assert.h"
#include "base/callback/callback_thread.h"
#include "base/check/check_tools.h"
#include "base/memory/host_allocator.h"
#include "base/thread/start_thread.h"

namespace km::cpu {

namespace {

// Grid ids of host launches combine the stream and its ticket; those of launches in graphs are
// counted, with the highest bit set.
constexpr uint64_t kTicketBits = 40, kOfGraph = uint64_t{1} << 63;
std::atomic<uint64_t> last_stream{0}, last_grid_of_graph{0};

uint64_t next(std::atomic<uint64_t>& last) {
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

Stream::Stream(ThreadPool* pool)
    : pool_(pool),
      first_grid_id_(next(last_stream) << kTicketBits & ~kOfGraph),
      tail_(new Command),
      head_(tail_) {}

Stream* Stream::open(Context* context, int32_t priority) {
  Stream* stream = context->pool()->take_closed_stream();
  if (stream == nullptr) stream = std::unique_ptr<Stream>(new Stream(context->pool())).release();
  KM_ASSERT(stream->is_complete(stream->submitted()) && stream->pending_.load() == 0,
            "a stream with work of its former user is opened");
  stream->context_ = context;
  stream->of_user_.priority.store(priority, std::memory_order_relaxed);
  try {
    context->add_stream(stream);
  } catch (const std::bad_alloc&) {
    context->pool()->keep_closed_stream(stream);
    throw;
  }
  context->retain();
  return stream;
}

void Stream::close() {
  uint64_t ticket = 0;
  if (begin_inline(&ticket)) {
    end_inline(ticket);
    reuse();
    return;
  }
  const HostMemoryNeeded needed;  // a stream that cannot be closed would keep its context alive
  Command* const command = allocate();
  command->kind = CommandKind::close;
  submit(command);
}

void Stream::reuse() {
  KM_ASSERT(completed_.load() == submitted_.load() && pending_.load() == 0,
            "a stream with work is closed");
  KM_ASSERT(parked_on_ == nullptr && launched_ == nullptr, "a stream that waits is closed");
  Context* context = context_;
  if (context->remove_stream(this)) report_kernel_memory(*context);
  if (StreamOrder::active() != nullptr) [[unlikely]]
    drop_order_number();
  pool_->keep_closed_stream(this);
  context->release();
}

Command* Stream::allocate() {
  std::lock_guard lock(lock_);
  if (spare_ == nullptr) {
    spare_ = freed_.exchange(nullptr, std::memory_order_acquire);
    if (spare_ != nullptr) freed_count_.store(0, std::memory_order_relaxed);
  }
  Command* command = spare_;
  if (command == nullptr) {
    command = new (std::nothrow) Command;
  } else {
    spare_ = command->next.load(std::memory_order_relaxed);
  }
  if (context_->is_profiling() && command != nullptr) [[unlikely]]
    note_call(*command);
  return command;
}

void Stream::recycle(Command* command) {
  command->release();
  // The count is approximate: an update that two threads lose does no harm.
  const uint32_t count = freed_count_.load(std::memory_order_relaxed);
  if (count >= kMaxFreeCommands) {
    std::unique_ptr<Command> last(command);
    return;
  }
  freed_count_.store(count + 1, std::memory_order_relaxed);
  Command* top = freed_.load(std::memory_order_relaxed);
  do {
    command->next.store(top, std::memory_order_relaxed);
  } while (!freed_.compare_exchange_weak(top, command, std::memory_order_release,
                                         std::memory_order_relaxed));
}

[[gnu::always_inline]] inline uint64_t Stream::append(Command* command, bool* out_first) {
  command->next.store(nullptr, std::memory_order_relaxed);
  std::lock_guard lock(lock_);
  const uint64_t ticket = submitted_.load(std::memory_order_relaxed) + 1;
  KM_ASSERT(ticket > completed_.load(), "a ticket was completed before it was issued");
  KM_ASSERT(command->kind != CommandKind::none, "a command is submitted that was not filled in");
  command->ticket = ticket;
  if (context_->is_profiling()) [[unlikely]]
    note_queued(*context_, *command);
  if (StreamOrder::active() != nullptr) [[unlikely]]
    note_operation(*command);
  if (command->kind == CommandKind::record) command->marker->set_ticket(ticket);
  if (command->kind == CommandKind::kernel) command->run.record.grid_id = first_grid_id_ + ticket;
  submitted_.store(ticket, std::memory_order_release);
  tail_->next.store(command, std::memory_order_release);
  tail_ = command;
  *out_first = pending_.fetch_add(1) == 0;
  return ticket;
}

uint64_t Stream::submit(Command* command) {
  bool first = false;
  const uint64_t ticket = append(command, &first);
  if (first) make_ready();
  return ticket;
}

uint64_t Stream::submit_light(Command* command) {
  bool first = false;
  const uint64_t ticket = append(command, &first);
  if (!first) return ticket;
  if (thread_could_fault(now_ticks())) {  // only such a thread survives an access to missing memory
    drive_light();
  } else {
    make_ready();
  }
  return ticket;
}

bool Stream::begin_inline(uint64_t* out_ticket) {
  if (pending_.load(std::memory_order_relaxed) != 0) return false;
  std::lock_guard lock(lock_);
  uint64_t none = 0;
  if (!pending_.compare_exchange_strong(none, 1)) return false;
  *out_ticket = submitted_.load(std::memory_order_relaxed) + 1;
  KM_ASSERT(*out_ticket == completed_.load() + 1, "nothing is pending, and a ticket is open");
  submitted_.store(*out_ticket, std::memory_order_release);
  return true;
}

void Stream::make_ready() {
  constexpr float kLeast = kLeastGraceNs, kMost = 4 * kLeast, kOfWork = 1.0F / 64;
  KM_ASSERT(state_.load() == kOwned && pending_.load() != 0,
            "a stream is released by a thread that does not own it, or has no work");
  const Command& next = *head_->next.load(std::memory_order_acquire);
  const float grace = std::clamp(estimated_ns(next) * kOfWork, kLeast, kMost);
  grace_ticks_.store(ticks_of_ns(static_cast<uint64_t>(grace)), std::memory_order_relaxed);
  const uint64_t now = now_ticks();
  if (!on_engine_thread()) look_after_host(now);
  ready_ticks_.store(now, std::memory_order_relaxed);
  state_.store(kReady);
  pool_->add_ready(this);
}

bool Stream::try_own() {
  uint32_t ready = kReady;
  // take_ready() has cleared listed_ before: the load has to come after that.
  return state_.load() == kReady && state_.compare_exchange_strong(ready, kOwned);
}

void Stream::drive(Executor* executor, uint64_t until) {
  const HostMemoryNeeded needed;  // running work cannot be abandoned halfway
  for (;;) {
    KM_ASSERT(state_.load() == kOwned && pending_.load() != 0,
              "a stream is run by a thread that does not own it, or has no work");
    Command& command = *head_->next.load(std::memory_order_acquire);
    if (!execute(command, executor)) return;
    if (!finish(until)) return;
  }
}

/// Runs commands until one needs a worker or none is left. The caller owns the stream before but
/// not after.
void Stream::drive_light() {
  const HostMemoryNeeded needed;
  for (;;) {
    KM_ASSERT(state_.load() == kOwned && pending_.load() != 0,
              "a stream is run by a thread that does not own it, or has no work");
    Command& command = *head_->next.load(std::memory_order_acquire);
    if (!is_light(command)) {
      make_ready();
      return;
    }
    if (!execute(command, nullptr)) return;
    if (!finish(kLight)) return;
  }
}

/// Returns true if the command is over; false if another thread continues the stream.
bool Stream::execute(Command& command, Executor* executor) {
  if (launched_ != nullptr) [[unlikely]]
    return perform(*launched_, executor);
  if (command.kind == CommandKind::graph) [[unlikely]]
    return execute_graph(command, executor);
  return perform(command, executor);
}

namespace {

/// Returns true if the task's work is over; otherwise the thread that ends it continues the stream.
/// A thread that waits for the task would do nothing else.
bool start_task(Stream* stream, const Task& task, bool may_wait) {
  if (stream->context()->is_exiting()) return true;
  if (UndefinedMemory::is_used()) UndefinedMemory::instance().define_all();
  const arch::DefaultFloats floats;
  const auto resume = [](void* started) { static_cast<Stream*>(started)->resume(); };
  return task.start(may_wait, resume, stream);
}

}  // namespace

[[gnu::always_inline]] inline bool Stream::perform(Command& command, Executor* executor) {
  if (context_->is_profiling()) [[unlikely]]
    note_begin(command);
  switch (command.kind) {
    case CommandKind::kernel:
    case CommandKind::transfer:
      return context_->failed() || execute_work(command, executor);
    case CommandKind::task:
      if (context_->failed()) return true;
      // A thread of the host has an executor in waits only.
      return command.task->is_asynchronous()
                 ? start_task(this, *command.task, executor != nullptr && !on_engine_thread())
                 : execute_work(command, executor);
    case CommandKind::record:
      command.marker->reach();
      return true;
    case CommandKind::wait:
      return wait_for_marker(command);
    case CommandKind::callback:
      return hand_to_callback_thread(command);
    case CommandKind::memory:
      if (StreamOrder::active() != nullptr) [[unlikely]]
        publish_values(command);
      return context_->failed() || run_memory_ops(this, command.memory_ops);
    case CommandKind::graph:
    case CommandKind::branch:
    case CommandKind::close:
    case CommandKind::none:
      return true;
  }
  return true;
}

namespace {

bool is_work(CommandKind kind) {
  return kind == CommandKind::kernel || kind == CommandKind::transfer ||
         kind == CommandKind::task || kind == CommandKind::memory;
}

/// Prepares the counters of a launch whose code counts what warps do.
void begin_counters(LaunchRun& run, const Context& context) {
  const bool counts = (run.unit->tools & check_tool::kCounters) != 0 && context.is_profiling();
  if (!counts && run.counters == nullptr) [[likely]]
    return;
  const HostMemoryNeeded needed;
  run.counters = counts ? std::make_unique<LaunchCounters>() : nullptr;
}

}  // namespace

/// Runs one step of a graph. If the context has failed or is being stopped, the step is not
/// touched: another lane may still run it for the previous launch.
[[gnu::noinline]] bool Stream::execute_graph(Command& command, Executor* executor) {
  const GraphProgram& program = *command.program;
  KM_ASSERT(command.in_turn || command.lane < program.plan->lane_count(),
            "a launch of a graph is in a lane that the graph does not have");
  const bool ends = context_->failed() || context_->is_stopping();
  if (command.lane == 0 && command.step == 0) {
    program.begin_updates();
    command.in_turn = program.plan->lane_count() == 1 || ends ||
                      !program.is_worth_forking(pool_->threads()) ||
                      !program.plan->fork(this, command);
  }
  Command* step = program.step_of(command);
  if (step == nullptr) {  // a graph_restore() command has no steps
    program.begin_updates();
    return true;
  }
  if (step->kind == CommandKind::branch) [[unlikely]] {
    program.take_branch(&command, step->branch, ends);
    return true;
  }
  if (ends && is_work(step->kind)) return true;
  if (step->kind == CommandKind::kernel) {
    step->run.record.grid_id = kOfGraph | next(last_grid_of_graph);
    step->run.record.graph_exec = program.device_handle;
    if (step->updates != nullptr && !step->updates->refresh(step, context_)) [[unlikely]]
      return true;
  }
  if (step->event_slot != Command::kNoEvent) [[unlikely]] {
    KM_ASSERT(step->event_slot < command.events->markers.size(), "a launch lacks a node's marker");
    return execute_event(*step, command.events->markers[step->event_slot], ends);
  }
  if (step->marker != nullptr) step->marker->retain();  // the step's end drops a reference
  // After perform(), another thread may have ended the launch and freed the step and its graph.
  if (step->kind != CommandKind::record) return perform(*step, executor);
  Marker* const reached = step->marker;
  reached->reach_and_announce();
  reached->release();
  return true;
}

/// Runs a step that records or waits for an event of the host; a null `marker` was never recorded.
bool Stream::execute_event(Command& step, Marker* marker, bool ends) {
  const bool records = step.kind == CommandKind::record;
  if (marker == nullptr || (ends && !records)) return true;
  marker->retain();
  if (!records) {
    step.marker = marker;
    return perform(step, nullptr);
  }
  marker->reach();
  announce(marker);
  return true;
}

bool Stream::execute_work(Command& command, Executor* executor) {
  if (command.kind == CommandKind::kernel) begin_counters(command.run, *context_);
  if (ContextChecks::is_any_used() && command.kind == CommandKind::kernel) [[unlikely]]
    begin_checks(command.run, *context_);
  if (pool_->wants_to_share(command)) return execute_shared(command, executor, 0);
  uint64_t pieces = pieces_of(command);
  // A kernel that was short the last time may be long now, so its first blocks run alone to test
  // it. This is not possible if they may wait for other blocks.
  bool tries = command.kind == CommandKind::kernel && !command.run.unit->may_wait();
  uint64_t first = tries ? std::max<uint64_t>(pieces / kPartTried, 1) : pieces;
  prepare_alone(command, 0, first);
  pool_->work(command, *executor, *context_);
  if (first == pieces || context_->failed()) return true;
  if (pool_->wants_to_share(command)) return execute_shared(command, executor, first);
  prepare_alone(command, first, pieces);
  pool_->work(command, *executor, *context_);
  return true;
}

bool Stream::execute_shared(Command& command, Executor* executor, uint64_t first_piece) {
  uint64_t job = pool_->publish(this, &command, first_piece);
  if (job == 0) {
    prepare_alone(command, first_piece, pieces_of(command));
    pool_->work(command, *executor, *context_);
    return true;
  }
  KM_ASSERT(job_.load() == 0, "a command is run by two jobs");
  job_.store(job, std::memory_order_release);
  pool_->work(command, *executor, *context_);
  if (!pool_->leave(job)) return false;  // the last participant continues
  job_.store(0, std::memory_order_relaxed);
  return true;
}

bool Stream::wait_for_marker(Command& command) {
  Marker* marker = command.marker;
  if (!marker->has_command() && !marker->done()) {
    marker->retain();
    marker->stream()->when_complete(marker->ticket(), [marker] { announce(marker); });
  }
  std::unique_lock lock(park_mutex_);
  blocked_ticket_.store(marker->ticket(), std::memory_order_relaxed);
  blocked_by_.store(marker->stream(), std::memory_order_release);
  KM_ASSERT(parked_on_ == nullptr, "a stream is parked at two markers");
  parked_on_ = marker;
  // From here on resume() may run on another thread, but it waits for park_mutex_.
  if (!context_->is_stopping() && marker->park(this)) return false;
  parked_on_ = nullptr;
  blocked_by_.store(nullptr, std::memory_order_relaxed);
  lock.unlock();
  marker->release();
  return true;
}

void Stream::announce(Marker* marker) {
  marker->announce();
  marker->release();
}

void Stream::cancel_park() {
  {
    std::lock_guard lock(park_mutex_);
    if (parked_on_ == nullptr || !parked_on_->unpark(this)) return;
  }
  resume();
}

void Stream::resume() {
  const HostMemoryNeeded needed;
  Marker* marker = nullptr;
  {
    std::lock_guard lock(park_mutex_);
    marker = std::exchange(parked_on_, nullptr);
    blocked_by_.store(nullptr, std::memory_order_relaxed);
  }
  if (marker != nullptr) marker->release();
  finish(0);
}

void Stream::resume_light() {
  const HostMemoryNeeded needed;
  if (finish(kLight)) drive_light();
}

void Stream::resume_here(Executor* executor, uint64_t until) {
  KM_ASSERT(job_.load() != 0, "a stream continues after a job that it did not publish");
  job_.store(0, std::memory_order_relaxed);
  if (finish(until)) drive(executor, until);
}

bool Stream::hand_to_callback_thread(Command& command) {
  if (context_->is_exiting()) return true;
  KM_ASSERT(command.callback != nullptr, "a callback command has no callback");
  km_host_callback callback = command.callback;
  void* user_data = command.user_data;
  km_status status = context_->status();
  std::function<void()> call = [callback, user_data, status] { callback(user_data, status); };
  if (StreamOrder::active() != nullptr) [[unlikely]]
    call = followed_call(std::move(call));
  post_callback({.call = std::move(call), .then = [this] { resume(); }});
  return false;
}

namespace {

/// The launches of the first command's kernel, of the graph step's kernel, or of a graph at its
/// end; null if there cannot be any.
FollowUps* launches_of(const Command& front) {
  const Command* command = &front;
  if (front.kind == CommandKind::graph) [[unlikely]] {
    command = front.program->step_of(front);
    if (command == nullptr) return front.launches.get();
  }
  if (command->kind != CommandKind::kernel) return nullptr;
  return command->run.grid == nullptr ? nullptr : command->launches.get();
}

}  // namespace

/// Starts the next of these launches; false if none is left. Otherwise *out_owned says if the
/// caller still owns the stream and runs it, or another thread will.
[[gnu::noinline]] bool Stream::go_on_with(FollowUps& launches, const Command& front, uint64_t until,
                                          bool* out_owned) {
  const HostMemoryNeeded needed;
  launched_ = context_->failed() || context_->is_stopping() ? nullptr : launches.next();
  if (launched_ == nullptr) {
    launches.clear();
    return false;
  }
  if (launched_->kind == CommandKind::kernel) {
    launched_->run.record.grid_id = kOfGraph | next(last_grid_of_graph);
  }
  *out_owned = front.ticket <= until && !pool_->others_wait(this);
  if (!*out_owned) make_ready();
  return true;
}

/// Moves to the next step; false if the graph is over. Otherwise *out_owned says if the caller
/// still owns the stream.
[[gnu::noinline]] bool Stream::finish_step(Command& command, uint64_t until, bool* out_owned) {
  if (!command.program->advance(&command)) {
    const HostMemoryNeeded needed;
    const bool has_tails = command.program->begin_tails(&command, context_);
    if (has_tails && go_on_with(*command.launches, command, until, out_owned)) return true;
    command.program.reset();
    if (command.events) [[unlikely]]
      command.events.reset();
    return false;
  }
  *out_owned = command.ticket <= until && !pool_->others_wait(this);
  if (!*out_owned) make_ready();
  return true;
}

/// Completes the first command, or a step of it. Returns true if the caller still owns the stream
/// and has more to run.
bool Stream::finish(uint64_t until) {
  Command* command = head_->next.load(std::memory_order_acquire);
  uint64_t ticket = command->ticket;
  KM_ASSERT(state_.load() == kOwned, "a command ends in a stream that nobody owns");
  KM_ASSERT(ticket == completed_.load() + 1, "a command ends before the one in front of it");
  KM_ASSERT(job_.load() == 0, "a command ends while a job runs it");
  if (context_->is_profiling()) [[unlikely]]
    record_end(*context_, this, launched_ != nullptr ? *launched_ : *command);
  if (context_->has_assertion()) [[unlikely]]
    context_->settle_assertion();
  if (ContextChecks::is_any_used()) [[unlikely]]
    end_checks(*command);
  if (FollowUps* launches = launches_of(*command)) [[unlikely]] {
    bool is_owned = false;
    if (go_on_with(*launches, *command, until, &is_owned)) return is_owned;
  }
  if (command->kind == CommandKind::graph) [[unlikely]] {
    bool is_owned = false;
    if (finish_step(*command, until, &is_owned)) return is_owned;
  }
  if (StreamOrder::active() != nullptr) [[unlikely]]
    end_operation(*command);
  Marker* reached = command->kind == CommandKind::record ? command->marker : nullptr;
  bool close = command->kind == CommandKind::close;
  command->release();
  recycle(head_);
  head_ = command;
  bool more = complete(ticket, until);
  if (reached != nullptr) [[unlikely]]
    announce(reached);
  if (close) reuse();
  return more;
}

bool Stream::complete(uint64_t ticket, uint64_t until) {
  KM_ASSERT(ticket == completed_.load() + 1, "tickets are completed out of order");
  completed_.store(ticket);
  KM_ASSERT(ticket <= submitted(), "a ticket that was not issued is completed");
  const uint64_t pending = pending_.fetch_sub(1);
  KM_ASSERT(pending != 0, "more commands are completed than were submitted");
  bool more = pending > 1;
  // If there is no more work, another thread may own the stream from here on.
  if (wanted_.load() <= ticket) wake_waiters(ticket);
  if (deferred_.is_due(ticket)) deferred_.run(ticket);
  if (!more) return false;
  if (until == kLight || (ticket < until && !pool_->others_wait(this))) return true;
  make_ready();
  return false;
}

void Stream::wake_waiters(uint64_t ticket) {
  {
    std::lock_guard lock(wait_mutex_);
    if (wanted_.load(std::memory_order_relaxed) > ticket) return;
    wanted_.store(kNothing);
    wake_word_.fetch_add(1);
  }
  futex_wake(wake_word_);
}

void Stream::when_complete(uint64_t ticket, std::function<void()> action) {
  KM_ASSERT(ticket <= submitted(), "an action awaits a ticket that was not issued");
  if (is_complete(ticket)) {
    action();
    return;
  }
  deferred_.add(ticket, std::move(action));
  if (completed_.load() >= ticket) deferred_.run(ticket);  // otherwise complete() will run it
}

}  // namespace km::cpu
