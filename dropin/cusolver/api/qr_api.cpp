// QR factorizations, and reductions to bidiagonal and tridiagonal form with their orthogonal
// matrices.
#include "dropin/cusolver/dense/lapack.h"
#include "dropin/cusolver/frame/exports.h"

namespace km::cusolver {

namespace {

double product(int64_t a, int64_t b, int64_t c) { return double(a) * double(b) * double(c); }

bool is_side(cublasSideMode_t side) {
  return side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT;
}

/// The letter of an operation with an orthogonal matrix. LAPACK has transposes of real ones and
/// conjugate transposes of complex ones.
template <class T>
char orthogonal_letter(cublasOperation_t operation) {
  if (operation == CUBLAS_OP_N) return 'N';
  return kIsComplex<T> ? 'C' : 'T';
}
template <class T>
bool is_orthogonal_operation(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N || operation == CUBLAS_OP_C ||
         (operation == CUBLAS_OP_T && !kIsComplex<T>);
}

template <class T>
cusolverStatus_t factorize(DnHandle& h, const char* name, int64_t m, int64_t n, T* a, int64_t lda,
                           T* tau, int* info) {
  return Job(h, name)
      .size("m", m)
      .size("n", n)
      .matrix("A", a, m, n, lda, true)
      .vector("tau", tau, std::min(m, n), true)
      .info(info)
      .submit(2 * product(m, n, std::min(m, n)), [=] {
        on_copy(a, m, n, lda, [&](T* copy, int leading) {
          with_work<T>([&](T* work, int lwork) {
            lapack<Native<T>>(kGeqrf, int(m), int(n), copy, leading, tau, work, lwork, info);
          });
        });
      });
}

#define KM_P_GEQRF(P, T) \
  P(int, m), P(int, n), P(T*, A), P(int, lda), P(T*, tau), P(T*, work), P(int, lwork), P(int*, info)
template <class T>
cusolverStatus_t geqrf(DnHandle& h, const char* name, KM_P_GEQRF(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  return factorize(h, name, m, n, native(A), lda, native(tau), info);
}

#define KM_P_ORGQR(P, T)                                                                 \
  P(int, m), P(int, n), P(int, k), P(T*, A), P(int, lda), P(const T*, tau), P(T*, work), \
      P(int, lwork), P(int*, info)
template <class T>
cusolverStatus_t orgqr(DnHandle& h, const char* name, KM_P_ORGQR(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  return Job(h, name)
      .size("m", m)
      .choice("n", n, n >= 0 && n <= m)
      .choice("k", k, k >= 0 && k <= n)
      .matrix("A", A, m, n, lda, true)
      .vector("tau", tau, k, false)
      .info(info)
      .submit(4 * product(m, n, k), [=] {
        on_copy(native(A), m, n, lda, [&](Native<T>* copy, int leading) {
          with_work<Native<T>>([&](Native<T>* work, int lwork) {
            lapack<Native<T>>(kOrgqr, m, n, k, copy, leading, tau, work, lwork, info);
          });
        });
      });
}

#define KM_P_ORMQR(P, T)                                                                   \
  P(cublasSideMode_t, side), P(cublasOperation_t, trans), P(int, m), P(int, n), P(int, k), \
      P(const T*, A), P(int, lda), P(const T*, tau), P(T*, C), P(int, ldc), P(T*, work),   \
      P(int, lwork), P(int*, info)
template <class T>
cusolverStatus_t ormqr(DnHandle& h, const char* name, KM_P_ORMQR(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  const int order = side == CUBLAS_SIDE_LEFT ? m : n;
  return Job(h, name)
      .choice("side", side, is_side(side))
      .choice("trans", trans, is_orthogonal_operation<T>(trans))
      .size("m", m)
      .size("n", n)
      .choice("k", k, k >= 0 && k <= order)
      .matrix("A", A, order, k, lda, false)
      .vector("tau", tau, k, false)
      .matrix("C", C, m, n, ldc, true)
      .info(info)
      .submit(4 * product(m, n, k), [=] {
        const MatrixCopy<Native<T>> factors(native(A), order, k, lda);
        on_copy(native(C), m, n, ldc, [&](Native<T>* copy, int leading) {
          with_work<Native<T>>([&](Native<T>* work, int lwork) {
            lapack<Native<T>>(kOrmqr, letter(side), orthogonal_letter<T>(trans), m, n, k,
                              factors.data(), factors.leading(), tau, copy, leading, work, lwork,
                              info);
          });
        });
      });
}

#define KM_P_GEBRD(P, T)                                                                    \
  P(int, m), P(int, n), P(T*, A), P(int, lda), P(Real<T>*, D), P(Real<T>*, E), P(T*, tauq), \
      P(T*, taup), P(T*, work), P(int, lwork), P(int*, info)
template <class T>
cusolverStatus_t gebrd(DnHandle& h, const char* name, KM_P_GEBRD(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  const int count = std::min(m, n);
  return Job(h, name)
      .size("m", m)
      .size("n", n)
      .matrix("A", A, m, n, lda, true)
      .vector("D", D, count, true)
      .vector("E", E, count - 1, true)
      .vector("TAUQ", tauq, count, true)
      .vector("TAUP", taup, count, true)
      .info(info)
      .submit(4 * product(m, n, count), [=] {
        on_copy(native(A), m, n, lda, [&](Native<T>* copy, int leading) {
          with_work<Native<T>>([&](Native<T>* work, int lwork) {
            lapack<Native<T>>(kGebrd, m, n, copy, leading, D, E, tauq, taup, work, lwork, info);
          });
        });
      });
}

#define KM_P_ORGBR(P, T)                                                             \
  P(cublasSideMode_t, side), P(int, m), P(int, n), P(int, k), P(T*, A), P(int, lda), \
      P(const T*, tau), P(T*, work), P(int, lwork), P(int*, info)
template <class T>
cusolverStatus_t orgbr(DnHandle& h, const char* name, KM_P_ORGBR(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  const bool is_left = side == CUBLAS_SIDE_LEFT;
  // LAPACK's rules: Q has at least as many rows as columns, P's transpose at most.
  const bool fits = is_left ? n <= m && n >= std::min(m, k) : m <= n && m >= std::min(n, k);
  return Job(h, name)
      .choice("side", side, is_side(side))
      .size("m", m)
      .size("n", n)
      .size("k", k)
      .choice("k", k, fits)
      .matrix("A", A, m, n, lda, true)
      .vector("tau", tau, std::min(is_left ? m : n, k), false)
      .info(info)
      .submit(4 * product(m, n, std::min(m, n)), [=] {
        on_copy(native(A), m, n, lda, [&](Native<T>* copy, int leading) {
          with_work<Native<T>>([&](Native<T>* work, int lwork) {
            lapack<Native<T>>(kOrgbr, is_left ? 'Q' : 'P', m, n, k, copy, leading, tau, work, lwork,
                              info);
          });
        });
      });
}

#define KM_P_SYTRD(P, T)                                                                       \
  P(cublasFillMode_t, uplo), P(int, n), P(T*, A), P(int, lda), P(Real<T>*, D), P(Real<T>*, E), \
      P(T*, tau), P(T*, work), P(int, lwork), P(int*, info)
template <class T>
cusolverStatus_t sytrd(DnHandle& h, const char* name, KM_P_SYTRD(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  return Job(h, name)
      .fill(uplo)
      .size("n", n)
      .matrix("A", A, n, n, lda, true)
      .vector("D", D, n, true)
      .vector("E", E, n - 1, true)
      .vector("tau", tau, n - 1, true)
      .info(info)
      .submit(2 * product(n, n, n), [=] {
        on_copy(native(A), n, n, lda, [&](Native<T>* copy, int leading) {
          with_work<Native<T>>([&](Native<T>* work, int lwork) {
            lapack<Native<T>>(kSytrd, letter(uplo), n, copy, leading, D, E, tau, work, lwork, info);
          });
        });
      });
}

#define KM_P_ORGTR(P, T)                                                                      \
  P(cublasFillMode_t, uplo), P(int, n), P(T*, A), P(int, lda), P(const T*, tau), P(T*, work), \
      P(int, lwork), P(int*, info)
template <class T>
cusolverStatus_t orgtr(DnHandle& h, const char* name, KM_P_ORGTR(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  return Job(h, name)
      .fill(uplo)
      .size("n", n)
      .matrix("A", A, n, n, lda, true)
      .vector("tau", tau, n - 1, false)
      .info(info)
      .submit(2 * product(n, n, n), [=] {
        on_copy(native(A), n, n, lda, [&](Native<T>* copy, int leading) {
          with_work<Native<T>>([&](Native<T>* work, int lwork) {
            lapack<Native<T>>(kOrgtr, letter(uplo), n, copy, leading, tau, work, lwork, info);
          });
        });
      });
}

#define KM_P_ORMTR(P, T)                                                                        \
  P(cublasSideMode_t, side), P(cublasFillMode_t, uplo), P(cublasOperation_t, trans), P(int, m), \
      P(int, n), P(T*, A), P(int, lda), P(T*, tau), P(T*, C), P(int, ldc), P(T*, work),         \
      P(int, lwork), P(int*, info)
template <class T>
cusolverStatus_t ormtr(DnHandle& h, const char* name, KM_P_ORMTR(KM_SIGNATURE, T)) {
  LIB_TRY(check_work(lwork));
  const int order = side == CUBLAS_SIDE_LEFT ? m : n;
  return Job(h, name)
      .choice("side", side, is_side(side))
      .fill(uplo)
      .choice("trans", trans, is_orthogonal_operation<T>(trans))
      .size("m", m)
      .size("n", n)
      .matrix("A", A, order, order, lda, false)
      .vector("tau", tau, order - 1, false)
      .matrix("C", C, m, n, ldc, true)
      .info(info)
      .submit(4 * product(m, n, order), [=] {
        const MatrixCopy<Native<T>> factors(native(A), order, order, lda);
        on_copy(native(C), m, n, ldc, [&](Native<T>* copy, int leading) {
          with_work<Native<T>>([&](Native<T>* work, int lwork) {
            lapack<Native<T>>(kOrmtr, letter(side), letter(uplo), orthogonal_letter<T>(trans), m, n,
                              factors.data(), factors.leading(), tau, copy, leading, work, lwork,
                              info);
          });
        });
      });
}

}  // namespace

KM_EXPORT_ALL(geqrf, KM_P_GEQRF, geqrf)
KM_EXPORT_NAMES(orgqr, ungqr, KM_P_ORGQR, orgqr)
KM_EXPORT_NAMES(ormqr, unmqr, KM_P_ORMQR, ormqr)
KM_EXPORT_ALL(gebrd, KM_P_GEBRD, gebrd)
KM_EXPORT_NAMES(orgbr, ungbr, KM_P_ORGBR, orgbr)
KM_EXPORT_NAMES(sytrd, hetrd, KM_P_SYTRD, sytrd)
KM_EXPORT_NAMES(orgtr, ungtr, KM_P_ORGTR, orgtr)
KM_EXPORT_NAMES(ormtr, unmtr, KM_P_ORMTR, ormtr)

extern "C" {

cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m,
                                  int64_t n, cudaDataType type, void* a, int64_t lda,
                                  cudaDataType tau_type, void* tau, cudaDataType compute, void*,
                                  size_t, void*, size_t, int* info) {
  return call(__func__, handle, [&](DnHandle& h) {
    return for_type(type, [&]<class T>(T*) -> cusolverStatus_t {
      LIB_TRY(require_type<T>("dataTypeTau", tau_type));
      LIB_TRY(require_type<T>("computeType", compute));
      return factorize(h, "cusolverDnXgeqrf", m, n, static_cast<T*>(a), lda, static_cast<T*>(tau),
                       info);
    });
  });
}

cusolverStatus_t cusolverDnXlarft(cusolverDnHandle_t handle, cusolverDnParams_t,
                                  cusolverDirectMode_t direct, cusolverStorevMode_t storev,
                                  int64_t n, int64_t k, cudaDataType type, const void* V,
                                  int64_t ldv, cudaDataType tau_type, const void* tau,
                                  cudaDataType t_type, void* T_, int64_t ldt, cudaDataType compute,
                                  void*, size_t, void*, size_t) {
  return call(__func__, handle, [&](DnHandle& h) {
    return for_type(type, [&]<class T>(T*) -> cusolverStatus_t {
      LIB_TRY(require_type<T>("dataTypeTau", tau_type));
      LIB_TRY(require_type<T>("dataTypeT", t_type));
      LIB_TRY(require_type<T>("computeType", compute));
      const bool is_backward = direct == CUBLAS_DIRECT_BACKWARD;
      const bool has_rows = storev == CUBLAS_STOREV_ROWWISE;
      auto* const v = static_cast<T*>(const_cast<void*>(V));
      auto* const t = static_cast<T*>(T_);
      return Job(h, "cusolverDnXlarft")
          .choice("direct", direct, is_backward || direct == CUBLAS_DIRECT_FORWARD)
          .choice("storev", storev, has_rows || storev == CUBLAS_STOREV_COLUMNWISE)
          .size("n", n)
          .choice("k", k, k >= 1 && k <= n)
          .matrix("V", v, has_rows ? k : n, has_rows ? n : k, ldv, false)
          .vector("tau", static_cast<const T*>(tau), k, false)
          .matrix("T", t, k, k, ldt, true)
          .submit(product(n, k, k), [=] {
            lapack<Native<T>>(kLarft, is_backward ? 'B' : 'F', has_rows ? 'R' : 'C', int(n), int(k),
                              v, int(ldv), tau, t, int(ldt));
          });
    });
  });
}

}  // extern "C"

}  // namespace km::cusolver
