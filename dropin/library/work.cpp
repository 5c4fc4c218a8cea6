#include "dropin/library/work.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>

#include "base/assert.h"
#include "dropin/frame/call.h"

namespace km::library {
namespace {

// Work is shared by the calls, nodes and commands that hold it.
using SharedWork = std::shared_ptr<const Work>;

/// The data of a task: its work, counted once more for each reference that the driver holds.
struct TaskData {
  SharedWork work;
  std::atomic<uint32_t> references{1};
};

void retain(void* data) {
  static_cast<TaskData*>(data)->references.fetch_add(1, std::memory_order_relaxed);
}

void release(void* data) {
  auto* const task = static_cast<TaskData*>(data);
  if (task->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    const std::unique_ptr<TaskData> last(task);
  }
}

/// The data of one executable graph's node: work of its own, or the node's.
void* for_graph(void* data, uint64_t graph) {
  auto* const task = static_cast<TaskData*>(data);
  return frame::run<void*>(
      [&]() -> void* {
        SharedWork own = task->work->for_graph(graph);
        if (own == nullptr) {
          retain(data);
          return data;
        }
        KM_ASSERT(own->pieces() == task->work->pieces(), "work of a graph has the same pieces");
        auto made = std::make_unique<TaskData>();
        made->work = std::move(own);
        return made.release();
      },
      [](bool, const char*) -> void* { return nullptr; });
}

thread_local char failure_text[256];

km_status status_of_failure(cu::CUresult result) {
  switch (result) {
    case cu::CUDA_SUCCESS:
      return KM_SUCCESS;
    case cu::CUDA_ERROR_ILLEGAL_ADDRESS:
      return KM_ERROR_ILLEGAL_ADDRESS;
    case cu::CUDA_ERROR_OUT_OF_MEMORY:
      return KM_ERROR_OUT_OF_HOST_MEMORY;
    default:
      return KM_ERROR_LAUNCH_FAILED;
  }
}

km_status run_piece(void* data, uint64_t piece, kmb_error* error) {
  failure_text[0] = '\0';
  const cu::CUresult done = frame::run<cu::CUresult>(
      [&] { return static_cast<TaskData*>(data)->work->run(piece); },
      [](bool is_lack, const char* text) {
        return fail_work(is_lack ? cu::CUDA_ERROR_OUT_OF_MEMORY : cu::CUDA_ERROR_UNKNOWN, "%s",
                         text);
      });
  std::snprintf(error->message, sizeof error->message, "%s", failure_text);
  return status_of_failure(done);
}

/// The call keeps the work: its stream may go on, and drop the task, before start() returns.
uint32_t start(void* data, uint32_t may_wait, void (*resume)(void*), void* resume_data) {
  const SharedWork work = static_cast<TaskData*>(data)->work;
  return work->start(may_wait != 0, resume, resume_data) ? 1 : 0;
}

}  // namespace

cu::CUresult fail_work(cu::CUresult result, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(failure_text, sizeof failure_text, format, arguments);
  va_end(arguments);
  return result;
}

cu::CUresult submit(cu::CUstream stream, SharedWork work, std::span<const BlasArray> arrays) {
  KM_ASSERT(work != nullptr && work->pieces() != 0, "work has pieces");
  const Driver* const found = driver();
  if (found == nullptr || found->table == nullptr) {
    frame::explain(
        "this library works with Kernelmill's libcuda.so.1 only; run the program by "
        "`kernelmill exec`");
    return cu::CUDA_ERROR_NOT_SUPPORTED;
  }
  auto data = std::make_unique<TaskData>();
  const Work& queued = *work;
  data->work = std::move(work);
  const kmb_task task = {queued.name(),
                         data.get(),
                         queued.pieces(),
                         queued.estimated_ns(),
                         run_piece,
                         retain,
                         release,
                         for_graph,
                         queued.is_asynchronous() ? start : nullptr,
                         queued.begins_at_once() ? 1U : 0U};
  const cu::CUresult result =
      found->table->submit_task(stream, &task, arrays.data(), static_cast<uint32_t>(arrays.size()));
  release(data.release());
  return result;
}

BlasArray whole_array(const char* name, const void* address, uint64_t size_bytes,
                      bool is_written) noexcept {
  BlasArray array{};
  array.name = name;
  array.address = reinterpret_cast<uint64_t>(address);
  array.lines = 1;
  array.line_bytes = size_bytes;
  array.pitch_bytes = size_bytes;
  array.batch_count = 1;
  array.is_written = is_written;
  return array;
}

uint32_t worker_threads() noexcept {
  // The number does not change. Work::for_graph may not call the driver for it.
  static std::atomic<int> known{0};
  int threads = known.load(std::memory_order_relaxed);
  if (threads != 0) return static_cast<uint32_t>(threads);
  const Driver* const found = driver();
  if (found == nullptr || found->table == nullptr) return 1;
  threads = 1;
  found->cuDeviceGetAttribute(&threads, cu::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
  known.store(threads, std::memory_order_relaxed);
  return static_cast<uint32_t>(threads);
}

}  // namespace km::library
