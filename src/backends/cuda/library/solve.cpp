// Calls of km_solve, by cuSOLVER.
#include <algorithm>

#include "backend/blas_numbers.h"
#include "backend/solve_calls.h"
#include "backends/cuda/driver/cusolver.h"
#include "backends/cuda/library/library.h"

namespace km::cuda {
namespace {

using cusolver_library::Data;

/// Routines of cuSOLVER take columns. A matrix by rows is the transpose of one by columns, which
/// some routines can solve instead.
bool is_by_rows(const kmb_solve_call& call) { return call.layout == KM_BLAS_LAYOUT_ROWS; }

Status check_supported(const kmb_solve_call& call, const char* name) {
  const bool is_symmetric =
      call.routine == KMB_SOLVE_POTRF ||
      (call.routine == KMB_SOLVE_SYEVD && call.vectors == KM_SOLVE_VECTORS_NONE);
  if (call.routine == KMB_SOLVE_GESVD) {
    const bool is_wide = is_by_rows(call) ? call.n < call.m : call.m < call.n;
    if (!is_wide) return {};
    return make_error(KM_ERROR_NOT_SUPPORTED,
                      "%s: on NVIDIA GPUs a matrix by %s needs at least as many %s; this one is "
                      "%llu x %llu. Decompose its transpose",
                      name, is_by_rows(call) ? "rows" : "columns",
                      is_by_rows(call) ? "columns as rows" : "rows as columns",
                      static_cast<unsigned long long>(call.m),
                      static_cast<unsigned long long>(call.n));
  }
  if (!is_by_rows(call) || is_symmetric) return {};
  return make_error(KM_ERROR_NOT_SUPPORTED,
                    "%s: NVIDIA GPUs have it for matrices by columns only; give km_blas_create "
                    "KM_BLAS_LAYOUT_COLUMNS",
                    name);
}

/// One call in a stream with a handle of cuSOLVER.
class SolveQueue {
 public:
  SolveQueue(const LibraryTarget& target, const Cusolver& library, cusolver_library::Handle handle,
             const kmb_solve_call& call)
      : target_(target), library_(library), handle_(handle), call_(call) {}

  /// Queues the routine for each matrix of the batch.
  Status queue() {
    KM_TRY(check("cusolverDnSetStream", library_.cusolverDnSetStream(handle_, target_.stream)));
    KM_TRY(find_work());
    for (uint64_t item = 0; item < call_.batch_count; ++item) KM_TRY(queue_item(item));
    return {};
  }

 private:
  Status check(const char* function, cusolver_library::Status status) const {
    if (status == cusolver_library::kSuccess) [[likely]]
      return {};
    return library_error(target_.epoch, solver_error(function, status));
  }
  template <class Routine>
  Routine of(const Routine (&routines)[4]) const {
    return routines[call_.type - KM_DATA_TYPE_F32];
  }

  int m() const { return static_cast<int>(call_.m); }
  int n() const { return static_cast<int>(call_.n); }
  int k() const { return static_cast<int>(call_.k); }
  static int leading(const kmb_blas_array& matrix) { return static_cast<int>(matrix.step); }
  cusolver_library::Fill fill() const {
    const bool is_upper = (call_.triangle == KM_BLAS_TRIANGLE_UPPER) != is_by_rows(call_);
    return is_upper ? cusolver_library::kUpper : cusolver_library::kLower;
  }
  cusolver_library::Operation operation() const {
    return static_cast<cusolver_library::Operation>(call_.operation - KM_BLAS_OPERATION_NONE);
  }
  /// That of a unitary matrix, whose real variants know no conjugation.
  cusolver_library::Operation unitary_operation() const {
    if (call_.operation == KM_BLAS_OPERATION_NONE) return cusolver_library::kPlain;
    return is_complex(call_.type) ? cusolver_library::kConjugateTranspose
                                  : cusolver_library::kTranspose;
  }
  cusolver_library::Side side() const {
    return call_.side == KM_BLAS_SIDE_LEFT ? cusolver_library::kLeft : cusolver_library::kRight;
  }
  cusolver_library::Mode mode() const {
    return call_.vectors == KM_SOLVE_VECTORS_NONE ? cusolver_library::kValues
                                                  : cusolver_library::kVectors;
  }
  /// The sizes of the matrix that gesvd decomposes: of its transpose if it is by rows.
  int svd_rows() const { return is_by_rows(call_) ? n() : m(); }
  int svd_columns() const { return is_by_rows(call_) ? m() : n(); }

  static Data place(const kmb_blas_array& array, uint64_t item, uint64_t bytes) {
    return reinterpret_cast<Data>(array.address + item * array.stride * bytes);
  }
  Data matrix(const kmb_blas_array& array, uint64_t item) const {
    return place(array, item, data_type_size(call_.type));
  }
  Data work() const { return reinterpret_cast<Data>(work_); }

  Status find_work();
  Status work_size(int* out_elements) const;
  Status queue_item(uint64_t item) const;
  Status queue_factor(uint64_t item, Data a, Data info) const;
  Status queue_spectral(uint64_t item, Data a, Data info) const;

  const LibraryTarget& target_;
  const Cusolver& library_;
  const cusolver_library::Handle handle_;
  const kmb_solve_call& call_;
  uint64_t work_ = 0;
  int work_elements_ = 0;
};

Status SolveQueue::work_size(int* out_elements) const {
  const Data a = matrix(call_.a, 0), c = matrix(call_.b, 0), numbers = place(call_.numbers, 0, 1);
  const int lda = leading(call_.a);
  switch (call_.routine) {
    case KMB_SOLVE_POTRF:
      return check("cusolverDn<t>potrf_bufferSize",
                   of(library_.potrfSize_of)(handle_, fill(), n(), a, lda, out_elements));
    case KMB_SOLVE_GETRF:
      return check("cusolverDn<t>getrf_bufferSize",
                   of(library_.getrfSize_of)(handle_, m(), n(), a, lda, out_elements));
    case KMB_SOLVE_GEQRF:
      return check("cusolverDn<t>geqrf_bufferSize",
                   of(library_.geqrfSize_of)(handle_, m(), n(), a, lda, out_elements));
    case KMB_SOLVE_ORGQR:
      return check(
          "cusolverDn<t>orgqr_bufferSize",
          of(library_.orgqrSize_of)(handle_, m(), n(), k(), a, lda, numbers, out_elements));
    case KMB_SOLVE_ORMQR:
      return check("cusolverDn<t>ormqr_bufferSize",
                   of(library_.ormqrSize_of)(handle_, side(), unitary_operation(), m(), n(), k(), a,
                                             lda, numbers, c, leading(call_.b), out_elements));
    case KMB_SOLVE_SYEVD:
      return check(
          "cusolverDn<t>syevd_bufferSize",
          of(library_.syevdSize_of)(handle_, mode(), fill(), n(), a, lda, numbers, out_elements));
    case KMB_SOLVE_GESVD:
      return check("cusolverDn<t>gesvd_bufferSize",
                   of(library_.gesvdSize_of)(handle_, svd_rows(), svd_columns(), out_elements));
    default:
      return {};
  }
}

/// One work area serves all matrices, since they follow each other in the stream.
Status SolveQueue::find_work() {
  KM_TRY(work_size(&work_elements_));
  if (work_elements_ <= 0) return {};
  KM_ASSIGN(work_,
            target_.scratch(static_cast<uint64_t>(work_elements_) * data_type_size(call_.type)));
  return {};
}

Status SolveQueue::queue_item(uint64_t item) const {
  const Data a = matrix(call_.a, item), info = place(call_.info, item, sizeof(int32_t));
  if (call_.routine == KMB_SOLVE_SYEVD || call_.routine == KMB_SOLVE_GESVD) {
    return queue_spectral(item, a, info);
  }
  return queue_factor(item, a, info);
}

Status SolveQueue::queue_factor(uint64_t item, Data a, Data info) const {
  const Data b = matrix(call_.b, item);
  const int lda = leading(call_.a), ldb = leading(call_.b);
  const bool has_pivots = call_.routine == KMB_SOLVE_GETRF || call_.routine == KMB_SOLVE_GETRS;
  const Data numbers =
      place(call_.numbers, item, has_pivots ? sizeof(int32_t) : data_type_size(call_.type));
  switch (call_.routine) {
    case KMB_SOLVE_POTRF:
      return check("cusolverDn<t>potrf", of(library_.potrf_of)(handle_, fill(), n(), a, lda, work(),
                                                               work_elements_, info));
    case KMB_SOLVE_POTRS:
      return check("cusolverDn<t>potrs",
                   of(library_.potrs_of)(handle_, fill(), n(), k(), a, lda, b, ldb, info));
    case KMB_SOLVE_GETRF:
      return check("cusolverDn<t>getrf",
                   of(library_.getrf_of)(handle_, m(), n(), a, lda, work(), numbers, info));
    case KMB_SOLVE_GETRS:
      return check("cusolverDn<t>getrs", of(library_.getrs_of)(handle_, operation(), n(), k(), a,
                                                               lda, numbers, b, ldb, info));
    case KMB_SOLVE_GEQRF:
      return check("cusolverDn<t>geqrf", of(library_.geqrf_of)(handle_, m(), n(), a, lda, numbers,
                                                               work(), work_elements_, info));
    case KMB_SOLVE_ORGQR:
      return check("cusolverDn<t>orgqr",
                   of(library_.orgqr_of)(handle_, m(), n(), k(), a, lda, numbers, work(),
                                         work_elements_, info));
    default:
      return check("cusolverDn<t>ormqr",
                   of(library_.ormqr_of)(handle_, side(), unitary_operation(), m(), n(), k(), a,
                                         lda, numbers, b, ldb, work(), work_elements_, info));
  }
}

Status SolveQueue::queue_spectral(uint64_t item, Data a, Data info) const {
  const Data values = place(call_.numbers, item, real_size(call_.type));
  const int lda = leading(call_.a);
  if (call_.routine == KMB_SOLVE_SYEVD) {
    return check("cusolverDn<t>syevd", of(library_.syevd_of)(handle_, mode(), fill(), n(), a, lda,
                                                             values, work(), work_elements_, info));
  }
  // A^T = (V^H)^T S U^T: by rows, the vectors of the transpose are those of A with U and V^H
  // exchanged.
  const kmb_blas_array& left = is_by_rows(call_) ? call_.vh : call_.b;
  const kmb_blas_array& right = is_by_rows(call_) ? call_.b : call_.vh;
  const signed char job = call_.vectors == KM_SOLVE_VECTORS_ALL    ? 'A'
                          : call_.vectors == KM_SOLVE_VECTORS_THIN ? 'S'
                                                                   : 'N';
  // The library checks the leading dimensions of matrices that it does not touch.
  const int ldu = job == 'N' ? std::max(svd_rows(), 1) : leading(left);
  const int ldv = job == 'N' ? std::max(svd_columns(), 1) : leading(right);
  return check("cusolverDn<t>gesvd",
               of(library_.gesvd_of)(handle_, job, job, svd_rows(), svd_columns(), a, lda, values,
                                     matrix(left, item), ldu, matrix(right, item), ldv, work(),
                                     work_elements_, nullptr, info));
}

/// Writes 0 to all infos of a call that computes nothing.
Status clear_infos(const LibraryTarget& target, const kmb_solve_call& call) {
  if (call.routine == KMB_SOLVE_GESVD && call.vectors == KM_SOLVE_VECTORS_ALL &&
      (call.m | call.n) != 0) {
    return make_error(KM_ERROR_NOT_SUPPORTED,
                      "NVIDIA GPUs have no vectors for a matrix without elements (%llu x %llu)",
                      static_cast<unsigned long long>(call.m),
                      static_cast<unsigned long long>(call.n));
  }
  const uint64_t stride_bytes = call.info.stride * sizeof(int32_t);
  for (uint64_t item = 0; item < call.batch_count; ++item) {
    KM_TRY(target.epoch.check(
        driver().cuMemsetD32Async(call.info.address + item * stride_bytes, 0, 1, target.stream)));
  }
  return {};
}

Result<cusolver_library::Handle> take_handle(Epoch& epoch, const Cusolver& library) {
  if (const auto unused = epoch.take_handle<cusolver_library::Handle>()) return *unused;
  cusolver_library::Handle made = nullptr;
  const cusolver_library::Status status = library.cusolverDnCreate(&made);
  if (status != cusolver_library::kSuccess) {
    return library_error(epoch, solver_error("cusolverDnCreate", status));
  }
  return made;
}

}  // namespace

Status queue_solve(const LibraryTarget& target, const char* name, const kmb_solve_call& call) {
  if (solve_is_empty(call)) return clear_infos(target, call);
  KM_TRY(check_supported(call, name));
  KM_ASSIGN(const Cusolver* const library, Cusolver::instance());
  KM_ASSIGN(cusolver_library::Handle const handle, take_handle(target.epoch, *library));
  Status queued = SolveQueue(target, *library, handle, call).queue();
  target.epoch.give_handle(handle);
  return queued;
}

}  // namespace km::cuda
