// Commands: the entries of a stream's queue.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "backend/interface.h"
#include "backends/cpu/command/follow_ups.h"
#include "backends/cpu/execution/launch_run.h"

namespace km::cpu {

class Marker;
struct CopyFailure;
struct GraphLaunch;
struct GraphProgram;
class MemoryOps;
struct QueuedOperation;
class Task;

enum class CommandKind : uint8_t {
  none,
  kernel,
  transfer,
  record,
  wait,
  callback,
  graph,
  task,
  memory,
  branch,
  close
};

/// True for kinds of commands that take no time, so that any thread may run them.
constexpr bool is_light(CommandKind kind) {
  return kind == CommandKind::memory || kind == CommandKind::record || kind == CommandKind::wait ||
         kind == CommandKind::callback;
}

/// The rows of a transfer that is not contiguous.
struct TransferRows {
  uint64_t width_bytes = 0;
  uint64_t height = 0, count = 0;  // rows of a layer, and of all layers; 0: a contiguous transfer
  uint64_t destination_pitch = 0, destination_layer = 0;
  uint64_t source_pitch = 0, source_layer = 0;
};

/// Bytes to copy, or to fill with a repeated value.
struct Transfer {
  uint64_t destination = 0;
  uint64_t source = 0;  // for copies
  uint64_t size_bytes = 0;
  uint32_t value = 0;             // for fills
  uint32_t value_size_bytes = 0;  // 0: a copy
  TransferRows rows;
  km_profile_kind kind = KM_PROFILE_KIND_COPY;
  bool is_fill() const { return value_size_bytes != 0; }
};
/// Converts a copy of rows.
Transfer rows_transfer(const kmb_copy_3d& copy);
/// Converts a fill of rows.
Transfer rows_transfer(const kmb_fill_2d& fill);

/// Commands are reused; the kind decides which members are valid.
struct Command {
  static constexpr uint64_t kInlineParamBytes = 512;
  static constexpr uint32_t kNoEvent = UINT32_MAX;

  // The first cache line, which every command's owner and stream write.
  std::atomic<Command*> next{nullptr};
  uint64_t ticket = 0;
  CommandKind kind = CommandKind::none;
  bool has_more = false;     // release() has something to free
  Marker* marker = nullptr;  // for record and wait: holds a reference
  // Receives this copy's failure, for the thread that waits; null: the failure becomes sticky.
  CopyFailure* failure = nullptr;
  km_host_callback callback = nullptr;
  void* user_data = nullptr;

  LaunchRun run;  // for kernels; transfers use its range
  alignas(16) uint8_t params[kInlineParamBytes];

  // The members below follow the cache lines that every launch writes.
  Transfer transfer;                            // for copies and fills
  std::shared_ptr<const GraphProgram> program;  // for graphs
  std::shared_ptr<const GraphLaunch> events;    // for graphs: the events of this launch; null: none
  uint32_t lane = 0, step = 0;                  // for graphs: the current position
  uint32_t event_slot = kNoEvent;               // for record and wait in a graph: the event's slot
  std::unique_ptr<uint8_t[]> staging;           // with has_more: a copy of the source
  std::unique_ptr<uint8_t[]> large_params;      // with has_more
  std::shared_ptr<const Task> task;             // for tasks; with has_more
  std::shared_ptr<const MemoryOps> memory_ops;  // for memory operations; with has_more
  // With has_more: the launches of a kernel that launches others.
  std::unique_ptr<FollowUps> launches;
  // With has_more: what the checker of the order of streams knows of it.
  std::shared_ptr<QueuedOperation> operation;
  bool in_turn = false;              // the nodes run one after the other in one lane
  NodeUpdates* updates = nullptr;    // for kernels in a graph; null: kernels do not change it
  kmb_branch branch{};               // for branches
  uint64_t begin_ns = 0;             // for profiles; 0: no profile was running
  std::atomic<uint32_t> helpers{0};  // threads that took part beside the first one
  uint64_t call_begin_ns = 0, call_end_ns = 0;  // of the host's call, while a profile runs
  uint32_t host_thread = 0;                     // the thread that made the call

  Command();
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// Room for `size_bytes` of launch arguments; null without memory.
  uint8_t* allocate_params(uint64_t size_bytes);
  /// Frees everything that the command owns except the marker.
  void release();
};

/// The reason why a copy that a thread waits for failed.
struct CopyFailure {
  bool failed = false;
  uint64_t address = 0;
};

}  // namespace km::cpu
