// The low-level functions: analyses, factorizations and solutions of sparse matrices, one by one.
#include <mutex>
#include <variant>

#include "dropin/cusolver/api_sp/exports.h"
#include "dropin/cusolver/sparse/cholesky.h"
#include "dropin/cusolver/sparse/lu.h"
#include "dropin/cusolver/sparse/orderings.h"
#include "dropin/cusolver/sparse/qr.h"

namespace km::cusolver {

namespace {

/// One of a template's four types, or nothing yet.
template <template <class> class F>
using AnyOf = std::variant<std::monostate, F<float>, F<double>, F<std::complex<float>>,
                           F<std::complex<double>>>;

/// State that the functions of one factorization keep between their calls.
struct SparseInfo {
  std::mutex mutex;  // guards the members below, and those of derived types
  bool is_analyzed = false;
  int rows = 0, columns = 0, count = 0;
};

struct QrInfo : SparseInfo {
  AnyOf<Csr> matrix;
  AnyOf<SparseQr> factor;
};
struct DeviceQrInfo : QrInfo {
  static constexpr HandleKind kKind = HandleKind::kCsrqrInfo;
  static constexpr bool kHost = false;
};
struct HostQrInfo : QrInfo {
  static constexpr HandleKind kKind = HandleKind::kCsrqrInfoHost;
  static constexpr bool kHost = true;
};

struct CholeskyInfo : SparseInfo {
  CholeskySymbols symbols;
  AnyOf<CholeskyFactor> factor;
};
struct DeviceCholeskyInfo : CholeskyInfo {
  static constexpr HandleKind kKind = HandleKind::kCsrcholInfo;
  static constexpr bool kHost = false;
};
struct HostCholeskyInfo : CholeskyInfo {
  static constexpr HandleKind kKind = HandleKind::kCsrcholInfoHost;
  static constexpr bool kHost = true;
};

struct LuInfo : SparseInfo {
  static constexpr HandleKind kKind = HandleKind::kCsrluInfoHost;
  static constexpr bool kHost = true;
  std::vector<int> order;
  AnyOf<SparseLu> factor;
};

template <class Info>
struct IdOf;
template <>
struct IdOf<DeviceQrInfo> {
  using Type = csrqrInfo_t;
};
template <>
struct IdOf<HostQrInfo> {
  using Type = csrqrInfoHost_t;
};
template <>
struct IdOf<DeviceCholeskyInfo> {
  using Type = csrcholInfo_t;
};
template <>
struct IdOf<HostCholeskyInfo> {
  using Type = csrcholInfoHost_t;
};
template <>
struct IdOf<LuInfo> {
  using Type = csrluInfoHost_t;
};
template <class Info>
using Id = typename IdOf<Info>::Type;

/// Runs `body` with an info, which is locked.
template <class Info, class Body>
cusolverStatus_t with_info(Id<Info> id, Body&& body) {
  const std::shared_ptr<Info> found = find_object<Info>(id);
  if (found == nullptr) return invalid("info is not live");
  const std::lock_guard lock(found->mutex);
  return body(*found);
}

/// Runs `body` with an analyzed info.
template <class Info, class Body>
cusolverStatus_t with_analyzed(Id<Info> id, Body&& body) {
  return with_info<Info>(id, [&](Info& info) -> cusolverStatus_t {
    if (!info.is_analyzed) return invalid("info has not been analyzed");
    return body(info);
  });
}

/// CUSOLVER_STATUS_INVALID_VALUE if the sizes are not those of the analysis.
cusolverStatus_t check_sizes(const SparseInfo& info, int rows, int columns) {
  if (rows == info.rows && columns == info.columns) return CUSOLVER_STATUS_SUCCESS;
  return invalid("the matrix has %d rows and %d columns; the analyzed one has %d and %d", rows,
                 columns, info.rows, info.columns);
}

/// The factor of type F; null if there is none of that type.
template <class F, class Any>
F* factor_of(Any& any) {
  F* const found = std::get_if<F>(&any);
  if (found == nullptr) frame::explain("info has no factorization of this type");
  return found;
}

/// Reads B, solves with `routine` and writes X.
template <class T, class Routine>
cusolverStatus_t solve_with(Places& places, int rows, const T* b, T* x, Routine&& routine) {
  std::vector<T> right;
  LIB_TRY(places.begin());
  LIB_TRY(places.read("b", b, rows, &right));
  return places.write("x", x, routine(right));
}

/// The first element of a diagonal that is at most `tolerance`, or -1.
template <class Diagonal>
int find_small(int count, double tolerance, Diagonal&& diagonal) {
  for (int i = 0; i < count; ++i) {
    if (!(diagonal(i) > tolerance)) return i;
  }
  return -1;
}

template <class Info>
cusolverStatus_t create_info(Id<Info>* place, const char* function) {
  return call(function, [&]() -> cusolverStatus_t {
    LIB_REQUIRE(place);
    return give_object("info", place, std::make_shared<Info>());
  });
}

template <class Info, class Keep>
cusolverStatus_t analyze_any(const char* function, cusolverSpHandle_t handle,
                             const CsrArrays& arrays, Id<Info> id, Keep&& keep) {
  return call(function, handle, [&](SpHandle& h) -> cusolverStatus_t {
    Places places(h, Info::kHost);
    Pattern a;
    LIB_TRY(read_pattern(places, arrays, &a));
    return with_info<Info>(id, [&](Info& info) {
      info.rows = arrays.rows;
      info.columns = arrays.columns;
      info.count = arrays.count;
      info.is_analyzed = true;
      info.factor = std::monostate();
      keep(info, a);
      return CUSOLVER_STATUS_SUCCESS;
    });
  });
}

#define KM_P_BUFFER_INFO(P, T) \
  KM_P_RECTANGLE(P, T), P(Id<Info>, info), P(size_t*, internal_bytes), P(size_t*, work_bytes)
template <class T, class Info>
cusolverStatus_t buffer_info(SpHandle&, KM_P_BUFFER_INFO(KM_SIGNATURE, T)) {
  return with_analyzed<Info>(info, [&](Info& found) -> cusolverStatus_t {
    LIB_TRY(check_sizes(found, m, n));
    LIB_TRY(write_value("internalDataInBytes", internal_bytes, size_t{kWorkBytes}));
    return write_value("workspaceInBytes", work_bytes, size_t{kWorkBytes});
  });
}
/// Square matrices have one size.
#define KM_P_SQUARE_BUFFER_INFO(P, T) \
  KM_P_SQUARE(P, T), P(Id<Info>, info), P(size_t*, internal_bytes), P(size_t*, work_bytes)
template <class T, class Info>
cusolverStatus_t square_buffer_info(SpHandle& h, KM_P_SQUARE_BUFFER_INFO(KM_SIGNATURE, T)) {
  return buffer_info<T, Info>(h, m, m, nnz, descrA, csrVal, csrRowPtr, csrColInd, info,
                              internal_bytes, work_bytes);
}
#define KM_P_BATCH_BUFFER_INFO(P, T)                                                         \
  KM_P_RECTANGLE(P, T), P(int, batchSize), P(csrqrInfo_t, info), P(size_t*, internal_bytes), \
      P(size_t*, work_bytes)
template <class T>
cusolverStatus_t batch_buffer_info(SpHandle& h, KM_P_BATCH_BUFFER_INFO(KM_SIGNATURE, T)) {
  if (batchSize < 0) return invalid("batchSize is %d", batchSize);
  return buffer_info<T, DeviceQrInfo>(h, m, n, nnz, descrA, csrVal, csrRowPtr, csrColInd, info,
                                      internal_bytes, work_bytes);
}

/// Subtracts `mu` from the diagonal.
template <class T>
void shift(Csr<T>* a, const T& mu) {
  if (mu == T(0)) return;
  Csr<T> result = *a;
  result.indices.clear();
  result.values.clear();
  result.starts.assign(1, 0);
  for (int i = 0; i < a->rows; ++i) {
    bool has_diagonal = i >= a->columns;
    for (int k = a->starts[i]; k < a->starts[i + 1]; ++k) {
      const bool is_first = a->indices[k] == i && !has_diagonal;
      has_diagonal = has_diagonal || is_first;
      result.indices.push_back(a->indices[k]);
      result.values.push_back(is_first ? a->values[k] - mu : a->values[k]);
    }
    if (!has_diagonal) {
      result.indices.push_back(i);
      result.values.push_back(-mu);
    }
    result.starts.push_back(static_cast<int>(result.indices.size()));
  }
  *a = std::move(result);
}

#define KM_P_QR_SETUP(P, T) KM_P_RECTANGLE(P, T), P(T, mu), P(Id<Info>, info)
template <class T, class Info>
cusolverStatus_t qr_setup(SpHandle& h, KM_P_QR_SETUP(KM_SIGNATURE, T)) {
  Places places(h, Info::kHost);
  Csr<Native<T>> a;
  LIB_TRY(read_matrix(places, {m, n, nnz, descrA, csrRowPtr, csrColInd}, csrVal, &a));
  shift(&a, *native(&mu));
  return with_analyzed<Info>(info, [&](Info& found) -> cusolverStatus_t {
    LIB_TRY(check_sizes(found, m, n));
    found.matrix = std::move(a);
    return CUSOLVER_STATUS_SUCCESS;
  });
}

#define KM_P_QR_FACTOR(P, T) \
  P(int, m), P(int, n), P(int, nnz), P(T*, b), P(T*, x), P(Id<Info>, info), P(void*, buffer)
template <class T, class Info>
cusolverStatus_t qr_factor(SpHandle& h, KM_P_QR_FACTOR(KM_SIGNATURE, T)) {
  Places places(h, Info::kHost);
  return with_analyzed<Info>(info, [&](Info& found) -> cusolverStatus_t {
    LIB_TRY(check_sizes(found, m, n));
    const auto* const a = factor_of<Csr<Native<T>>>(found.matrix);
    if (a == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
    LIB_TRY(places.begin());
    found.factor.template emplace<SparseQr<Native<T>>>(*a, 0.0);
    if (b == nullptr || x == nullptr) return CUSOLVER_STATUS_SUCCESS;
    const auto& qr = std::get<SparseQr<Native<T>>>(found.factor);
    return solve_with(places, m, native(b), native(x),
                      [&](const auto& right) { return qr.solve(right); });
  });
}

#define KM_P_QR_SOLVE(P, T) \
  P(int, m), P(int, n), P(T*, b), P(T*, x), P(Id<Info>, info), P(void*, buffer)
template <class T, class Info>
cusolverStatus_t qr_solve(SpHandle& h, KM_P_QR_SOLVE(KM_SIGNATURE, T)) {
  Places places(h, Info::kHost);
  return with_analyzed<Info>(info, [&](Info& found) -> cusolverStatus_t {
    LIB_TRY(check_sizes(found, m, n));
    const auto* const qr = factor_of<SparseQr<Native<T>>>(found.factor);
    if (qr == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
    return solve_with(places, m, native(b), native(x),
                      [&](const auto& right) { return qr->solve(right); });
  });
}

#define KM_P_ZERO_PIVOT(P, T) P(Id<Info>, info), P(Real<T>, tol), P(int*, position)
template <class T, class Info>
cusolverStatus_t qr_zero_pivot(SpHandle&, KM_P_ZERO_PIVOT(KM_SIGNATURE, T)) {
  return with_analyzed<Info>(info, [&](Info& found) -> cusolverStatus_t {
    const auto* const qr = factor_of<SparseQr<Native<T>>>(found.factor);
    if (qr == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
    return write_value("position", position, qr->find_dependent(std::max<double>(tol, 0)));
  });
}

#define KM_P_QR_BATCH(P, T)                                                                \
  KM_P_RECTANGLE(P, T), P(const T*, b), P(T*, x), P(int, batchSize), P(csrqrInfo_t, info), \
      P(void*, buffer)
template <class T>
cusolverStatus_t qr_batch(SpHandle& h, KM_P_QR_BATCH(KM_SIGNATURE, T)) {
  if (batchSize < 0) return invalid("batchSize is %d", batchSize);
  Places places(h, false);
  Csr<Native<T>> a;
  std::vector<Native<T>> values, right, solution;
  LIB_TRY(with_analyzed<DeviceQrInfo>(
      info, [&](DeviceQrInfo& found) { return check_sizes(found, m, n); }));
  LIB_TRY(read_pattern(places, {m, n, nnz, descrA, csrRowPtr, csrColInd}, &a));
  LIB_TRY(places.read("csrValA", native(csrVal), int64_t{nnz} * batchSize, &values));
  LIB_TRY(places.read("b", native(b), int64_t{m} * batchSize, &right));
  for (int i = 0; i < batchSize; ++i) {
    const auto at = values.begin() + int64_t{i} * nnz;
    a.values.assign(at, at + nnz);
    const auto one = right.begin() + int64_t{i} * m;
    const std::vector<Native<T>> found =
        SparseQr<Native<T>>(a, 0).solve(std::vector<Native<T>>(one, one + m));
    solution.insert(solution.end(), found.begin(), found.end());
  }
  return places.write("x", native(x), solution);
}

#define KM_P_FACTOR(P, T) KM_P_SQUARE(P, T), P(Id<Info>, info), P(void*, buffer)
template <class T, class Info>
cusolverStatus_t cholesky_factor(SpHandle& h, KM_P_FACTOR(KM_SIGNATURE, T)) {
  Places places(h, Info::kHost);
  Csr<Native<T>> a;
  LIB_TRY(read_matrix(places, {m, m, nnz, descrA, csrRowPtr, csrColInd}, csrVal, &a));
  return with_analyzed<Info>(info, [&](Info& found) -> cusolverStatus_t {
    LIB_TRY(check_sizes(found, m, m));
    // The pattern may be another than the analyzed one.
    found.symbols = analyze(a, found.symbols.order);
    found.factor = factorize(found.symbols, a);
    return CUSOLVER_STATUS_SUCCESS;
  });
}

#define KM_P_SOLVE(P, T) P(int, n), P(const T*, b), P(T*, x), P(Id<Info>, info), P(void*, buffer)
template <class T, class Info>
cusolverStatus_t cholesky_solve(SpHandle& h, KM_P_SOLVE(KM_SIGNATURE, T)) {
  Places places(h, Info::kHost);
  return with_analyzed<Info>(info, [&](Info& found) -> cusolverStatus_t {
    LIB_TRY(check_sizes(found, n, n));
    const auto* const l = factor_of<CholeskyFactor<Native<T>>>(found.factor);
    if (l == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
    if (l->wrong >= 0) {
      return frame::fail(CUSOLVER_STATUS_ZERO_PIVOT, "row %d has no positive pivot", l->wrong);
    }
    return solve_with(places, n, native(b), native(x),
                      [&](const auto& right) { return solve(found.symbols, *l, right); });
  });
}

template <class T, class Info>
cusolverStatus_t cholesky_zero_pivot(SpHandle&, KM_P_ZERO_PIVOT(KM_SIGNATURE, T)) {
  return with_analyzed<Info>(info, [&](Info& found) -> cusolverStatus_t {
    const auto* const l = factor_of<CholeskyFactor<Native<T>>>(found.factor);
    if (l == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
    const int count = l->wrong >= 0 ? l->wrong + 1 : static_cast<int>(l->diagonal.size());
    return write_value(
        "position", position,
        find_small(count, std::max<double>(tol, 0), [&](int i) { return double(l->diagonal[i]); }));
  });
}

#define KM_P_DIAGONAL(P, T) P(csrcholInfo_t, info), P(Real<T>*, diag)
template <class T>
cusolverStatus_t cholesky_diagonal(SpHandle& h, KM_P_DIAGONAL(KM_SIGNATURE, T)) {
  Places places(h, false);
  return with_analyzed<DeviceCholeskyInfo>(
      info, [&](DeviceCholeskyInfo& found) -> cusolverStatus_t {
        const auto* const l = factor_of<CholeskyFactor<Native<T>>>(found.factor);
        if (l == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
        LIB_TRY(places.begin());
        return places.write("diag", diag, l->diagonal);
      });
}

#define KM_P_LU_FACTOR(P, T) \
  KM_P_SQUARE(P, T), P(csrluInfoHost_t, info), P(Real<T>, pivot_threshold), P(void*, buffer)
template <class T>
cusolverStatus_t lu_factor(SpHandle& h, KM_P_LU_FACTOR(KM_SIGNATURE, T)) {
  if (!(pivot_threshold >= 0 && pivot_threshold <= 1)) {
    return invalid("pivot_threshold is %g, which is not from 0 to 1", double(pivot_threshold));
  }
  Places places(h, true);
  Csr<Native<T>> a;
  LIB_TRY(read_matrix(places, {m, m, nnz, descrA, csrRowPtr, csrColInd}, csrVal, &a));
  return with_analyzed<LuInfo>(info, [&](LuInfo& found) -> cusolverStatus_t {
    LIB_TRY(check_sizes(found, m, m));
    found.factor = factorize(a, found.order, pivot_threshold);
    return CUSOLVER_STATUS_SUCCESS;
  });
}

template <class T, class Info>
cusolverStatus_t lu_solve(SpHandle& h, KM_P_SOLVE(KM_SIGNATURE, T)) {
  Places places(h, true);
  return with_analyzed<Info>(info, [&](Info& found) -> cusolverStatus_t {
    LIB_TRY(check_sizes(found, n, n));
    const auto* const lu = factor_of<SparseLu<Native<T>>>(found.factor);
    if (lu == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
    if (lu->wrong >= 0) {
      return frame::fail(CUSOLVER_STATUS_ZERO_PIVOT, "column %d has no pivot", lu->wrong);
    }
    return solve_with(places, n, native(b), native(x),
                      [&](const auto& right) { return solve(*lu, right); });
  });
}

template <class T, class Info>
cusolverStatus_t lu_zero_pivot(SpHandle&, KM_P_ZERO_PIVOT(KM_SIGNATURE, T)) {
  return with_analyzed<Info>(info, [&](Info& found) -> cusolverStatus_t {
    const auto* const lu = factor_of<SparseLu<Native<T>>>(found.factor);
    if (lu == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
    return write_value(
        "position", position,
        find_small(lu->n, std::max<double>(tol, 0), [&](int j) { return lu->pivot_size(j); }));
  });
}

/// Writes a factor, which is by columns, by rows.
template <class T>
cusolverStatus_t write_rows(Places& places, int n, const std::vector<int>& starts,
                            const std::vector<int>& indices, const std::vector<T>& values,
                            cusparseMatDescr_t description, T* to_values, int* to_starts,
                            int* to_indices) {
  int base = 0;
  LIB_TRY(read_base(description, &base));
  Csr<T> columns;
  columns.rows = columns.columns = n;
  columns.starts = starts;
  columns.indices = indices;
  columns.values = values;
  Csr<T> rows = transpose_values(columns);
  for (int& each : rows.starts) each += base;
  for (int& each : rows.indices) each += base;
  LIB_TRY(places.write("csrVal", to_values, rows.values));
  LIB_TRY(places.write("csrRowPtr", to_starts, rows.starts));
  return places.write("csrColInd", to_indices, rows.indices);
}

#define KM_P_LU_EXTRACT(P, T)                                                                      \
  P(int*, p), P(int*, q), P(const cusparseMatDescr_t, descrL), P(T*, l_values), P(int*, l_starts), \
      P(int*, l_indices), P(const cusparseMatDescr_t, descrU), P(T*, u_values), P(int*, u_starts), \
      P(int*, u_indices), P(csrluInfoHost_t, info), P(void*, buffer)
template <class T>
cusolverStatus_t lu_extract(SpHandle& h, KM_P_LU_EXTRACT(KM_SIGNATURE, T)) {
  Places places(h, true);
  return with_analyzed<LuInfo>(info, [&](LuInfo& found) -> cusolverStatus_t {
    const auto* const lu = factor_of<SparseLu<Native<T>>>(found.factor);
    if (lu == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
    LIB_TRY(places.write("P", p, lu->p));
    LIB_TRY(places.write("Q", q, lu->q));
    LIB_TRY(write_rows(places, lu->n, lu->l_starts, lu->l_rows, lu->l_values, descrL,
                       native(l_values), l_starts, l_indices));
    return write_rows(places, lu->n, lu->u_starts, lu->u_rows, lu->u_values, descrU,
                      native(u_values), u_starts, u_indices);
  });
}

void keep_nothing(QrInfo&, const Pattern&) {}
void keep_symbols(CholeskyInfo& info, const Pattern& a) {
  info.symbols = analyze(a, minimum_degree(a));
}
void keep_order(LuInfo& info, const Pattern& a) { info.order = minimum_degree(a); }

}  // namespace

// Each namespace names the info whose functions it defines.
namespace device_qr {
using Info = DeviceQrInfo;
KM_EXPORT_SP_ALL(csrqrBufferInfo, KM_P_BUFFER_INFO, buffer_info, , Info)
KM_EXPORT_SP_ALL(csrqrSetup, KM_P_QR_SETUP, qr_setup, , Info)
KM_EXPORT_SP_ALL(csrqrFactor, KM_P_QR_FACTOR, qr_factor, , Info)
KM_EXPORT_SP_ALL(csrqrSolve, KM_P_QR_SOLVE, qr_solve, , Info)
KM_EXPORT_SP_ALL(csrqrZeroPivot, KM_P_ZERO_PIVOT, qr_zero_pivot, , Info)
KM_EXPORT_SP_ALL(csrqrBufferInfoBatched, KM_P_BATCH_BUFFER_INFO, batch_buffer_info)
KM_EXPORT_SP_ALL(csrqrsvBatched, KM_P_QR_BATCH, qr_batch)
}  // namespace device_qr

namespace host_qr {
using Info = HostQrInfo;
KM_EXPORT_SP_ALL(csrqrBufferInfoHost, KM_P_BUFFER_INFO, buffer_info, , Info)
KM_EXPORT_SP_ALL(csrqrSetupHost, KM_P_QR_SETUP, qr_setup, , Info)
KM_EXPORT_SP_ALL(csrqrFactorHost, KM_P_QR_FACTOR, qr_factor, , Info)
KM_EXPORT_SP_ALL(csrqrSolveHost, KM_P_QR_SOLVE, qr_solve, , Info)
KM_EXPORT_SP_ALL(csrqrZeroPivotHost, KM_P_ZERO_PIVOT, qr_zero_pivot, , Info)
}  // namespace host_qr

namespace device_cholesky {
using Info = DeviceCholeskyInfo;
KM_EXPORT_SP_ALL(csrcholBufferInfo, KM_P_SQUARE_BUFFER_INFO, square_buffer_info, , Info)
KM_EXPORT_SP_ALL(csrcholFactor, KM_P_FACTOR, cholesky_factor, , Info)
KM_EXPORT_SP_ALL(csrcholSolve, KM_P_SOLVE, cholesky_solve, , Info)
KM_EXPORT_SP_ALL(csrcholZeroPivot, KM_P_ZERO_PIVOT, cholesky_zero_pivot, , Info)
KM_EXPORT_SP_ALL(csrcholDiag, KM_P_DIAGONAL, cholesky_diagonal)
}  // namespace device_cholesky

namespace host_cholesky {
using Info = HostCholeskyInfo;
KM_EXPORT_SP_ALL(csrcholBufferInfoHost, KM_P_SQUARE_BUFFER_INFO, square_buffer_info, , Info)
KM_EXPORT_SP_ALL(csrcholFactorHost, KM_P_FACTOR, cholesky_factor, , Info)
KM_EXPORT_SP_ALL(csrcholSolveHost, KM_P_SOLVE, cholesky_solve, , Info)
KM_EXPORT_SP_ALL(csrcholZeroPivotHost, KM_P_ZERO_PIVOT, cholesky_zero_pivot, , Info)
}  // namespace host_cholesky

namespace host_lu {
using Info = LuInfo;
KM_EXPORT_SP_ALL(csrluBufferInfoHost, KM_P_SQUARE_BUFFER_INFO, square_buffer_info, , Info)
KM_EXPORT_SP_ALL(csrluFactorHost, KM_P_LU_FACTOR, lu_factor)
KM_EXPORT_SP_ALL(csrluSolveHost, KM_P_SOLVE, lu_solve, , Info)
KM_EXPORT_SP_ALL(csrluZeroPivotHost, KM_P_ZERO_PIVOT, lu_zero_pivot, , Info)
KM_EXPORT_SP_ALL(csrluExtractHost, KM_P_LU_EXTRACT, lu_extract)
}  // namespace host_lu

extern "C" {

/// The functions that make and end an info.
#define KM_INFO(Name, Info)                                                                       \
  cusolverStatus_t cusolverSpCreate##Name(Id<Info>* info) {                                       \
    return create_info<Info>(info, __func__);                                                     \
  }                                                                                               \
  cusolverStatus_t cusolverSpDestroy##Name(Id<Info> info) {                                       \
    return call(__func__, [&] { return end_object<Info>(info, CUSOLVER_STATUS_INVALID_VALUE); }); \
  }
KM_INFO(CsrqrInfo, DeviceQrInfo)
KM_INFO(CsrqrInfoHost, HostQrInfo)
KM_INFO(CsrcholInfo, DeviceCholeskyInfo)
KM_INFO(CsrcholInfoHost, HostCholeskyInfo)
KM_INFO(CsrluInfoHost, LuInfo)

cusolverStatus_t cusolverSpXcsrqrAnalysis(cusolverSpHandle_t handle, int m, int n, int nnz,
                                          const cusparseMatDescr_t description, const int* starts,
                                          const int* indices, csrqrInfo_t info) {
  return analyze_any<DeviceQrInfo>(__func__, handle, {m, n, nnz, description, starts, indices},
                                   info, keep_nothing);
}
cusolverStatus_t cusolverSpXcsrqrAnalysisBatched(cusolverSpHandle_t handle, int m, int n, int nnz,
                                                 const cusparseMatDescr_t description,
                                                 const int* starts, const int* indices,
                                                 csrqrInfo_t info) {
  return analyze_any<DeviceQrInfo>(__func__, handle, {m, n, nnz, description, starts, indices},
                                   info, keep_nothing);
}
cusolverStatus_t cusolverSpXcsrqrAnalysisHost(cusolverSpHandle_t handle, int m, int n, int nnz,
                                              const cusparseMatDescr_t description,
                                              const int* starts, const int* indices,
                                              csrqrInfoHost_t info) {
  return analyze_any<HostQrInfo>(__func__, handle, {m, n, nnz, description, starts, indices}, info,
                                 keep_nothing);
}
cusolverStatus_t cusolverSpXcsrcholAnalysis(cusolverSpHandle_t handle, int n, int nnz,
                                            const cusparseMatDescr_t description, const int* starts,
                                            const int* indices, csrcholInfo_t info) {
  return analyze_any<DeviceCholeskyInfo>(
      __func__, handle, {n, n, nnz, description, starts, indices}, info, keep_symbols);
}
cusolverStatus_t cusolverSpXcsrcholAnalysisHost(cusolverSpHandle_t handle, int n, int nnz,
                                                const cusparseMatDescr_t description,
                                                const int* starts, const int* indices,
                                                csrcholInfoHost_t info) {
  return analyze_any<HostCholeskyInfo>(__func__, handle, {n, n, nnz, description, starts, indices},
                                       info, keep_symbols);
}
cusolverStatus_t cusolverSpXcsrluAnalysisHost(cusolverSpHandle_t handle, int n, int nnz,
                                              const cusparseMatDescr_t description,
                                              const int* starts, const int* indices,
                                              csrluInfoHost_t info) {
  return analyze_any<LuInfo>(__func__, handle, {n, n, nnz, description, starts, indices}, info,
                             keep_order);
}
cusolverStatus_t cusolverSpXcsrluNnzHost(cusolverSpHandle_t handle, int* l_count, int* u_count,
                                         csrluInfoHost_t info) {
  return call(__func__, handle, [&](SpHandle&) {
    return with_analyzed<LuInfo>(info, [&](LuInfo& found) {
      return std::visit(
          [&]<class F>(const F& lu) -> cusolverStatus_t {
            if constexpr (std::is_same_v<F, std::monostate>) {
              return invalid("info has no factorization");
            } else {
              LIB_TRY(write_value("nnzLRef", l_count, static_cast<int>(lu.l_rows.size())));
              return write_value("nnzURef", u_count, static_cast<int>(lu.u_rows.size()));
            }
          },
          found.factor);
    });
  });
}

}  // extern "C"

}  // namespace km::cusolver
