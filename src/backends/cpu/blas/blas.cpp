// Entries of BLAS, and its calls as work of a stream.
#include "backends/cpu/blas/blas.h"

#include "backend/blas_operations.h"
#include "backends/cpu/blas/half_gemm.h"
#include "backends/cpu/device/config.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/stream/stream.h"
#include "backends/cpu/workers/thread_pool.h"

namespace km::cpu {
namespace {

class OpenBlasTask final : public Task {
 public:
  OpenBlasTask(const OpenBlas& library, const kmb_blas_call& call, uint32_t threads)
      : library_(library), call_(call), cut_(cut_blas(call, threads)) {}
  const char* name() const override { return blas_name(call_); }
  uint64_t operations() const override { return blas_operations(call_); }
  uint64_t pieces() const override { return cut_.pieces(); }
  float ticks() const override { return blas_ticks(call_); }
  Status run(uint64_t piece) const override {
    run_blas_piece(library_, call_, cut_, piece);
    return {};
  }
  void abandon() const override { OpenBlas::abandon(); }

 private:
  const OpenBlas& library_;
  const kmb_blas_call call_;
  const BlasCut cut_;
};

}  // namespace

Result<std::shared_ptr<const Task>> make_blas_task(const kmb_blas_call& call, uint32_t threads) {
  if (config().deterministic) threads = 1;  // how a sum is made may depend on the cut
  if (call.type == KM_DATA_TYPE_F16 || call.type == KM_DATA_TYPE_BF16) {
    return make_half_gemm_task(call, threads);
  }
  KM_ASSIGN(const OpenBlas* const library, OpenBlas::instance());
  KM_TRY(library->check(call.routine, call.type));
  return std::shared_ptr<const Task>(std::make_shared<OpenBlasTask>(*library, call, threads));
}

km_status blas_create(kmb_context* context, kmb_blas** out_blas, kmb_error*) {
  *out_blas = reinterpret_cast<kmb_blas*>(context);  // calls need nothing of their object
  return KM_SUCCESS;
}

void blas_destroy(kmb_blas*) {}

km_status blas_submit(kmb_blas*, kmb_stream* handle, const kmb_blas_call* call,
                      uint64_t* out_ticket, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Stream* stream = from(handle);
    Context* context = stream->context();
    KM_TRY(context->check());
    KM_ASSIGN(std::shared_ptr<const Task> task, make_blas_task(*call, context->pool()->threads()));
    Command* command = new_command(stream, CommandKind::task);
    command->has_more = true;
    command->task = std::move(task);
    *out_ticket = stream->submit(command);
    return {};
  });
}

}  // namespace km::cpu
