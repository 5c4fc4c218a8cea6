// Entries of BLAS, whose calls become tasks of a stream.
#include "backends/cpu/blas/blas.h"

#include "backend/blas_numbers.h"
#include "backend/blas_operations.h"
#include "backends/cpu/blas/half_gemm.h"
#include "backends/cpu/config/config.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/stream/stream.h"
#include "backends/cpu/stream/thread_pool.h"

namespace km::cpu {
namespace {

class OpenBlasTask final : public Task {
 public:
  OpenBlasTask(const OpenBlas& library, const kmb_blas_call& call, uint32_t threads)
      : library_(library), call_(call), cut_(cut_blas(call, threads)) {}
  const char* name() const override { return blas_name(call_); }
  uint64_t operations() const override { return blas_operations(call_); }
  uint64_t pieces() const override { return cut_.pieces(); }
  float estimated_ns() const override { return blas_estimated_ns(call_); }
  Status run(uint64_t piece) const override {
    const bool has_values = !has_device_scalars(call_);
    run_blas_piece(library_, has_values ? call_ : read_device_scalars(call_), cut_, piece);
    return {};
  }
  void abandon() const override { OpenBlas::abandon(); }

 private:
  const OpenBlas& library_;
  const kmb_blas_call call_;
  const BlasCut cut_;
};

/// Reads a number of the call's type, or only its real part, if `address` is not 0.
void read_scalar(const kmb_blas_call& call, uint64_t address, bool is_real, double (&out)[2]) {
  if (address == 0) return;
  const auto* const place = reinterpret_cast<const void*>(address);
  out[0] = real_at(place, 0, is_double(call.type));
  out[1] = is_complex(call.type) && !is_real ? real_at(place, 1, is_double(call.type)) : 0;
}

}  // namespace

kmb_blas_call read_device_scalars(const kmb_blas_call& call) {
  kmb_blas_call result = call;
  const kmb_blas_device_scalars& scalars = call.device_scalars;
  read_scalar(call, scalars.alpha, scalars.has_real_alpha != 0, result.alpha);
  read_scalar(call, scalars.beta, scalars.has_real_beta != 0, result.beta);
  const uint32_t count = call.routine == KMB_BLAS_ROTM ? 5 : 1;
  for (uint32_t first = 0; first < 2; ++first) {
    if (scalars.rotation[first] == 0) continue;
    const auto* const place = reinterpret_cast<const void*>(scalars.rotation[first]);
    for (uint32_t i = 0; i < count; ++i) {
      result.rotation[first + i] = real_at(place, i, is_double(call.type));
    }
  }
  return result;
}

Result<std::shared_ptr<const Task>> make_blas_task(const kmb_blas_call& call, uint32_t threads) {
  if (config().deterministic) threads = 1;  // the cut may change the order of a sum
  // One piece reads the scalar before it overwrites it.
  if (call.device_scalars.is_overwritten != 0) threads = 1;
  if (call.type == KM_DATA_TYPE_F16 || call.type == KM_DATA_TYPE_BF16) {
    return make_half_gemm_task(call, threads);
  }
  KM_ASSIGN(const OpenBlas* const library, OpenBlas::instance());
  KM_TRY(library->check(call.routine, call.type));
  return std::shared_ptr<const Task>(std::make_shared<OpenBlasTask>(*library, call, threads));
}

km_status blas_create(kmb_context* context, kmb_blas** out_blas, kmb_error*) {
  *out_blas = reinterpret_cast<kmb_blas*>(context);  // calls need only the context
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
    *out_ticket = queue_task(*stream, std::move(task));
    return {};
  });
}

}  // namespace km::cpu
