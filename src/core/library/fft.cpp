#include "core/library/fft.h"

#include "core/object/backend_call.h"

namespace km {

Result<Ref<FftPlan>> FftPlan::create(Context& context, const km_fft_shape& shape) {
  if (context.backend().fft_create == nullptr || context.backend().library_submit == nullptr) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "device %s has no Fourier transforms",
                      context.device().info().uri);
  }
  Ref<FftPlan> plan = Ref<FftPlan>::adopt(new FftPlan(context, shape));
  KM_TRY(
      call_backend(context.backend().fft_create, context.native(), &plan->shape_, &plan->native_));
  return plan;
}

FftPlan::~FftPlan() {
  if (native_ != nullptr) backend().fft_destroy(native_);
}

Result<Ref<Fft>> Fft::create(Stream& stream, const km_fft_shape& shape) {
  KM_ASSIGN(Ref<FftPlan> plan, FftPlan::create(stream.context(), shape));
  return Ref<Fft>::adopt(new Fft(stream, std::move(plan)));
}

}  // namespace km
