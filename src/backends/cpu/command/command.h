// One entry of a stream's queue.
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

/// True if commands of a kind take no time, on whatever thread.
constexpr bool is_light(CommandKind kind) {
  return kind == CommandKind::memory || kind == CommandKind::record || kind == CommandKind::wait ||
         kind == CommandKind::callback;
}

/// The rows of a transfer that is no single run of bytes.
struct TransferRows {
  uint64_t width_bytes = 0;
  uint64_t height = 0, count = 0;  // rows of a layer, and of all layers; 0: a single run
  uint64_t destination_pitch = 0, destination_layer = 0;
  uint64_t source_pitch = 0, source_layer = 0;
};

/// Bytes to move, or to fill with a repeated value.
struct Transfer {
  uint64_t destination = 0;
  uint64_t source = 0;  // copies
  uint64_t size_bytes = 0;
  uint32_t value = 0;             // fills
  uint32_t value_size_bytes = 0;  // 0: a copy
  TransferRows rows;
  km_profile_kind kind = KM_PROFILE_KIND_COPY;
  bool is_fill() const { return value_size_bytes != 0; }
};
/// A copy of rows.
Transfer rows_transfer(const kmb_copy_3d& copy);
/// A fill of rows.
Transfer rows_transfer(const kmb_fill_2d& fill);

/// Nodes are reused: which members count depends on the kind.
struct Command {
  static constexpr uint64_t kInlineParamBytes = 512;
  static constexpr uint32_t kNoEvent = UINT32_MAX;

  // The line of the cache that every command writes, its owner and its stream.
  std::atomic<Command*> next{nullptr};
  uint64_t ticket = 0;
  CommandKind kind = CommandKind::none;
  bool has_more = false;           // what release() frees is there
  Marker* marker = nullptr;        // record, wait: holds a reference
  CopyFailure* failure = nullptr;  // of the thread that waits for this copy; null: sticky
  km_host_callback callback = nullptr;
  void* user_data = nullptr;

  LaunchRun run;  // kernel; transfers use its range
  alignas(16) uint8_t params[kInlineParamBytes];

  // Behind the lines of the cache that every launch writes.
  Transfer transfer;                            // copy, fill
  std::shared_ptr<const GraphProgram> program;  // graph
  std::shared_ptr<const GraphLaunch> events;    // graph: of this launch, null: it has none
  uint32_t lane = 0, step = 0;                  // where it is
  uint32_t event_slot = kNoEvent;               // record, wait in a graph: whose event
  std::unique_ptr<uint8_t[]> staging;           // has_more: the source, copied
  std::unique_ptr<uint8_t[]> large_params;      // has_more
  std::shared_ptr<const Task> task;             // task, has_more
  std::shared_ptr<const MemoryOps> memory_ops;  // memory, has_more
  std::unique_ptr<FollowUps> launches;          // has_more: of a kernel that launches others
  bool in_turn = false;                         // all its nodes one after the other
  NodeUpdates* updates = nullptr;               // kernel in a graph: null: no kernel changes it
  kmb_branch branch{};                          // branch
  uint64_t begin_ns = 0;                        // for profiles; 0: it was not recorded
  std::atomic<uint32_t> helpers{0};             // threads that took part beside the first
  uint64_t call_begin_ns = 0, call_end_ns = 0;  // of the host's call, while a profile is made
  uint32_t host_thread = 0;                     // that made the call

  Command();
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// Room for `size_bytes` of launch arguments, null when memory is short.
  uint8_t* allocate_params(uint64_t size_bytes);
  /// Frees what the command owns (not the marker).
  void release();
};

/// Why a copy that somebody waits for could not be done.
struct CopyFailure {
  bool failed = false;
  uint64_t address = 0;
};

}  // namespace km::cpu
