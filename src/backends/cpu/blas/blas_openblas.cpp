// Runs one call through OpenBLAS's C interface.
#include <climits>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "backends/cpu/blas/blas.h"

namespace km::cpu {
namespace {

// The values of CBLAS's enums.
int order_of(const kmb_blas_call& call) { return call.layout == KM_BLAS_LAYOUT_ROWS ? 101 : 102; }
int operation_of(km_blas_operation operation) { return 110 + operation; }
int triangle_of(const kmb_blas_call& call) {
  return call.triangle == KM_BLAS_TRIANGLE_UPPER ? 121 : 122;
}
int diagonal_of(const kmb_blas_call& call) { return 130 + call.diagonal; }
int side_of(const kmb_blas_call& call) { return 140 + call.side; }

/// Calls a function whose prototype follows from the arguments' types; all pointers are passed
/// alike.
template <class Result = void, class... Arguments>
Result invoke(void* function, Arguments... arguments) {
  return reinterpret_cast<Result (*)(Arguments...)>(function)(arguments...);
}

/// A call for one type; with `kComplex`, elements are pairs of `Real`.
template <class Real, bool kComplex>
class Caller {
 public:
  Caller(void* function, const kmb_blas_call& call)
      : function_(function),
        call_(call),
        alpha_{static_cast<Real>(call.alpha[0]), static_cast<Real>(call.alpha[1])},
        beta_{static_cast<Real>(call.beta[0]), static_cast<Real>(call.beta[1])} {}

  void run() {
    if (call_.routine <= KMB_BLAS_ROTM) {
      level1();
    } else if (call_.routine <= KMB_BLAS_SPR2) {
      level2();
    } else {
      level3();
    }
  }

 private:
  using Scalar = std::conditional_t<kComplex, const Real*, Real>;
  static Scalar pass(const Real (&value)[2]) {
    if constexpr (kComplex) {
      return value;
    } else {
      return value[0];
    }
  }
  Scalar alpha() const { return pass(alpha_); }
  Scalar beta() const { return pass(beta_); }
  static int number(uint64_t value) { return static_cast<int>(value); }
  int m() const { return number(call_.m); }
  int n() const { return number(call_.n); }
  int k() const { return number(call_.k); }
  static Real* data(const kmb_blas_array& array) { return reinterpret_cast<Real*>(array.address); }
  static int step(const kmb_blas_array& array) { return static_cast<int>(array.step); }
  /// True if twice the value fits an int, so that functions for reals can work on complex vectors.
  static bool is_doubled(int value) { return value <= INT_MAX / 2 && value >= -(INT_MAX / 2); }
  /// The distance in reals from a vector's address to its complex number `i`.
  int64_t place(int step, int i) const {
    return 2 * int64_t{step} * (step < 0 ? int64_t{i} - (n() - 1) : int64_t{i});
  }
  Real* a() const { return data(call_.a); }
  Real* b() const { return data(call_.b); }
  Real* c() const { return data(call_.c); }
  int lda() const { return step(call_.a); }
  int ldb() const { return step(call_.b); }
  int ldc() const { return step(call_.c); }
  int order() const { return order_of(call_); }
  int triangle() const { return triangle_of(call_); }
  int operation() const { return operation_of(call_.operation_a); }
  int diagonal() const { return diagonal_of(call_); }

  void level1();
  void rotate();
  Real sum_of_parts();
  void reduce();
  void level2();
  void triangular_vector();
  void rank_update();
  void level3();

  void* const function_;
  const kmb_blas_call& call_;
  const Real alpha_[2], beta_[2];
};

template <class Real, bool kComplex>
void Caller<Real, kComplex>::level1() {
  const auto turn = [&](int i) { return static_cast<Real>(call_.rotation[i]); };
  switch (call_.routine) {
    case KMB_BLAS_AXPY:
      return invoke(function_, n(), alpha(), b(), ldb(), c(), ldc());
    case KMB_BLAS_SCAL:
      return invoke(function_, n(), alpha(), b(), ldb());
    case KMB_BLAS_COPY:
    case KMB_BLAS_SWAP:
      return invoke(function_, n(), b(), ldb(), c(), ldc());
    case KMB_BLAS_ROT:
      return rotate();
    case KMB_BLAS_ROTM: {
      const Real parameters[5] = {turn(0), turn(1), turn(2), turn(3), turn(4)};
      return invoke(function_, n(), b(), ldb(), c(), ldc(), &parameters[0]);
    }
    default:
      reduce();
  }
}

/// A real rotation, which treats real and imaginary parts alike.
template <class Real, bool kComplex>
void Caller<Real, kComplex>::rotate() {
  const auto turn = [&](int count, Real* x, int x_step, Real* y, int y_step) {
    invoke(function_, count, x, x_step, y, y_step, static_cast<Real>(call_.rotation[0]),
           static_cast<Real>(call_.rotation[1]));
  };
  if (!kComplex) return turn(n(), b(), ldb(), c(), ldc());
  if (ldb() == 1 && ldc() == 1 && is_doubled(n())) return turn(2 * n(), b(), 1, c(), 1);
  if (is_doubled(ldb()) && is_doubled(ldc())) {
    turn(n(), b(), 2 * ldb(), c(), 2 * ldc());
    return turn(n(), b() + 1, 2 * ldb(), c() + 1, 2 * ldc());
  }
  for (int i = 0; i < n(); ++i) turn(2, b() + place(ldb(), i), 1, c() + place(ldc(), i), 1);
}

/// The sum of |real| + |imaginary| of complex numbers.
template <class Real, bool kComplex>
Real Caller<Real, kComplex>::sum_of_parts() {
  const auto sum = [&](int count, const Real* x, int step) {
    return invoke<Real>(function_, count, x, step);
  };
  if (is_doubled(ldb())) return sum(n(), b(), 2 * ldb()) + sum(n(), b() + 1, 2 * ldb());
  Real all = 0;
  for (int i = 0; i < n(); ++i) all += sum(2, b() + place(ldb(), i), 1);
  return all;
}

template <class Real, bool kComplex>
void Caller<Real, kComplex>::reduce() {
  if (call_.routine == KMB_BLAS_IAMAX) {
    uint64_t index = UINT64_MAX;
    if (n() != 0) index = invoke<size_t>(function_, n(), b(), ldb());
    std::memcpy(c(), &index, sizeof index);
  } else if (call_.routine == KMB_BLAS_ASUM && kComplex) {
    *c() = sum_of_parts();
  } else if (call_.routine == KMB_BLAS_NRM2 || call_.routine == KMB_BLAS_ASUM) {
    *c() = invoke<Real>(function_, n(), b(), ldb());
  } else if constexpr (kComplex) {
    invoke(function_, n(), a(), lda(), b(), ldb(), c());
  } else {
    *c() = invoke<Real>(function_, n(), a(), lda(), b(), ldb());
  }
}

template <class Real, bool kComplex>
void Caller<Real, kComplex>::level2() {
  switch (call_.routine) {
    case KMB_BLAS_GEMV:
      return invoke(function_, order(), operation(), m(), n(), alpha(), a(), lda(), b(), ldb(),
                    beta(), c(), ldc());
    case KMB_BLAS_GBMV:
      return invoke(function_, order(), operation(), m(), n(), number(call_.lower),
                    number(call_.upper), alpha(), a(), lda(), b(), ldb(), beta(), c(), ldc());
    case KMB_BLAS_SYMV:
      return invoke(function_, order(), triangle(), n(), alpha(), a(), lda(), b(), ldb(), beta(),
                    c(), ldc());
    case KMB_BLAS_SBMV:
      return invoke(function_, order(), triangle(), n(), k(), alpha(), a(), lda(), b(), ldb(),
                    beta(), c(), ldc());
    case KMB_BLAS_SPMV:
      return invoke(function_, order(), triangle(), n(), alpha(), a(), b(), ldb(), beta(), c(),
                    ldc());
    case KMB_BLAS_TRMV:
    case KMB_BLAS_TRSV:
    case KMB_BLAS_TBMV:
    case KMB_BLAS_TBSV:
    case KMB_BLAS_TPMV:
    case KMB_BLAS_TPSV:
      return triangular_vector();
    default:
      rank_update();
  }
}

template <class Real, bool kComplex>
void Caller<Real, kComplex>::triangular_vector() {
  switch (call_.routine) {
    case KMB_BLAS_TBMV:
    case KMB_BLAS_TBSV:
      return invoke(function_, order(), triangle(), operation(), diagonal(), n(), k(), a(), lda(),
                    b(), ldb());
    case KMB_BLAS_TPMV:
    case KMB_BLAS_TPSV:
      return invoke(function_, order(), triangle(), operation(), diagonal(), n(), a(), b(), ldb());
    default:
      return invoke(function_, order(), triangle(), operation(), diagonal(), n(), a(), lda(), b(),
                    ldb());
  }
}

template <class Real, bool kComplex>
void Caller<Real, kComplex>::rank_update() {
  switch (call_.routine) {
    case KMB_BLAS_GER:
    case KMB_BLAS_GERC:
      return invoke(function_, order(), m(), n(), alpha(), b(), ldb(), c(), ldc(), a(), lda());
    case KMB_BLAS_SYR:
      return invoke(function_, order(), triangle(), n(), alpha_[0], b(), ldb(), a(), lda());
    case KMB_BLAS_SYR2:
      return invoke(function_, order(), triangle(), n(), alpha(), b(), ldb(), c(), ldc(), a(),
                    lda());
    case KMB_BLAS_SPR:
      return invoke(function_, order(), triangle(), n(), alpha_[0], b(), ldb(), a());
    default:  // SPR2
      return invoke(function_, order(), triangle(), n(), alpha(), b(), ldb(), c(), ldc(), a());
  }
}

template <class Real, bool kComplex>
void Caller<Real, kComplex>::level3() {
  switch (call_.routine) {
    case KMB_BLAS_GEMM:
      return invoke(function_, order(), operation(), operation_of(call_.operation_b), m(), n(), k(),
                    alpha(), a(), lda(), b(), ldb(), beta(), c(), ldc());
    case KMB_BLAS_SYMM:
    case KMB_BLAS_HEMM:
      return invoke(function_, order(), side_of(call_), triangle(), m(), n(), alpha(), a(), lda(),
                    b(), ldb(), beta(), c(), ldc());
    case KMB_BLAS_SYRK:
      return invoke(function_, order(), triangle(), operation(), n(), k(), alpha(), a(), lda(),
                    beta(), c(), ldc());
    case KMB_BLAS_HERK:
      return invoke(function_, order(), triangle(), operation(), n(), k(), alpha_[0], a(), lda(),
                    beta_[0], c(), ldc());
    case KMB_BLAS_SYR2K:
      return invoke(function_, order(), triangle(), operation(), n(), k(), alpha(), a(), lda(), b(),
                    ldb(), beta(), c(), ldc());
    case KMB_BLAS_HER2K:
      return invoke(function_, order(), triangle(), operation(), n(), k(), alpha(), a(), lda(), b(),
                    ldb(), beta_[0], c(), ldc());
    default:  // TRMM, TRSM
      return invoke(function_, order(), side_of(call_), triangle(), operation(), diagonal(), m(),
                    n(), alpha(), a(), lda(), b(), ldb());
  }
}

}  // namespace

void run_openblas(const OpenBlas& library, const kmb_blas_call& call) {
  void* const function = library.function(call.routine, call.type);
  switch (call.type) {
    case KM_DATA_TYPE_F32:
      return Caller<float, false>(function, call).run();
    case KM_DATA_TYPE_F64:
      return Caller<double, false>(function, call).run();
    case KM_DATA_TYPE_C32:
      return Caller<float, true>(function, call).run();
    default:
      return Caller<double, true>(function, call).run();
  }
}

}  // namespace km::cpu
