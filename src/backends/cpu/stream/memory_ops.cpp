#include "backends/cpu/stream/memory_ops.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "backend/memory_op.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/fault/fault.h"
#include "backends/cpu/fault/guarded_memory.h"
#include "backends/cpu/stream/stream.h"
#include "backends/cpu/threads/futex.h"
#include "base/assert.h"
#include "base/memory/host_allocator.h"
#include "base/thread/start_thread.h"

namespace km::cpu {
namespace {

constexpr uint64_t kStackBytes = 256 << 10;
// The number is polled continuously at first, then less and less often.
constexpr uint32_t kEagerTurns = 64;
constexpr std::chrono::microseconds kFirstPause{10}, kLastPause{200};

Error describe(const kmb_memory_op& op, const Allocations& allocations) {
  const std::string place = allocations.locate(op.address).text;
  return make_error(KM_ERROR_ILLEGAL_ADDRESS,
                    "a stream's %s of %u bytes: illegal address 0x%" PRIx64 "%s%s",
                    op.kind == KMB_MEMORY_WRITE ? "write" : "wait", op.value_size_bytes, op.address,
                    place.empty() ? "" : ", ", place.c_str());
}

/// A stream whose first command waits for a number.
struct Waiting {
  Stream* stream;
  std::shared_ptr<const MemoryOps> ops;
  size_t at;

  /// True if the command is over or failed.
  bool advance() {
    Context& context = *stream->context();
    if (context.failed() || context.is_stopping()) return true;
    at = ops->run(at, context);
    return at == ops->size();
  }
};

/// The thread that polls numbers for all waiting streams. Never destroyed, because the thread may
/// outlive all static objects.
class Watch {
 public:
  static Watch& instance() {
    static auto* const made = new Watch;
    return *made;
  }

  bool start() {
    const std::lock_guard lock(mutex_);
    if (!started_) started_ = start_thread("km-cpu-watch", kStackBytes, -1, [this] { run(); });
    return started_;
  }

  void add(Waiting waiting) {
    const std::lock_guard lock(mutex_);
    KM_ASSERT(started_ && waiting.at < waiting.ops->size(),
              "a stream waits for a value that no thread polls");
    waiting_.push_back(std::move(waiting));
    news_ = true;
    changed_.notify_one();
  }

  /// Called when a stream has written a number that another one may wait for.
  void note_write() {
    const std::lock_guard lock(mutex_);
    if (!is_looking_) return;
    news_ = true;
    changed_.notify_one();
  }

 private:
  void run() {
    const HostMemoryNeeded needed;
    uint32_t idle_turns = 0;
    std::vector<Waiting> mine;
    std::unique_lock lock(mutex_);
    for (;;) {
      pause(lock, mine.empty(), idle_turns);
      if (std::exchange(news_, false)) idle_turns = 0;
      std::move(waiting_.begin(), waiting_.end(), std::back_inserter(mine));
      waiting_.clear();
      is_looking_ = !mine.empty();
      lock.unlock();
      idle_turns = look(mine) ? 0 : idle_turns + 1;
      lock.lock();
    }
  }

  void pause(std::unique_lock<std::mutex>& lock, bool is_idle, uint32_t idle_turns) {
    if (is_idle) {
      changed_.wait(lock, [this] { return !waiting_.empty(); });
    } else if (idle_turns < kEagerTurns) {
      lock.unlock();
      sched_yield();
      lock.lock();
    } else {
      const auto time = std::min(kFirstPause * (idle_turns / kEagerTurns), kLastPause);
      changed_.wait_for(lock, time, [this] { return news_; });
    }
  }

  /// Continues the streams whose numbers have the expected values; true if there were any.
  static bool look(std::vector<Waiting>& mine) {
    const auto over =
        std::partition(mine.begin(), mine.end(), [](Waiting& each) { return !each.advance(); });
    std::vector<Stream*> streams;
    for (auto each = over; each != mine.end(); ++each) streams.push_back(each->stream);
    mine.erase(over, mine.end());
    for (Stream* stream : streams) stream->resume_light();
    return !streams.empty();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Waiting> waiting_;  // streams that the thread has not taken over yet
  bool news_ = false, is_looking_ = false, started_ = false;
};

}  // namespace

MemoryOps::MemoryOps(std::span<const kmb_memory_op> ops)
    : ops_(ops.begin(), ops.end()),
      has_waits_(std::any_of(ops.begin(), ops.end(),
                             [](const kmb_memory_op& op) { return op.kind != KMB_MEMORY_WRITE; })) {
}

Result<std::shared_ptr<const MemoryOps>> MemoryOps::make(std::span<const kmb_memory_op> ops) {
  std::shared_ptr<const MemoryOps> made(new MemoryOps(ops));
  if (!made->has_waits() || Watch::instance().start()) return made;
  return make_error(KM_ERROR_OUT_OF_HOST_MEMORY,
                    "cannot start the thread that waits for values: raise the limit on processes "
                    "(ulimit -u)");
}

size_t MemoryOps::run(size_t first, Context& context) const {
  KM_ASSERT(first <= ops_.size(), "operations continue after the last one");
  bool wrote = false;
  size_t at = first;
  keep_handler_in_front(now_ticks());
  for (; at < ops_.size(); ++at) {
    const kmb_memory_op& op = ops_[at];
    uint64_t found = 0;
    const bool writes = op.kind == KMB_MEMORY_WRITE;
    void* const place = reinterpret_cast<void*>(op.address);
    const bool reached = writes ? guarded_move_value(place, &op.value, op.value_size_bytes)
                                : guarded_move_value(&found, place, op.value_size_bytes);
    if (!reached) {
      context.fail(describe(op, context.allocations()), nullptr);
      at = ops_.size();
      break;
    }
    wrote |= writes;
    if (!writes && !is_over(op, found)) break;
  }
  if (wrote) Watch::instance().note_write();
  return at;
}

bool run_memory_ops(Stream* stream, const std::shared_ptr<const MemoryOps>& ops) {
  const size_t at = ops->run(0, *stream->context());
  if (at == ops->size()) return true;
  Watch::instance().add({stream, ops, at});
  return false;
}

km_status stream_memory_ops(kmb_stream* handle, const kmb_memory_op* ops, uint64_t count,
                            uint64_t* out_ticket, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Stream* stream = from(handle);
    KM_TRY(stream->context()->check());
    KM_ASSIGN(std::shared_ptr<const MemoryOps> made, MemoryOps::make({ops, count}));
    Command* command = new_command(stream, CommandKind::memory);
    command->has_more = true;
    command->memory_ops = std::move(made);
    *out_ticket = stream->submit_light(command);
    return {};
  });
}

}  // namespace km::cpu
