// Fourier transforms.
#include "core/library/fft.h"

#include <cinttypes>

#include "api/guard.h"
#include "api/library/fft_shape.h"
#include "api/library/library_request.h"
#include "api/output.h"
#include "backend/fft_layout.h"

using namespace km;

namespace {

/// Fails if the device's memory is less than an array has, before tables of that length are made.
Status check_memory(const Device& device, const km_fft_shape& shape) {
  for (const bool is_input : {true, false}) {
    uint64_t bytes = 0;
    fft_region(shape, is_input).extent(&bytes);
    const uint64_t most = device.info().total_memory_bytes;
    if (bytes <= most) continue;
    return make_error(KM_ERROR_OUT_OF_DEVICE_MEMORY,
                      "shape->%s has %" PRIu64 " bytes; device %s has %" PRIu64,
                      is_input ? "input" : "output", bytes, device.info().uri, most);
  }
  return {};
}

/// Real transforms have one direction.
Status check_direction(km_fft_kind kind, km_fft_direction direction) {
  if (direction != KM_FFT_DIRECTION_FORWARD && direction != KM_FFT_DIRECTION_INVERSE) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "direction is %d; it can be %d (forward) or %d (inverse)", direction,
                      KM_FFT_DIRECTION_FORWARD, KM_FFT_DIRECTION_INVERSE);
  }
  if (kind == KM_FFT_KIND_REAL_TO_COMPLEX && direction != KM_FFT_DIRECTION_FORWARD) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "direction is %d; a transform from real to complex numbers is forward (%d); "
                      "the other way is one of kind KM_FFT_KIND_COMPLEX_TO_REAL",
                      direction, KM_FFT_DIRECTION_FORWARD);
  }
  if (kind == KM_FFT_KIND_COMPLEX_TO_REAL && direction != KM_FFT_DIRECTION_INVERSE) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "direction is %d; a transform from complex to real numbers is inverse (%d); "
                      "the other way is one of kind KM_FFT_KIND_REAL_TO_COMPLEX",
                      direction, KM_FFT_DIRECTION_INVERSE);
  }
  return {};
}

void add_array(LibraryRequest* request, const km_fft_shape& shape, const km_array* given,
               bool is_input, uint64_t* out_address) {
  const char* const name = is_input ? "input" : "output";
  if (given == nullptr) return request->fail(operand_is_null(name));
  const uint32_t element_bytes = fft_element_size(shape, is_input);
  request->place(name, place_of(*given), fft_region(shape, is_input), element_bytes, element_bytes,
                 {.is_written = !is_input, .may_be_output = is_input}, out_address);
}

}  // namespace

km_status km_fft_create(km_stream stream, const km_fft_shape* shape, km_fft* out_fft) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    KM_REQUIRE(shape);
    KM_REQUIRE(out_fft);
    KM_ASSIGN(const km_fft_shape complete, complete_fft_shape(*shape));
    KM_TRY(check_memory(target->context().device(), complete));
    KM_ASSIGN(Ref<Fft> created, Fft::create(*target, complete));
    return give_handle(std::move(created), out_fft);
  });
}

km_status km_fft_destroy(km_fft fft) noexcept {
  return guard(__func__, [&](Call&) { return destroy_handle(fft, "fft"); });
}

km_status km_fft_execute(km_fft fft, km_fft_direction direction, const km_array* input,
                         const km_array* output) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, fft);
    FftPlan& plan = target->plan();
    KM_TRY(check_direction(plan.shape().kind, direction));
    LibraryRequest request(call, "km_fft_execute", KMB_LIBRARY_FFT);
    request.set_owner(target->stream(), plan);
    kmb_fft_call& fft_call = request.call().fft;
    fft_call.fft = plan.native();
    fft_call.direction = direction;
    add_array(&request, plan.shape(), input, true, &fft_call.input);
    add_array(&request, plan.shape(), output, false, &fft_call.output);
    return request.submit();
  });
}
