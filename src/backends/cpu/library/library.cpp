#include "backends/cpu/library/library.h"

#include "backends/cpu/device/context.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/stream/stream.h"
#include "backends/cpu/stream/thread_pool.h"

namespace km::cpu {

Result<std::shared_ptr<const Task>> make_library_task(const kmb_library_call& call,
                                                      uint32_t threads) {
  switch (call.kind) {
    case KMB_LIBRARY_FFT:
      return make_fft_task(call.name, call.fft, threads);
    case KMB_LIBRARY_SPARSE:
      return make_sparse_task(call.name, call.sparse, threads);
    case KMB_LIBRARY_SOLVE:
      return make_solve_task(call.name, call.solve, threads);
    case KMB_LIBRARY_COMM:
      return make_comm_task(call.name, call.comm);
  }
  return make_error(KM_ERROR_NOT_SUPPORTED, "the cpu backend has no library of kind %d",
                    static_cast<int>(call.kind));
}

km_status library_submit(kmb_stream* handle, const kmb_library_call* call, uint64_t* out_ticket,
                         kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Stream* stream = from(handle);
    Context* context = stream->context();
    KM_TRY(context->check());
    KM_ASSIGN(std::shared_ptr<const Task> task,
              make_library_task(*call, context->pool()->threads()));
    *out_ticket = queue_task(*stream, std::move(task));
    return {};
  });
}

}  // namespace km::cpu
