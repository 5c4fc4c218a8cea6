#include "backends/cpu/device/profile.h"

#include <algorithm>

#include "backends/cpu/device/context.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/graph/graph.h"
#include "backends/cpu/stream/task.h"
#include "backends/cpu/workers/thread_pool.h"

namespace km::cpu {
namespace {

kmb_profile_record record_of(const Stream* stream, uint64_t begin_ns) {
  kmb_profile_record record{};
  record.stream = stream;
  record.begin_ns = begin_ns;
  record.end_ns = now_ns();
  return record;
}

}  // namespace

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
  const bool is_task = command->kind == CommandKind::task;
  if (is_task || command->kind == CommandKind::kernel) {
    const auto threads = static_cast<float>(context.pool()->threads());
    const auto helpers = static_cast<float>(command->helpers.load(std::memory_order_relaxed));
    record.kind = KM_PROFILE_KIND_KERNEL;
    record.name = is_task ? command->task->name() : command->run.unit->name;
    record.occupancy = std::min(1.0F, (1 + helpers) / threads);
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
  context.record(record);
}

km_status context_profile(kmb_context* context, uint32_t on, kmb_profile_callback callback,
                          void* user_data, km_release_callback release, kmb_error*) {
  from(context)->set_profiling(on != 0, callback, user_data, release);
  return KM_SUCCESS;
}

}  // namespace km::cpu
