// Plans of Fourier transforms.
#pragma once

#include "core/stream/stream.h"

namespace km {

/// The backend's plan, which captured calls keep. It does not refer to the stream, as BlasEngine
/// does not.
class FftPlan final : public ContextChild {
 public:
  static Result<Ref<FftPlan>> create(Context& context, const km_fft_shape& shape);
  kmb_fft* native() const { return native_; }
  const km_fft_shape& shape() const { return shape_; }

 private:
  FftPlan(Context& context, const km_fft_shape& shape) : ContextChild(context), shape_(shape) {}
  ~FftPlan() override;

  const km_fft_shape shape_;
  kmb_fft* native_ = nullptr;
};

/// A plan in a stream.
class Fft final : public ContextChild {
 public:
  /// The shape is checked, and its layouts are complete.
  static Result<Ref<Fft>> create(Stream& stream, const km_fft_shape& shape);
  Stream& stream() const { return *stream_; }
  FftPlan& plan() const { return *plan_; }

 private:
  Fft(Stream& stream, Ref<FftPlan> plan)
      : ContextChild(stream.context()),
        stream_(Ref<Stream>::share(stream)),
        plan_(std::move(plan)) {}

  const Ref<Stream> stream_;
  const Ref<FftPlan> plan_;
};

}  // namespace km
