#include "dropin/cufft/plan/plan.h"

#include "dropin/cufft/plan/callbacks.h"
#include "dropin/library/work.h"

namespace km::cufft {
namespace {

/// A type of numbers.
struct NumberType {
  fft::Storage storage;
  bool is_complex;
};

bool find_type(cudaDataType type, NumberType* out) {
  switch (type) {
    case CUDA_R_16F:
      *out = {fft::Storage::kHalf, false};
      return true;
    case CUDA_C_16F:
      *out = {fft::Storage::kHalf, true};
      return true;
    case CUDA_R_16BF:
      *out = {fft::Storage::kBfloat, false};
      return true;
    case CUDA_C_16BF:
      *out = {fft::Storage::kBfloat, true};
      return true;
    case CUDA_R_32F:
      *out = {fft::Storage::kFloat, false};
      return true;
    case CUDA_C_32F:
      *out = {fft::Storage::kFloat, true};
      return true;
    case CUDA_R_64F:
      *out = {fft::Storage::kDouble, false};
      return true;
    case CUDA_C_64F:
      *out = {fft::Storage::kDouble, true};
      return true;
    default:
      return false;
  }
}

/// The distances of one side.
struct SideLayout {
  int64_t strides[kMostRank];
  int64_t distance;
};

/// Multiplies sizes; false if the product is no distance.
bool multiply(int64_t a, long long b, int64_t* out) {
  return !__builtin_mul_overflow(a, static_cast<int64_t>(b), out) && *out < int64_t{1} << 60;
}

/// The layout in which numbers lie without gaps. The rows of a real array may be padded to the
/// length of the complex ones.
bool basic_layout(const PlanRequest& r, bool is_complex, bool is_padded, SideLayout* out) {
  const bool is_halved = r.kind != fft::TransformKind::kComplex;
  int64_t step = 1;
  for (int i = r.rank; i-- > 0;) {
    long long n = r.n[i];
    if (i == r.rank - 1 && is_halved && is_complex) n = n / 2 + 1;
    if (i == r.rank - 1 && !is_complex && is_padded) n = (n / 2 + 1) * 2;
    out->strides[i] = step;
    if (!multiply(step, n, &step)) return false;
  }
  out->distance = step;
  return true;
}

bool advanced_layout(const PlanRequest& r, bool is_input, SideLayout* out) {
  const long long* const embed = is_input ? r.in_embed : r.out_embed;
  int64_t step = is_input ? r.in_stride : r.out_stride;
  for (int i = r.rank; i-- > 0;) {
    out->strides[i] = step;
    if (i > 0 && !multiply(step, embed[i], &step)) return false;
  }
  out->distance = is_input ? r.in_distance : r.out_distance;
  return true;
}

cufftResult check_sizes(const PlanRequest& r) {
  for (int i = 0; i < r.rank; ++i) {
    if (r.n[i] <= 0) return invalid_size("n[%d] is %lld", i, r.n[i]);
  }
  if (r.batch <= 0) return invalid_size("batch is %lld", r.batch);
  if (r.is_basic) return CUFFT_SUCCESS;
  for (int i = 1; i < r.rank; ++i) {
    if (r.in_embed[i] <= 0) return invalid("inembed[%d] is %lld", i, r.in_embed[i]);
    if (r.out_embed[i] <= 0) return invalid("onembed[%d] is %lld", i, r.out_embed[i]);
  }
  if (r.in_stride <= 0) return invalid("istride is %lld", r.in_stride);
  if (r.out_stride <= 0) return invalid("ostride is %lld", r.out_stride);
  if (r.in_distance < 0) return invalid("idist is %lld", r.in_distance);
  if (r.out_distance < 0) return invalid("odist is %lld", r.out_distance);
  return CUFFT_SUCCESS;
}

}  // namespace

cufftResult set_type(cufftType type, PlanRequest* request) {
  switch (type) {
    case CUFFT_C2C:
    case CUFFT_Z2Z:
      request->kind = fft::TransformKind::kComplex;
      break;
    case CUFFT_R2C:
    case CUFFT_D2Z:
      request->kind = fft::TransformKind::kRealToComplex;
      break;
    case CUFFT_C2R:
    case CUFFT_Z2D:
      request->kind = fft::TransformKind::kComplexToReal;
      break;
    default:
      return invalid("%d is no cufftType", static_cast<int>(type));
  }
  request->is_double = type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D;
  request->storage = request->is_double ? fft::Storage::kDouble : fft::Storage::kFloat;
  return CUFFT_SUCCESS;
}

cufftResult set_types(cudaDataType in, cudaDataType out, cudaDataType execution,
                      PlanRequest* request) {
  NumberType from{}, to{}, inner{};
  if (!find_type(in, &from) || !find_type(out, &to) || !find_type(execution, &inner) ||
      from.storage != to.storage || from.storage != inner.storage ||
      (!from.is_complex && !to.is_complex)) {
    return invalid("no transform is from type %d to type %d in type %d", static_cast<int>(in),
                   static_cast<int>(out), static_cast<int>(execution));
  }
  request->kind = !from.is_complex ? fft::TransformKind::kRealToComplex
                  : to.is_complex  ? fft::TransformKind::kComplex
                                   : fft::TransformKind::kComplexToReal;
  request->storage = from.storage;
  request->is_double = from.storage == fft::Storage::kDouble;
  return CUFFT_SUCCESS;
}

cufftResult shape_of(const PlanRequest& r, bool is_padded, fft::TransformShape* out) {
  LIB_TRY(check_sizes(r));
  out->kind = r.kind;
  out->is_double = r.is_double;
  out->in_storage = out->out_storage = r.storage;
  SideLayout from, to;
  const bool is_laid_out = r.is_basic
                               ? basic_layout(r, !out->is_real_in(), is_padded, &from) &&
                                     basic_layout(r, !out->is_real_out(), is_padded, &to)
                               : advanced_layout(r, true, &from) && advanced_layout(r, false, &to);
  if (!is_laid_out) return invalid_size("the arrays are larger than any memory");
  for (int i = 0; i < r.rank; ++i) {
    out->axes.push_back({static_cast<uint64_t>(r.n[i]), from.strides[i], to.strides[i]});
  }
  if (r.batch > 1) {
    out->batch.push_back({static_cast<uint64_t>(r.batch), from.distance, to.distance});
  }
  fft::Extent in_extent, out_extent;
  if (!fft::find_extents(*out, &in_extent, &out_extent)) {
    return invalid_size("the arrays are larger than any memory");
  }
  return CUFFT_SUCCESS;
}

namespace {

/// Fails if no device has memory for the arrays.
cufftResult check_memory(const fft::TransformShape& shape) {
  const Driver* const driver = library::driver();
  cu::CUdevice device = 0;
  size_t total = 0;
  if (driver == nullptr || driver->cuDeviceGet(&device, 0) != cu::CUDA_SUCCESS ||
      driver->cuDeviceTotalMem_v2(&total, device) != cu::CUDA_SUCCESS) {
    return frame::fail(CUFFT_SETUP_FAILED, "there is no device");
  }
  fft::Extent in, out;
  fft::find_extents(shape, &in, &out);
  if (in.above <= total && out.above <= total) return CUFFT_SUCCESS;
  return frame::fail(CUFFT_ALLOC_FAILED, "the arrays have %llu bytes, and the device %zu",
                     static_cast<unsigned long long>(in.above > out.above ? in.above : out.above),
                     total);
}

}  // namespace

cufftResult make_plan(Plan& plan, const PlanRequest& request) {
  if (plan.is_made()) return invalid_plan("the plan has already been made");
  fft::TransformShape shape, padded;
  LIB_TRY(shape_of(request, false, &shape));
  LIB_TRY(check_memory(shape));
  const uint32_t threads = library::worker_threads();
  std::shared_ptr<const fft::Transform> made = fft::make_transform(shape, threads);
  made->prepare_unless_long();
  if (request.is_basic && request.kind != fft::TransformKind::kComplex) {
    LIB_TRY(shape_of(request, true, &padded));
    plan.in_place = fft::make_transform(padded, threads);
  }
  plan.transform = std::move(made);
  plan.is_basic = request.is_basic;
  const cufftResult suits = check_callbacks(plan);
  if (suits != CUFFT_SUCCESS) plan.transform = nullptr;
  return suits;
}

cufftResult find_size(const PlanRequest& request, size_t* out) {
  fft::TransformShape shape;
  LIB_TRY(shape_of(request, false, &shape));
  LIB_TRY(check_memory(shape));
  *out = fft::make_transform(shape, library::worker_threads())->memory_bytes();
  return CUFFT_SUCCESS;
}

size_t work_bytes(const Plan& plan) { return plan.transform->memory_bytes(); }

}  // namespace km::cufft
