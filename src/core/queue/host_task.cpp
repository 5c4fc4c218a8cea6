#include "core/queue/host_task.h"

#include "core/graph/graph_capture.h"
#include "core/graph/graph_work.h"
#include "core/object/backend_call.h"

namespace km {

Status submit_task(Stream& stream, const kmb_task& task, std::span<MemoryUse> uses) {
  KM_ASSERT(task.pieces != 0 && task.run != nullptr, "a task has pieces and a function");
  if (stream.backend().task_submit == nullptr) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "%s: this device does not run work of the host",
                      task.name);
  }
  for (const MemoryUse& use : uses) {
    if (use.memory != nullptr && use.range.kind == AccessKind::kWrite) {
      KM_TRY(use.memory->require_writable(task.name));
    }
  }
  if (stream.is_capturing()) [[unlikely]]
    return capture_result(stream, task_work(stream.context(), task, uses));
  return submit(stream, uses, [&](Submission&, uint64_t* ticket) {
    return call_backend(stream.backend().task_submit, stream.native(), &task, ticket);
  });
}

}  // namespace km
