#include "backends/cuda/blas/blas_call.h"

#include <cstdlib>

#include "backend/blas_numbers.h"
#include "backends/cuda/blas/blas_columns.h"
#include "backends/cuda/module/launch.h"

namespace km::cuda {
namespace {

bool is_half(km_data_type type) { return type == KM_DATA_TYPE_F16 || type == KM_DATA_TYPE_BF16; }
bool has_result(kmb_blas_routine routine) {
  return routine >= KMB_BLAS_DOT && routine <= KMB_BLAS_IAMAX;
}

/// Scalars of the host in the type that cuBLAS reads through a pointer. They are aligned to 16
/// bytes, because cuBLAS reads some with instructions that need this.
class Scalars {
 public:
  Scalars(const double* values, int count, km_data_type type) : is_double_(is_double(type)) {
    for (int i = 0; i < count; ++i) {
      if (is_double_) {
        doubles_[i] = values[i];
      } else {
        floats_[i] = static_cast<float>(values[i]);
      }
    }
  }
  cublas::Data data() const { return is_double_ ? static_cast<cublas::Data>(doubles_) : floats_; }

 private:
  static constexpr size_t kAlignBytes = 16;
  alignas(kAlignBytes) double doubles_[5] = {};
  alignas(kAlignBytes) float floats_[5] = {};
  const bool is_double_;
};

/// Queues a column-major call.
class Caller {
 public:
  Caller(const Cublas& library, cublas::Handle handle, const kmb_blas_call& call)
      : library_(library),
        handle_(handle),
        call_(call),
        alpha_(call.alpha, 2, call.type),
        beta_(call.beta, 2, call.type),
        rotation_(call.rotation, 5, call.type),
        sine_(call.rotation + 1, 1, call.type) {
    if (is_half(call.type)) return;
    function_ = library.routine(call.routine, call.type);
    name_ = cublas_name(call.routine, call.type);
  }

  BlasCalled run();
  /// Calls another routine with the same handle and type.
  template <class Form, class... Arguments>
  BlasCalled invoke(kmb_blas_routine routine, km_data_type type, Arguments... arguments) {
    const auto function = reinterpret_cast<Form>(library_.routine(routine, type));
    return {function(handle_, arguments...), cublas_name(routine, type)};
  }

 private:
  template <class Form, class... Arguments>
  BlasCalled invoke(Arguments... arguments) {
    return {reinterpret_cast<Form>(function_)(handle_, arguments...), name_};
  }
  static int number(uint64_t value) { return static_cast<int>(value); }  // at most INT32_MAX
  int m() const { return number(call_.m); }
  int n() const { return number(call_.n); }
  int k() const { return number(call_.k); }
  int batch() const { return number(call_.batch_count); }
  static cublas::Data data(const kmb_blas_array& array) {
    return reinterpret_cast<cublas::Data>(array.address);
  }
  cublas::Data a() const { return data(call_.a); }
  cublas::Data b() const { return data(call_.b); }
  cublas::Data c() const { return data(call_.c); }
  int lda() const { return static_cast<int>(call_.a.step); }
  int ldb() const { return static_cast<int>(call_.b.step); }
  int ldc() const { return static_cast<int>(call_.c.step); }
  static long long stride(const kmb_blas_array& array) {
    return static_cast<long long>(array.stride);
  }
  cublas::Data alpha() const { return alpha_.data(); }
  cublas::Data beta() const { return beta_.data(); }
  /// Converts the operation to cuBLAS's number. For real types both transpositions are equal.
  cublas::Operation native(km_blas_operation operation) const {
    if (operation == KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE && is_complex(call_.type)) {
      return cublas::kConjugateTranspose;
    }
    return operation == KM_BLAS_OPERATION_NONE ? cublas::kPlain : cublas::kTranspose;
  }
  cublas::Operation operation() const { return native(call_.operation_a); }
  cublas::Operation operation_b() const { return native(call_.operation_b); }
  cublas::Fill fill() const {
    return call_.triangle == KM_BLAS_TRIANGLE_UPPER ? cublas::kUpper : cublas::kLower;
  }
  cublas::Diagonal diagonal() const {
    return call_.diagonal == KM_BLAS_DIAGONAL_UNIT ? cublas::kUnit : cublas::kNonUnit;
  }
  cublas::Side side() const {
    return call_.side == KM_BLAS_SIDE_RIGHT ? cublas::kRight : cublas::kLeft;
  }

  BlasCalled level1();
  BlasCalled level2();
  BlasCalled triangular_vector();
  BlasCalled rank_update();
  BlasCalled level3();
  BlasCalled products();
  BlasCalled half_products();

  const Cublas& library_;
  const cublas::Handle handle_;
  const kmb_blas_call& call_;
  const Scalars alpha_, beta_, rotation_, sine_;
  void* function_ = nullptr;
  const char* name_ = nullptr;
};

BlasCalled Caller::run() {
  if (call_.routine <= KMB_BLAS_ROTM) return level1();
  if (call_.routine <= KMB_BLAS_SPR2) return level2();
  return level3();
}

BlasCalled Caller::level1() {
  switch (call_.routine) {
    case KMB_BLAS_AXPY:
      return invoke<cublas::AXPY>(n(), alpha(), b(), ldb(), c(), ldc());
    case KMB_BLAS_SCAL:
      return invoke<cublas::SCAL>(n(), alpha(), b(), ldb());
    case KMB_BLAS_COPY:
    case KMB_BLAS_SWAP:
      return invoke<cublas::COPY>(n(), b(), ldb(), c(), ldc());
    case KMB_BLAS_ROT:
      return invoke<cublas::ROT>(n(), b(), ldb(), c(), ldc(), rotation_.data(), sine_.data());
    case KMB_BLAS_ROTM:
      return invoke<cublas::ROTM>(n(), b(), ldb(), c(), ldc(), rotation_.data());
    case KMB_BLAS_DOT:
    case KMB_BLAS_DOTC:
      return invoke<cublas::DOT>(n(), a(), lda(), b(), ldb(), c());
    default:  // NRM2, ASUM, IAMAX
      return invoke<cublas::NRM2>(n(), b(), ldb(), c());
  }
}

BlasCalled Caller::level2() {
  switch (call_.routine) {
    case KMB_BLAS_GEMV:
      return invoke<cublas::GEMV>(operation(), m(), n(), alpha(), a(), lda(), b(), ldb(), beta(),
                                  c(), ldc());
    case KMB_BLAS_GBMV:
      return invoke<cublas::GBMV>(operation(), m(), n(), number(call_.lower), number(call_.upper),
                                  alpha(), a(), lda(), b(), ldb(), beta(), c(), ldc());
    case KMB_BLAS_SYMV:
      return invoke<cublas::SYMV>(fill(), n(), alpha(), a(), lda(), b(), ldb(), beta(), c(), ldc());
    case KMB_BLAS_SBMV:
      return invoke<cublas::SBMV>(fill(), n(), k(), alpha(), a(), lda(), b(), ldb(), beta(), c(),
                                  ldc());
    case KMB_BLAS_SPMV:
      return invoke<cublas::SPMV>(fill(), n(), alpha(), a(), b(), ldb(), beta(), c(), ldc());
    default:
      return call_.routine <= KMB_BLAS_TPSV ? triangular_vector() : rank_update();
  }
}

BlasCalled Caller::triangular_vector() {
  switch (call_.routine) {
    case KMB_BLAS_TBMV:
    case KMB_BLAS_TBSV:
      return invoke<cublas::TBMV>(fill(), operation(), diagonal(), n(), k(), a(), lda(), b(),
                                  ldb());
    case KMB_BLAS_TPMV:
    case KMB_BLAS_TPSV:
      return invoke<cublas::TPMV>(fill(), operation(), diagonal(), n(), a(), b(), ldb());
    default:  // TRMV, TRSV
      return invoke<cublas::TRMV>(fill(), operation(), diagonal(), n(), a(), lda(), b(), ldb());
  }
}

BlasCalled Caller::rank_update() {
  switch (call_.routine) {
    case KMB_BLAS_GER:
    case KMB_BLAS_GERC:
      return invoke<cublas::GER>(m(), n(), alpha(), b(), ldb(), c(), ldc(), a(), lda());
    case KMB_BLAS_SYR:
      return invoke<cublas::SYR>(fill(), n(), alpha(), b(), ldb(), a(), lda());
    case KMB_BLAS_SYR2:
      return invoke<cublas::SYR2>(fill(), n(), alpha(), b(), ldb(), c(), ldc(), a(), lda());
    case KMB_BLAS_SPR:
      return invoke<cublas::SPR>(fill(), n(), alpha(), b(), ldb(), a());
    default:  // SPR2
      return invoke<cublas::SPR2>(fill(), n(), alpha(), b(), ldb(), c(), ldc(), a());
  }
}

BlasCalled Caller::level3() {
  switch (call_.routine) {
    case KMB_BLAS_GEMM:
      return is_half(call_.type) ? half_products() : products();
    case KMB_BLAS_SYMM:
    case KMB_BLAS_HEMM:
      return invoke<cublas::SYMM>(side(), fill(), m(), n(), alpha(), a(), lda(), b(), ldb(), beta(),
                                  c(), ldc());
    case KMB_BLAS_SYRK:
    case KMB_BLAS_HERK:
      return invoke<cublas::SYRK>(fill(), operation(), n(), k(), alpha(), a(), lda(), beta(), c(),
                                  ldc());
    case KMB_BLAS_SYR2K:
    case KMB_BLAS_HER2K:
      return invoke<cublas::SYR2K>(fill(), operation(), n(), k(), alpha(), a(), lda(), b(), ldb(),
                                   beta(), c(), ldc());
    case KMB_BLAS_TRMM:  // in place: cuBLAS takes B as both input and output
      return invoke<cublas::TRMM>(side(), fill(), operation(), diagonal(), m(), n(), alpha(), a(),
                                  lda(), b(), ldb(), b(), ldb());
    default:  // TRSM
      return invoke<cublas::TRSM>(side(), fill(), operation(), diagonal(), m(), n(), alpha(), a(),
                                  lda(), b(), ldb());
  }
}

BlasCalled Caller::products() {
  if (call_.batch_count == 1) {
    return invoke<cublas::GEMM>(operation(), operation_b(), m(), n(), k(), alpha(), a(), lda(), b(),
                                ldb(), beta(), c(), ldc());
  }
  return {library_.batches(call_.type)(handle_, operation(), operation_b(), m(), n(), k(), alpha(),
                                       a(), lda(), stride(call_.a), b(), ldb(), stride(call_.b),
                                       beta(), c(), ldc(), stride(call_.c), batch()),
          "cublas<t>gemmStridedBatched"};
}

BlasCalled Caller::half_products() {
  const cublas::DataType type = call_.type == KM_DATA_TYPE_F16 ? cublas::kF16 : cublas::kBf16;
  if (call_.batch_count == 1) {
    return {library_.cublasGemmEx(handle_, operation(), operation_b(), m(), n(), k(), alpha(), a(),
                                  type, lda(), b(), type, ldb(), beta(), c(), type, ldc(),
                                  cublas::kCompute32f, cublas::kDefaultAlgorithm),
            "cublasGemmEx"};
  }
  return {library_.cublasGemmStridedBatchedEx(
              handle_, operation(), operation_b(), m(), n(), k(), alpha(), a(), type, lda(),
              stride(call_.a), b(), type, ldb(), stride(call_.b), beta(), c(), type, ldc(),
              stride(call_.c), batch(), cublas::kCompute32f, cublas::kDefaultAlgorithm),
          "cublasGemmStridedBatchedEx"};
}

/// Conjugates vectors before and after a call.
class Conjugation {
 public:
  Conjugation(Epoch& epoch, const Cublas& library, cublas::Handle handle, ColumnCall* turned)
      : epoch_(epoch),
        turned_(*turned),
        call_(turned->call),
        caller_(library, handle, call_),
        real_(is_double(call_.type) ? KM_DATA_TYPE_F64 : KM_DATA_TYPE_F32) {}

  Status before(const BlasScratch& scratch);
  Status after();

 private:
  /// The length of x in A x and in x y^T, and that of y in x y^T.
  uint64_t length_b() const { return call_.routine == KMB_BLAS_GER ? call_.m : call_.n; }
  uint64_t length_c() const {
    return call_.routine == KMB_BLAS_GEMV || call_.routine == KMB_BLAS_GBMV ? call_.m : call_.n;
  }
  uint64_t element_bytes() const { return is_double(call_.type) ? 16 : 8; }
  Status conjugate(const kmb_blas_array& vector, uint64_t length);
  Status copy(kmb_blas_array* vector, uint64_t length, uint64_t to);

  Epoch& epoch_;
  ColumnCall& turned_;
  kmb_blas_call& call_;
  Caller caller_;
  const km_data_type real_;
};

/// Works in place by negating the imaginary parts.
Status Conjugation::conjugate(const kmb_blas_array& vector, uint64_t length) {
  const int64_t step = 2 * std::abs(vector.step);
  if (step > INT32_MAX && length > 1) {
    return make_error(KM_ERROR_NOT_SUPPORTED,
                      "by rows, cuBLAS cannot conjugate a vector with an increment of %lld: use "
                      "the layout of columns",
                      static_cast<long long>(vector.step));
  }
  const double minus_one = -1;
  const Scalars factor(&minus_one, 1, real_);
  const auto data = reinterpret_cast<cublas::Data>(vector.address + element_bytes() / 2);
  return check_blas(epoch_, caller_.invoke<cublas::SCAL>(
                                KMB_BLAS_SCAL, real_, static_cast<int>(length), factor.data(), data,
                                static_cast<int>(length > 1 ? step : 1)));
}

Status Conjugation::copy(kmb_blas_array* vector, uint64_t length, uint64_t to) {
  const auto from = reinterpret_cast<cublas::Data>(vector->address);
  KM_TRY(check_blas(
      epoch_, caller_.invoke<cublas::COPY>(KMB_BLAS_COPY, call_.type, static_cast<int>(length),
                                           from, static_cast<int>(vector->step),
                                           reinterpret_cast<cublas::Data>(to), 1)));
  *vector = {to, 1, 0};
  return conjugate(*vector, length);
}

Status Conjugation::before(const BlasScratch& scratch) {
  const uint64_t b_bytes = turned_.conjugates_b ? length_b() * element_bytes() : 0;
  const uint64_t c_bytes = turned_.conjugates_c ? length_c() * element_bytes() : 0;
  if (b_bytes + c_bytes != 0) {
    KM_ASSIGN(const uint64_t place, scratch(b_bytes + c_bytes));
    if (b_bytes != 0) KM_TRY(copy(&call_.b, length_b(), place));
    if (c_bytes != 0) KM_TRY(copy(&call_.c, length_c(), place + b_bytes));
  }
  return after();
}

Status Conjugation::after() {
  if (turned_.turns_b) KM_TRY(conjugate(call_.b, length_b()));
  if (turned_.turns_c) KM_TRY(conjugate(call_.c, length_c()));
  return {};
}

/// The results of an empty vector: zeros, and for an index all ones.
Status queue_empty_result(Epoch& epoch, const BlasHandle& handle, const kmb_blas_call& call) {
  const bool is_index = call.routine == KMB_BLAS_IAMAX;
  const bool is_pair =
      is_complex(call.type) && (call.routine == KMB_BLAS_DOT || call.routine == KMB_BLAS_DOTC);
  const uint64_t number_bytes = is_index || is_double(call.type) ? 8 : 4;
  return epoch.check(driver().cuMemsetD8Async(call.c.address, is_index ? 0xff : 0,
                                              is_pair ? 2 * number_bytes : number_bytes,
                                              handle.stream));
}

/// Converts cuBLAS's index, 32 bits from 1, to 64 bits from 0.
Status queue_index(Epoch& epoch, const BlasHandle& handle, uint64_t place) {
  KM_ASSIGN(const cu::CUfunction kernel, epoch.own_kernel(OwnKernel::blas_index));
  LaunchBuffer arguments(&place, sizeof place);
  return epoch.check(driver().cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, handle.stream, nullptr,
                                             arguments.extra()));
}

/// Tells cuBLAS if scalars and results lie in host or device memory.
Status set_mode(Epoch& epoch, const Cublas& library, BlasHandle& handle, cublas::PointerMode mode) {
  if (handle.mode == mode) return {};
  KM_TRY(check_blas(
      epoch, {library.cublasSetPointerMode_v2(handle.handle, mode), "cublasSetPointerMode_v2"}));
  handle.mode = mode;
  return {};
}

Status queue_result(Epoch& epoch, const Cublas& library, BlasHandle& handle,
                    const kmb_blas_call& call) {
  if (call.n == 0) return queue_empty_result(epoch, handle, call);
  KM_TRY(set_mode(epoch, library, handle, cublas::kDevice));
  KM_TRY(check_blas(epoch, Caller(library, handle.handle, call).run()));
  if (call.routine != KMB_BLAS_IAMAX) return {};
  return queue_index(epoch, handle, call.c.address);
}

}  // namespace

Status queue_blas(Epoch& epoch, const Cublas& library, BlasHandle& handle,
                  const kmb_blas_call& call, const BlasScratch& scratch) {
  if (has_device_scalars(call)) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "scalars of BLAS calls in memory of a GPU");
  }
  if (has_result(call.routine)) return queue_result(epoch, library, handle, call);
  KM_TRY(set_mode(epoch, library, handle, cublas::kHost));
  ColumnCall turned = by_columns(call);
  if (!turned.conjugates_b && !turned.turns_b) {
    return check_blas(epoch, Caller(library, handle.handle, turned.call).run());
  }
  Conjugation conjugation(epoch, library, handle.handle, &turned);
  KM_TRY(conjugation.before(scratch));
  KM_TRY(check_blas(epoch, Caller(library, handle.handle, turned.call).run()));
  return conjugation.after();
}

}  // namespace km::cuda
