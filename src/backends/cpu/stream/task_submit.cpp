#include "backends/cpu/stream/stream.h"

#include "backends/cpu/command/host_task.h"
#include "backends/cpu/command/work.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/device/entries.h"

namespace km::cpu {

uint64_t queue_task(Stream& stream, std::shared_ptr<const Task> task) {
  Command* command = new_command(&stream, CommandKind::task);
  command->has_more = true;
  command->task = std::move(task);
  return is_light(*command) ? stream.submit_light(command) : stream.submit(command);
}

km_status task_submit(kmb_stream* handle, const kmb_task* task, uint64_t* out_ticket,
                      kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Stream* stream = from(handle);
    KM_TRY(stream->context()->check());
    *out_ticket = queue_task(*stream, make_host_task(*task, 0));
    return {};
  });
}

}  // namespace km::cpu
