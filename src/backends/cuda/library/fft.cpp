// Plans and calls of Fourier transforms, by cuFFT.
#include <algorithm>
#include <mutex>

#include "backend/fft_layout.h"
#include "backends/cuda/driver/cufft.h"
#include "backends/cuda/driver/let_go.h"
#include "backends/cuda/library/library.h"
#include "base/log.h"
#include "base/memory/host_allocator.h"

namespace km::cuda {
namespace {

cufft_library::DataType native_type(km_data_type type, bool is_real) {
  switch (type) {
    case KM_DATA_TYPE_F16:
      return is_real ? cufft_library::kRealF16 : cufft_library::kComplexF16;
    case KM_DATA_TYPE_BF16:
      return is_real ? cufft_library::kRealBf16 : cufft_library::kComplexBf16;
    case KM_DATA_TYPE_F64:
      return is_real ? cufft_library::kRealF64 : cufft_library::kComplexF64;
    default:
      return is_real ? cufft_library::kRealF32 : cufft_library::kComplexF32;
  }
}

/// One side of a shape as cuFFT takes it.
struct NativeSide {
  long long embed[kMostFftRank] = {}, stride = 0, distance = 0;
  cufft_library::DataType type;

  NativeSide(const km_fft_shape& shape, bool is_input)
      : type(native_type(shape.type, fft_is_real(shape, is_input))) {
    const km_fft_layout& layout = fft_layout(shape, is_input);
    for (uint32_t i = 0; i < shape.rank; ++i) {
      embed[i] = static_cast<long long>(layout.extents[i]);
    }
    stride = static_cast<long long>(layout.stride);
    distance = static_cast<long long>(layout.distance);
  }
};

/// The bytes from the first element of the input to behind its last.
uint64_t input_bytes(const km_fft_shape& shape) {
  return (fft_span(shape, true) + (shape.batch_count - 1) * shape.input.distance) *
         fft_element_size(shape, true);
}

/// A plan of cuFFT, whose work area each call has for itself.
class Fft {
 public:
  Fft(std::shared_ptr<Epoch> epoch, const Cufft& library, const km_fft_shape& shape)
      : epoch_(std::move(epoch)), library_(library), shape_(shape) {}
  /// No call may be running.
  ~Fft();
  Fft(const Fft&) = delete;
  Fft& operator=(const Fft&) = delete;

  /// Makes the plan. The context must be current.
  Status make();
  /// Queues a call. The context must be alive and current.
  Status queue(const LibraryTarget& target, const kmb_fft_call& call);
  /// The last queued call, captured ones aside; without a stream before the first one.
  kmb_use last_use() const { return {to(last_stream_.get()), last_ticket_}; }

 private:
  Status check(const char* function, cufft_library::Status status) {
    if (status == cufft_library::kSuccess) [[likely]]
      return {};
    return library_error(*epoch_, fft_error(function, status));
  }
  bool needs_copy(const kmb_fft_call& call) const;

  const std::shared_ptr<Epoch> epoch_;
  const Cufft& library_;
  const km_fft_shape shape_;
  cufft_library::Plan plan_ = 0;
  bool is_made_ = false;
  cufft_library::Size work_bytes_ = 0;
  std::mutex mutex_;  // guards the members below, and the plan's stream and work area
  std::shared_ptr<Stream> last_stream_;
  uint64_t last_ticket_ = 0;
};

Fft::~Fft() {
  if (!is_made_ || epoch_->has_failed()) return;
  const Current current(*epoch_);
  const cufft_library::Status status = library_.cufftDestroy(plan_);
  if (status == cufft_library::kSuccess) return;
  log(LogLevel::kWarn, "cuda", "%s", fft_error("cufftDestroy", status).message.c_str());
}

Status Fft::make() {
  KM_TRY(check("cufftCreate", library_.cufftCreate(&plan_)));
  is_made_ = true;
  KM_TRY(check("cufftSetAutoAllocation", library_.cufftSetAutoAllocation(plan_, 0)));
  const NativeSide in(shape_, true), out(shape_, false);
  long long sizes[kMostFftRank] = {};
  for (uint32_t i = 0; i < shape_.rank; ++i) sizes[i] = static_cast<long long>(shape_.sizes[i]);
  return check(
      "cufftXtMakePlanMany",
      library_.cufftXtMakePlanMany(plan_, static_cast<int>(shape_.rank), sizes, in.embed, in.stride,
                                   in.distance, in.type, out.embed, out.stride, out.distance,
                                   out.type, static_cast<long long>(shape_.batch_count),
                                   &work_bytes_, native_type(shape_.type, false)));
}

/// cuFFT overwrites the input of a transform to real numbers of several dimensions, and transforms
/// in place only where both sides have the same places.
bool Fft::needs_copy(const kmb_fft_call& call) const {
  if (call.input == call.output) return !fft_sides_match(shape_);
  return shape_.kind == KM_FFT_KIND_COMPLEX_TO_REAL && shape_.rank > 1;
}

Status Fft::queue(const LibraryTarget& target, const kmb_fft_call& call) {
  const std::lock_guard lock(mutex_);
  if (target.queue != nullptr) {
    last_stream_ = target.queue->shared_from_this();
    last_ticket_ = target.queue->last_ticket() + 1;
  }
  uint64_t input = call.input, work = 0;
  if (needs_copy(call)) {
    const uint64_t bytes = input_bytes(shape_);
    KM_ASSIGN(input, target.scratch(bytes));
    KM_TRY(epoch_->check(driver().cuMemcpyDtoDAsync_v2(input, call.input, bytes, target.stream)));
  }
  if (work_bytes_ != 0) {
    KM_ASSIGN(work, target.scratch(work_bytes_));
  }
  KM_TRY(check("cufftSetStream", library_.cufftSetStream(plan_, target.stream)));
  if (work != 0) {
    KM_TRY(check("cufftSetWorkArea",
                 library_.cufftSetWorkArea(plan_, reinterpret_cast<cufft_library::Data>(work))));
  }
  const bool is_inverse = call.direction == KM_FFT_DIRECTION_INVERSE;
  return check("cufftXtExec", library_.cufftXtExec(
                                  plan_, reinterpret_cast<cufft_library::Data>(input),
                                  reinterpret_cast<cufft_library::Data>(call.output),
                                  is_inverse ? cufft_library::kInverse : cufft_library::kForward));
}

Fft* from(kmb_fft* fft) { return reinterpret_cast<Fft*>(fft); }

}  // namespace

Status queue_fft(const LibraryTarget& target, const kmb_fft_call& call) {
  return from(call.fft)->queue(target, call);
}

km_status fft_create(kmb_context* context, const km_fft_shape* shape, kmb_fft** out_fft,
                     kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(std::shared_ptr<Epoch> epoch, live_epoch(context));
    KM_ASSIGN(const Cufft* const library, Cufft::instance());
    const Current current(*epoch);
    KM_TRY(require_current(*epoch, current));
    auto made = std::make_unique<Fft>(std::move(epoch), *library, *shape);
    KM_TRY(made->make());
    *out_fft = reinterpret_cast<kmb_fft*>(made.release());
    return {};
  });
}

void fft_destroy(kmb_fft* handle) {
  const HostMemoryNeeded needed;  // the caller cannot handle a lack of memory
  std::shared_ptr<Fft> fft = share(std::unique_ptr<Fft>(from(handle)));
  const kmb_use last = fft->last_use();
  when_over(std::span(&last, last.stream != nullptr ? 1 : 0), [fft]() mutable { fft.reset(); });
}

}  // namespace km::cuda
