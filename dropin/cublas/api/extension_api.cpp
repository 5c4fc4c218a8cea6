// Extensions of BLAS: sums and scaling of matrices, packed triangles, batches of small linear
// systems.
#include <algorithm>
#include <initializer_list>
#include <string>

#include "dropin/cublas/frame/arrays.h"
#include "dropin/cublas/frame/exports.h"
#include "dropin/cublas/frame/kernels_ptx.h"
#include "dropin/cublas/frame/numbers.h"
#include "dropin/cublas/product/product.h"

namespace km::cublas {

namespace {

constexpr unsigned kThreads = 256, kSystemThreads = 64;

/// Adds a matrix, or a vector given by a single step, to the arrays that are checked.
KernelArrays& add(KernelArrays& arrays, const char* name, const StridedMatrix& matrix, int64_t rows,
                  int64_t columns, uint64_t element_bytes) {
  return arrays.add(name, matrix.address,
                    ArrayShape{rows, columns, matrix.row_step, matrix.column_step}, element_bytes);
}

cublasStatus_t check_addition(const Handle& h, const AddParameters& p, uint64_t element_bytes) {
  KernelArrays arrays(h);
  add(arrays, "A", p.a, p.rows, p.columns, element_bytes);
  add(arrays, "B or x", p.b, p.rows, p.columns, element_bytes);
  add(arrays, "C", p.c, p.rows, p.columns, element_bytes);
  return arrays.add("alpha", p.alpha).add("beta", p.beta).status();
}

cublasStatus_t launch(Handle& h, km_data_type type, const char* name, uint64_t count,
                      const auto& parameters) {
  const std::string kernel = std::string(name) + "_" + kernel_suffix(type);
  return status_of(dense_kernels().launch(*h.driver, h.stream, kernel.c_str(),
                                          {blocks_of(count, kThreads), 1, 1}, kThreads,
                                          parameters));
}

cublasStatus_t launch_batch(Handle& h, km_data_type type, const char* name, int64_t batch_count,
                            const DenseParameters& parameters) {
  if (batch_count == 0) return CUBLAS_STATUS_SUCCESS;
  const ArrayShape pointers{batch_count},
      pivots{parameters.order, batch_count, 1, parameters.order};
  LIB_TRY(KernelArrays(h)
              .add("the array of matrices", parameters.a, pointers, sizeof(void*))
              .add("the array of results", parameters.b, pointers, sizeof(void*))
              .add("the pivots", parameters.pivots, pivots, sizeof(int))
              .add("info", parameters.info, pointers, sizeof(int))
              .add("alpha", parameters.alpha)
              .status());
  const std::string kernel = std::string(name) + "_" + kernel_suffix(type);
  return status_of(dense_kernels().launch(*h.driver, h.stream, kernel.c_str(),
                                          {static_cast<unsigned>(batch_count), 1, 1},
                                          kSystemThreads, parameters));
}

cublasStatus_t set_factor(Handle& h, const char* name, km_data_type type, const void* value,
                          DeviceScalar* out) {
  if (value == nullptr) return invalid("%s is null", name);
  out->type = cuda_type_of(type);
  if (h.has_device_pointers()) {
    out->address = reinterpret_cast<uint64_t>(value);
  } else {
    LIB_TRY(read_scalar(name, out->type, value, "give one of the matrices' type", out->value));
  }
  return CUBLAS_STATUS_SUCCESS;
}

/// Writes the info of LAPACK to host memory: 0, or minus the number of the first invalid argument.
cublasStatus_t give_info(int* info, int wrong) {
  LIB_TRY(write_value("info", info, wrong));
  return wrong == 0 ? CUBLAS_STATUS_SUCCESS : invalid("argument %d is wrong", -wrong);
}

/// Fills in a matrix with the row and column steps of op(A).
cublasStatus_t set_matrix(const char* name, const void* data, int64_t leading, int64_t rows,
                          int64_t columns, cublasOperation_t operation, StridedMatrix* out) {
  if (operation < CUBLAS_OP_N || operation > CUBLAS_OP_C) {
    return invalid("the operation of %s is %d, which is not an operation", name,
                   static_cast<int>(operation));
  }
  const bool plain = operation == CUBLAS_OP_N;
  const int64_t length = plain ? rows : columns;
  if (leading < std::max<int64_t>(length, 1)) {
    return invalid("the leading dimension of %s is %lld; its columns have %lld elements", name,
                   static_cast<long long>(leading), static_cast<long long>(length));
  }
  out->address = reinterpret_cast<uint64_t>(data);
  out->row_step = plain ? 1 : leading;
  out->column_step = plain ? leading : 1;
  return CUBLAS_STATUS_SUCCESS;
}

bool is_zero(const DeviceScalar& scalar) {
  return scalar.address == 0 && scalar.value[0] == 0 && scalar.value[1] == 0;
}

/// Rejects negative sizes and sizes beyond 32 bits.
cublasStatus_t check_sizes(std::initializer_list<int64_t> sizes) {
  for (const int64_t size : sizes) {
    if (size < 0 || size > INT32_MAX) {
      return invalid("a size is %lld", static_cast<long long>(size));
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

#define KM_P_GEAM(P, Int, T)                                                              \
  P(cublasOperation_t, transa), P(cublasOperation_t, transb), P(Int, m), P(Int, n),       \
      P(const T*, alpha), P(const T*, A), P(Int, lda), P(const T*, beta), P(const T*, B), \
      P(Int, ldb), P(T*, C), P(Int, ldc)

namespace {

template <class T, class Int>
cublasStatus_t geam(Handle& h, KM_P_GEAM(KM_DECLARE, Int, T)) {
  LIB_TRY(check_sizes({m, n}));
  AddParameters p{};
  LIB_TRY(set_factor(h, "alpha", kTypeOf<T>, alpha, &p.alpha));
  LIB_TRY(set_factor(h, "beta", kTypeOf<T>, beta, &p.beta));
  LIB_TRY(set_matrix("A", A, lda, m, n, transa, &p.a));
  LIB_TRY(set_matrix("B", B, ldb, m, n, transb, &p.b));
  LIB_TRY(set_matrix("C", C, ldc, m, n, CUBLAS_OP_N, &p.c));
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  LIB_REQUIRE(C);
  if (A == nullptr && !is_zero(p.alpha)) return invalid("A is null");
  if (B == nullptr && !is_zero(p.beta)) return invalid("B is null");
  if (A == C && (transa != CUBLAS_OP_N || lda != ldc)) return invalid("A, transposed, is C");
  if (B == C && (transb != CUBLAS_OP_N || ldb != ldc)) return invalid("B, transposed, is C");
  p.rows = m;
  p.columns = n;
  p.is_a_conjugated = transa == CUBLAS_OP_C ? 1 : 0;
  p.is_b_conjugated = transb == CUBLAS_OP_C ? 1 : 0;
  if (is_zero(p.alpha)) p.a.address = 0;  // not read in this case
  if (is_zero(p.beta)) p.b.address = 0;
  LIB_TRY(check_addition(h, p, sizeof(T)));
  return launch(h, kTypeOf<T>, "add_matrices", static_cast<uint64_t>(m) * n, p);
}

}  // namespace

#define KM_P_DGMM(P, Int, T)                                                                    \
  P(cublasSideMode_t, mode), P(Int, m), P(Int, n), P(const T*, A), P(Int, lda), P(const T*, x), \
      P(Int, incx), P(T*, C), P(Int, ldc)

namespace {

template <class T, class Int>
cublasStatus_t dgmm(Handle& h, KM_P_DGMM(KM_DECLARE, Int, T)) {
  LIB_TRY(check_sizes({m, n}));
  if (mode != CUBLAS_SIDE_LEFT && mode != CUBLAS_SIDE_RIGHT) return invalid("mode is %d", mode);
  AddParameters p{};
  LIB_TRY(set_matrix("A", A, lda, m, n, CUBLAS_OP_N, &p.a));
  LIB_TRY(set_matrix("C", C, ldc, m, n, CUBLAS_OP_N, &p.c));
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  LIB_REQUIRE(A);
  LIB_REQUIRE(x);
  LIB_REQUIRE(C);
  const int64_t count = mode == CUBLAS_SIDE_LEFT ? m : n;
  p.b.address = reinterpret_cast<uint64_t>(x);
  if (incx < 0) p.b.address += static_cast<uint64_t>((1 - count) * int64_t{incx}) * sizeof(T);
  (mode == CUBLAS_SIDE_LEFT ? p.b.row_step : p.b.column_step) = incx;
  p.rows = m;
  p.columns = n;
  LIB_TRY(check_addition(h, p, sizeof(T)));
  return launch(h, kTypeOf<T>, "scale_matrix", static_cast<uint64_t>(m) * n, p);
}

cublasStatus_t move_triangle(Handle& h, km_data_type type, cublasFillMode_t uplo, int64_t n,
                             const void* packed, const void* whole, int64_t leading,
                             bool to_packed) {
  LIB_TRY(check_sizes({n}));
  if (uplo != CUBLAS_FILL_MODE_LOWER && uplo != CUBLAS_FILL_MODE_UPPER) {
    return invalid("uplo is %d, which is not a triangle", static_cast<int>(uplo));
  }
  if (leading < std::max<int64_t>(n, 1))
    return invalid("lda is %lld", static_cast<long long>(leading));
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  if (packed == nullptr || whole == nullptr) return invalid("a matrix is null");
  const TriangleParameters p{reinterpret_cast<uint64_t>(packed),
                             reinterpret_cast<uint64_t>(whole),
                             n,
                             leading,
                             uplo == CUBLAS_FILL_MODE_UPPER ? 1 : 0,
                             to_packed ? 1 : 0};
  LIB_TRY(KernelArrays(h)
              .add("AP", packed, n * (n + 1) / 2, size_of(type))
              .add("A", p.whole, ArrayShape{n, n, 1, leading}, size_of(type))
              .status());
  return launch(h, type, "move_triangle", static_cast<uint64_t>(n) * n, p);
}

/// Fills in the parameters that all dense routines share.
DenseParameters dense(const void* a, int64_t order, int64_t leading) {
  DenseParameters p{};
  p.a = reinterpret_cast<uint64_t>(a);
  p.order = p.rows = order;
  p.leading_a = leading;
  return p;
}

cublasStatus_t check_dense(int64_t n, int64_t lda, int64_t batch, const void* a) {
  LIB_TRY(check_sizes({n, batch}));
  if (lda < std::max<int64_t>(n, 1)) {
    return invalid("lda is %lld; columns have %lld elements", static_cast<long long>(lda),
                   static_cast<long long>(n));
  }
  if (a == nullptr && batch != 0 && n != 0) return invalid("A is null");
  return CUBLAS_STATUS_SUCCESS;
}

struct Solution {
  const void *a, *pivots;
  void* b;
  int64_t n, columns, lda, ldb, batch;
  cublasOperation_t trans;
};

/// The arguments of getrs, whose info is in host memory: 0, or minus the number of the invalid
/// argument.
cublasStatus_t solve(Handle& h, km_data_type type, const Solution& s, int* info) {
  const bool is_operation = s.trans >= CUBLAS_OP_N && s.trans <= CUBLAS_OP_C;
  const int64_t least = std::max<int64_t>(s.n, 1);
  LIB_TRY(give_info(info, !is_operation   ? -1
                          : s.n < 0       ? -2
                          : s.columns < 0 ? -3
                          : s.lda < least ? -5
                          : s.ldb < least ? -8
                          : s.batch < 0   ? -10
                                          : 0));
  if (s.n == 0 || s.columns == 0 || s.batch == 0) return CUBLAS_STATUS_SUCCESS;
  if (s.a == nullptr || s.b == nullptr) return invalid("an array of matrices is null");
  DenseParameters p = dense(s.a, s.n, s.lda);
  p.b = reinterpret_cast<uint64_t>(s.b);
  p.leading_b = s.ldb;
  p.columns = s.columns;
  p.pivots = reinterpret_cast<uint64_t>(s.pivots);
  p.transposition = s.trans;
  return launch_batch(h, type, "getrs", s.batch, p);
}

/// Minus the number of the first invalid argument; 0 if all are valid.
int wrong_argument_of_geqrf(int m, int n, int lda, int batch) {
  if (m < 0) return -1;
  if (n < 0) return -2;
  if (lda < std::max(m, 1)) return -4;
  return batch < 0 ? -7 : 0;
}

int wrong_argument_of_gels(int m, int n, int nrhs, int lda, int ldc, int batch) {
  if (m < 0) return -2;
  if (n < 0) return -3;
  if (nrhs < 0) return -4;
  if (lda < std::max(m, 1)) return -6;
  if (ldc < std::max(m, 1)) return -8;
  return batch < 0 ? -11 : 0;
}

constexpr int64_t kMostInverted = 32;

struct Triangular {
  cublasSideMode_t side;
  cublasFillMode_t uplo;
  cublasOperation_t trans;
  cublasDiagType_t diag;
  int64_t m, n;
  const void *alpha, *a;
  int64_t lda;
  const void* b;
  int64_t ldb, batch;
};

cublasStatus_t solve_triangular(Handle& h, km_data_type type, const Triangular& t) {
  const bool is_right = t.side == CUBLAS_SIDE_RIGHT;
  const int64_t order = is_right ? t.n : t.m;
  Request checked(h, KMB_BLAS_TRSM, type);
  checked.side(t.side).triangle(t.uplo).operation("trans", t.trans).diagonal(t.diag);
  LIB_TRY(checked.status());
  LIB_TRY(check_sizes({t.m, t.n}));
  LIB_TRY(check_dense(order, t.lda, t.batch, t.a));
  LIB_TRY(check_dense(t.m, t.ldb, t.batch, t.b));
  DenseParameters p = dense(t.a, order, t.lda);
  LIB_TRY(set_factor(h, "alpha", type, t.alpha, &p.alpha));
  if (t.m == 0 || t.n == 0) return CUBLAS_STATUS_SUCCESS;
  p.b = reinterpret_cast<uint64_t>(t.b);
  p.leading_b = t.ldb;
  p.rows = t.m;
  p.columns = t.n;
  p.is_right = is_right ? 1 : 0;
  p.is_upper = t.uplo == CUBLAS_FILL_MODE_UPPER ? 1 : 0;
  p.is_unit = t.diag == CUBLAS_DIAG_UNIT ? 1 : 0;
  p.transposition = t.trans;
  return launch_batch(h, type, "trsm", t.batch, p);
}

}  // namespace

#define KM_P_TRSM_BATCHED(P, Int, T)                                                              \
  P(cublasSideMode_t, side), P(cublasFillMode_t, uplo), P(cublasOperation_t, trans),              \
      P(cublasDiagType_t, diag), P(Int, m), P(Int, n), P(const T*, alpha), P(const T* const*, A), \
      P(Int, lda), P(T* const*, B), P(Int, ldb), P(Int, batchCount)

namespace {

template <class T, class Int>
cublasStatus_t trsm_batched(Handle& h, KM_P_TRSM_BATCHED(KM_DECLARE, Int, T)) {
  const Triangular system{side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb, batchCount};
  return solve_triangular(h, kTypeOf<T>, system);
}

}  // namespace

// These routines have no variants with 64-bit sizes.
#define KM_P_TPTTR(P, Int, T) \
  P(cublasFillMode_t, uplo), P(int, n), P(const T*, AP), P(T*, A), P(int, lda)
#define KM_P_TRTTP(P, Int, T) \
  P(cublasFillMode_t, uplo), P(int, n), P(const T*, A), P(int, lda), P(T*, AP)
#define KM_P_GETRF(P, Int, T) \
  P(int, n), P(T* const*, A), P(int, lda), P(int*, pivots), P(int*, info), P(int, batchSize)
#define KM_P_GETRI(P, Int, T)                                                            \
  P(int, n), P(const T* const*, A), P(int, lda), P(const int*, pivots), P(T* const*, C), \
      P(int, ldc), P(int*, info), P(int, batchSize)
#define KM_P_GETRS(P, Int, T)                                                               \
  P(cublasOperation_t, trans), P(int, n), P(int, nrhs), P(const T* const*, A), P(int, lda), \
      P(const int*, pivots), P(T* const*, B), P(int, ldb), P(int*, info), P(int, batchSize)
#define KM_P_MATINV(P, Int, T)                                                        \
  P(int, n), P(const T* const*, A), P(int, lda), P(T* const*, Ainv), P(int, lda_inv), \
      P(int*, info), P(int, batchSize)
#define KM_P_GEQRF(P, Int, T)                                                           \
  P(int, m), P(int, n), P(T* const*, A), P(int, lda), P(T* const*, Tau), P(int*, info), \
      P(int, batchSize)
#define KM_P_GELS(P, Int, T)                                                                     \
  P(cublasOperation_t, trans), P(int, m), P(int, n), P(int, nrhs), P(T* const*, A), P(int, lda), \
      P(T* const*, C), P(int, ldc), P(int*, info), P(int*, devInfoArray), P(int, batchSize)

namespace {

template <class T>
cublasStatus_t tpttr(Handle& h, KM_P_TPTTR(KM_DECLARE, int, T)) {
  return move_triangle(h, kTypeOf<T>, uplo, n, AP, A, lda, false);
}

template <class T>
cublasStatus_t trttp(Handle& h, KM_P_TRTTP(KM_DECLARE, int, T)) {
  return move_triangle(h, kTypeOf<T>, uplo, n, AP, A, lda, true);
}

template <class T>
cublasStatus_t getrf(Handle& h, KM_P_GETRF(KM_DECLARE, int, T)) {
  LIB_TRY(check_dense(n, lda, batchSize, A));
  if (batchSize != 0) LIB_REQUIRE(info);
  DenseParameters p = dense(A, n, lda);
  p.pivots = reinterpret_cast<uint64_t>(pivots);
  p.info = reinterpret_cast<uint64_t>(info);
  return launch_batch(h, kTypeOf<T>, "getrf", batchSize, p);
}

template <class T>
cublasStatus_t getri(Handle& h, KM_P_GETRI(KM_DECLARE, int, T)) {
  LIB_TRY(check_dense(n, lda, batchSize, A));
  LIB_TRY(check_dense(n, ldc, batchSize, C));
  if (batchSize != 0) LIB_REQUIRE(info);
  DenseParameters p = dense(A, n, lda);
  p.b = reinterpret_cast<uint64_t>(C);
  p.leading_b = ldc;
  p.pivots = reinterpret_cast<uint64_t>(pivots);
  p.info = reinterpret_cast<uint64_t>(info);
  return launch_batch(h, kTypeOf<T>, "getri", batchSize, p);
}

template <class T>
cublasStatus_t getrs(Handle& h, KM_P_GETRS(KM_DECLARE, int, T)) {
  const Solution solution{A, pivots, const_cast<T**>(B), n, nrhs, lda, ldb, batchSize, trans};
  return solve(h, kTypeOf<T>, solution, info);
}

template <class T>
cublasStatus_t matinv(Handle& h, KM_P_MATINV(KM_DECLARE, int, T)) {
  LIB_TRY(check_dense(n, lda, batchSize, A));
  LIB_TRY(check_dense(n, lda_inv, batchSize, Ainv));
  if (n > kMostInverted) return invalid("n is %d; at most 32 is possible", n);
  if (batchSize != 0) LIB_REQUIRE(info);
  DenseParameters p = dense(A, n, lda);
  p.b = reinterpret_cast<uint64_t>(Ainv);
  p.leading_b = lda_inv;
  p.info = reinterpret_cast<uint64_t>(info);
  return launch_batch(h, kTypeOf<T>, "matinv", batchSize, p);
}

template <class T>
cublasStatus_t geqrf(Handle& h, KM_P_GEQRF(KM_DECLARE, int, T)) {
  LIB_TRY(give_info(info, wrong_argument_of_geqrf(m, n, lda, batchSize)));
  if (m == 0 || n == 0 || batchSize == 0) return CUBLAS_STATUS_SUCCESS;
  LIB_REQUIRE(A);
  LIB_REQUIRE(Tau);
  DenseParameters p = dense(A, n, lda);
  p.rows = m;
  p.columns = n;
  p.tau = reinterpret_cast<uint64_t>(Tau);
  LIB_TRY(KernelArrays(h).add("TauArray", Tau, batchSize, sizeof *Tau).status());
  return launch_batch(h, kTypeOf<T>, "geqrf", batchSize, p);
}

cublasStatus_t check_system(cublasOperation_t trans, int m, int n) {
  if (trans != CUBLAS_OP_N) {
    return unsupported("transposed systems are not there; transpose A by cublas<t>geam");
  }
  if (m < n) {
    return unsupported(
        "systems with more columns than rows are not there; solve A A^T z = C by getrfBatched");
  }
  return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t gels(Handle& h, KM_P_GELS(KM_DECLARE, int, T)) {
  LIB_TRY(give_info(info, wrong_argument_of_gels(m, n, nrhs, lda, ldc, batchSize)));
  LIB_TRY(check_system(trans, m, n));
  if (m == 0 || n == 0 || batchSize == 0) return CUBLAS_STATUS_SUCCESS;
  LIB_REQUIRE(A);
  LIB_REQUIRE(C);
  library::StreamMemory scratch(*h.driver, h.stream);
  LIB_CHECK(scratch.allocate(
      bytes_for(static_cast<uint64_t>(n), static_cast<uint64_t>(batchSize), 1, sizeof(T))));
  DenseParameters p = dense(A, n, lda);
  p.rows = m;
  p.columns = nrhs;
  p.b = reinterpret_cast<uint64_t>(C);
  p.leading_b = ldc;
  p.tau = scratch.address();
  p.info = reinterpret_cast<uint64_t>(devInfoArray);
  return launch_batch(h, kTypeOf<T>, "gels", batchSize, p);
}

}  // namespace

KM_EXPORT_ALL(geam, , KM_P_GEAM, geam)
KM_EXPORT_ALL(dgmm, , KM_P_DGMM, dgmm)
KM_EXPORT_ALL(trsmBatched, , KM_P_TRSM_BATCHED, trsm_batched)
KM_EXPORT_ALL_32(tpttr, KM_P_TPTTR, tpttr)
KM_EXPORT_ALL_32(trttp, KM_P_TRTTP, trttp)
KM_EXPORT_ALL_32(getrfBatched, KM_P_GETRF, getrf)
KM_EXPORT_ALL_32(getriBatched, KM_P_GETRI, getri)
KM_EXPORT_ALL_32(getrsBatched, KM_P_GETRS, getrs)
KM_EXPORT_ALL_32(matinvBatched, KM_P_MATINV, matinv)
KM_EXPORT_ALL_32(geqrfBatched, KM_P_GEQRF, geqrf)
KM_EXPORT_ALL_32(gelsBatched, KM_P_GELS, gels)

}  // namespace km::cublas
