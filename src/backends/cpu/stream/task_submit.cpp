// The entry that queues tasks of libraries.
#include "backends/cpu/command/host_task.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/stream/stream.h"

namespace km::cpu {

km_status task_submit(kmb_stream* handle, const kmb_task* task, uint64_t* out_ticket,
                      kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Stream* stream = from(handle);
    KM_TRY(stream->context()->check());
    std::shared_ptr<const Task> made = make_host_task(*task, 0);
    Command* command = new_command(stream, CommandKind::task);
    command->has_more = true;
    command->task = std::move(made);
    *out_ticket = stream->submit(command);
    return {};
  });
}

}  // namespace km::cpu
