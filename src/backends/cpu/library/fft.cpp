// Tasks of km_fft calls, by the engine of src/math/fft.
#include <bit>
#include <new>

#include "backend/fft_layout.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/library/library.h"
#include "backends/cpu/library/staged_task.h"
#include "backends/cpu/stream/thread_pool.h"
#include "base/memory/host_allocator.h"
#include "math/fft/transform.h"

namespace km::cpu {
namespace {

/// The engine's plan, which tasks keep alive.
struct FftPlan {
  std::shared_ptr<const fft::Transform> transform;
};
FftPlan* from(kmb_fft* handle) { return reinterpret_cast<FftPlan*>(handle); }
kmb_fft* to(FftPlan* plan) { return reinterpret_cast<kmb_fft*>(plan); }

fft::TransformKind kind_of(km_fft_kind kind) {
  if (kind == KM_FFT_KIND_REAL_TO_COMPLEX) return fft::TransformKind::kRealToComplex;
  if (kind == KM_FFT_KIND_COMPLEX_TO_REAL) return fft::TransformKind::kComplexToReal;
  return fft::TransformKind::kComplex;
}

fft::Storage storage_of(km_data_type type) {
  switch (type) {
    case KM_DATA_TYPE_F16:
      return fft::Storage::kHalf;
    case KM_DATA_TYPE_BF16:
      return fft::Storage::kBfloat;
    case KM_DATA_TYPE_F64:
      return fft::Storage::kDouble;
    default:
      return fft::Storage::kFloat;
  }
}

fft::Axis axis_of(uint64_t n, uint64_t in, uint64_t out) {
  return {n, static_cast<int64_t>(in), static_cast<int64_t>(out)};
}

fft::TransformShape engine_shape(const km_fft_shape& shape) {
  fft::TransformShape made;
  made.kind = kind_of(shape.kind);
  made.is_double = shape.type == KM_DATA_TYPE_F64;
  made.in_storage = made.out_storage = storage_of(shape.type);
  const FftStrides in = fft_strides(shape, true), out = fft_strides(shape, false);
  for (uint32_t i = 0; i < shape.rank; ++i) {
    made.axes.push_back(axis_of(shape.sizes[i], in.of[i], out.of[i]));
  }
  if (shape.batch_count > 1) {
    made.batch.push_back(axis_of(shape.batch_count, shape.input.distance, shape.output.distance));
  }
  return made;
}

std::vector<uint64_t> pieces_of(const fft::Execution& execution) {
  std::vector<uint64_t> pieces;
  for (int stage = 0; stage < execution.stages(); ++stage) {
    pieces.push_back(execution.pieces(stage));
  }
  return pieces;
}

/// 5 n log2(n) for each complex transform of n numbers, and half of that for a real one.
uint64_t operations_of(const fft::TransformShape& shape) {
  uint64_t numbers = 1, batch = 1;
  for (const fft::Axis& axis : shape.axes) numbers *= axis.n;
  for (const fft::Axis& axis : shape.batch) batch *= axis.n;
  const uint64_t complex = 5 * numbers * static_cast<uint64_t>(std::bit_width(numbers) - 1) * batch;
  return shape.kind == fft::TransformKind::kComplex ? complex : complex / 2;
}

/// A transform of two arrays, with memory of its own beside them.
class FftTask final : public StagedTask {
 public:
  FftTask(const char* name, std::shared_ptr<const fft::Transform> transform,
          std::shared_ptr<const fft::Execution> execution)
      : StagedTask(pieces_of(*execution)),
        name_(name),
        transform_(std::move(transform)),
        execution_(std::move(execution)) {}
  const char* name() const override { return name_; }
  float estimated_ns() const override;
  uint64_t operations() const override { return operations_of(transform_->shape()); }

 private:
  Status run_stage(uint32_t stage, uint64_t piece) const override;

  const char* const name_;
  const std::shared_ptr<const fft::Transform> transform_;
  const std::shared_ptr<const fft::Execution> execution_;
};

float FftTask::estimated_ns() const {
  uint64_t ns = 0;
  for (int stage = 0; stage < execution_->stages(); ++stage) ns += execution_->estimated_ns(stage);
  return static_cast<float>(ns);
}

Status FftTask::run_stage(uint32_t stage, uint64_t piece) const {
  try {
    const HostMemoryOptional optional;
    execution_->prepare_thread(static_cast<int>(stage));
  } catch (const std::bad_alloc&) {
    return make_error(KM_ERROR_OUT_OF_HOST_MEMORY,
                      "%s: the host is out of memory for the lines of a thread", name_);
  }
  execution_->run(static_cast<int>(stage), piece);
  return {};
}

}  // namespace

Result<std::shared_ptr<const Task>> make_fft_task(const char* name, const kmb_fft_call& call,
                                                  uint32_t) {
  const std::shared_ptr<const fft::Transform>& transform = from(call.fft)->transform;
  fft::Binding binding;
  binding.in = reinterpret_cast<char*>(call.input);
  binding.out = reinterpret_cast<char*>(call.output);
  binding.is_inverse = call.direction == KM_FFT_DIRECTION_INVERSE;
  return std::shared_ptr<const Task>(
      std::make_shared<FftTask>(name, transform, transform->bind(binding)));
}

km_status fft_create(kmb_context* handle, const km_fft_shape* shape, kmb_fft** out_fft,
                     kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Context* context = from(handle);
    KM_TRY(context->check());
    auto plan = std::make_unique<FftPlan>();
    plan->transform = fft::make_transform(engine_shape(*shape), context->pool()->threads());
    plan->transform->prepare_unless_long();
    *out_fft = to(plan.release());
    return {};
  });
}

void fft_destroy(kmb_fft* fft) { const std::unique_ptr<FftPlan> last(from(fft)); }

}  // namespace km::cpu
