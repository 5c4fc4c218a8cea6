#include "backends/cpu/stream/profile.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "backends/cpu/command/task.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/stream/counter_record.h"
#include "backends/cpu/stream/graph_program.h"
#include "backends/cpu/stream/thread_pool.h"
#include "backends/cpu/threads/futex.h"
#include "base/memory/host_allocator.h"

namespace km::cpu {
namespace {

uint32_t thread_id() {
  static thread_local const auto id = static_cast<uint32_t>(syscall(SYS_gettid));
  return id;
}

kmb_profile_record record_of(const Stream* stream, uint64_t begin_ns) {
  kmb_profile_record record{};
  record.stream = stream;
  record.begin_ns = begin_ns;
  record.end_ns = now_ns();
  return record;
}

void set_call(const Context& context, const Command& queued, kmb_profile_record* record) {
  if (queued.call_end_ns < context.profiling_since_ns()) return;
  record->call_begin_ns = queued.call_begin_ns;
  record->call_end_ns = queued.call_end_ns;
  record->host_thread = queued.host_thread;
}

void set_kernel(Context& context, const Command& command, kmb_profile_record* record) {
  const auto threads = static_cast<float>(context.pool()->threads());
  const auto helpers = static_cast<float>(command.helpers.load(std::memory_order_relaxed));
  record->kind = KM_PROFILE_KIND_KERNEL;
  record->occupancy = std::min(1.0F, (1 + helpers) / threads);
  if (command.kind == CommandKind::task) {
    record->name = command.task->name();
    record->operations = command.task->operations();
    return;
  }
  const simt::LaunchRecord& launch = command.run.record;
  record->name = command.run.unit->name;
  record->shared_bytes = launch.shared_dynamic_bytes;
  std::copy_n(launch.grid, 3, record->grid);
  std::copy_n(launch.block, 3, record->block);
}

/// Records a kernel whose warps were counted.
void record_counted(Context& context, Command& command, kmb_profile_record record) {
  const HostMemoryNeeded needed;
  const CounterRecord counted(*command.run.counters, *command.run.unit);
  command.run.counters.reset();
  set_kernel(context, command, &record);
  record.counters = counted.counters().data();
  record.counter_count = counted.counters().size();
  context.record(record);
}

}  // namespace

void note_call(Command& command) { command.call_begin_ns = now_ns(); }

void note_queued(const Context& context, Command& command) {
  command.call_end_ns = now_ns();
  command.host_thread = thread_id();
  // The profile may have started during the call.
  if (command.call_begin_ns < context.profiling_since_ns()) {
    command.call_begin_ns = command.call_end_ns;
  }
}

void note_begin(Command& command) {
  switch (command.kind) {
    case CommandKind::kernel:
    case CommandKind::transfer:
    case CommandKind::task:
    case CommandKind::callback:
      command.helpers.store(0, std::memory_order_relaxed);
      command.begin_ns = now_ns();
      break;
    default:
      break;
  }
}

void record_end(Context& context, const Stream* stream, Command& front) {
  Command* command = front.kind == CommandKind::graph ? front.program->step_of(front) : &front;
  if (command == nullptr || command->begin_ns == 0) return;
  kmb_profile_record record = record_of(stream, command->begin_ns);
  command->begin_ns = 0;
  set_call(context, front, &record);
  record.is_of_graph = front.kind == CommandKind::graph ? 1 : 0;
  if (command->kind == CommandKind::kernel && command->run.counters != nullptr) [[unlikely]] {
    return record_counted(context, *command, record);
  }
  if (command->kind == CommandKind::task || command->kind == CommandKind::kernel) {
    set_kernel(context, *command, &record);
  } else if (command->kind == CommandKind::transfer) {
    record.kind = command->transfer.kind;
    record.size_bytes = command->transfer.size_bytes;
  } else {
    record.kind = KM_PROFILE_KIND_CALLBACK;
  }
  context.record(record);
}

void record_transfer(Context& context, const Stream* stream, const Transfer& transfer,
                     uint64_t begin_ns) {
  kmb_profile_record record = record_of(stream, begin_ns);
  record.kind = transfer.kind;
  record.size_bytes = transfer.size_bytes;
  record.call_begin_ns = begin_ns;
  record.call_end_ns = record.end_ns;
  record.host_thread = thread_id();
  context.record(record);
}

void record_compilation(const Context& context, const std::string& name, uint64_t begin_ns) {
  if (!context.is_profiling()) return;
  kmb_profile_record record = record_of(nullptr, begin_ns);
  record.kind = KM_PROFILE_KIND_RANGE;
  record.name = name.c_str();
  record.host_thread = thread_id();
  context.record(record);
}

km_status context_profile(kmb_context* context, uint32_t on, kmb_profile_callback callback,
                          void* user_data, km_release_callback release, kmb_error*) {
  from(context)->set_profiling(on != 0, callback, user_data, release);
  return KM_SUCCESS;
}

km_status context_set_counters(kmb_context* context, uint32_t on, kmb_error*) {
  from(context)->count_warps(on != 0);
  return KM_SUCCESS;
}

}  // namespace km::cpu
