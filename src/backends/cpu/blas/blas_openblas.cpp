// Runs one call through OpenBLAS's C interface.
#include <climits>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "backends/cpu/blas/blas.h"
#include "base/arch/constants.h"

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
  Caller(const OpenBlas& library, const kmb_blas_call& call)
      : library_(library),
        function_(library.function(call.routine, call.type)),
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
  bool may_cross_pages() const;
  void multiply_vector_exactly();
  void triangular_vector();
  void rank_update();
  void level3();

  const OpenBlas& library_;
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

/// True if the bytes behind an array of `elements` may be on another page.
bool ends_at_page(const void* array, uint64_t elements, uint64_t element_bytes) {
  constexpr uintptr_t kReadBeyond = 64;  // the longest vector register
  const auto last = reinterpret_cast<uintptr_t>(array) + elements * element_bytes - 1;
  return elements != 0 &&
         last / arch::kLeastPageBytes != (last + kReadBeyond) / arch::kLeastPageBytes;
}

/// The elements from a vector's first to its last.
uint64_t span_of(uint64_t count, int64_t step) {
  return count == 0 ? 0 : (count - 1) * static_cast<uint64_t>(step < 0 ? -step : step) + 1;
}

/// OpenBLAS's complex gemv and hemv read up to a vector register behind their arrays, which matters
/// where memory that the program has registered ends.
template <class Real, bool kComplex>
bool Caller<Real, kComplex>::may_cross_pages() const {
  if (!kComplex) return false;
  const bool is_square = call_.routine == KMB_BLAS_SYMV;
  const uint64_t rows = is_square ? call_.n : call_.m, columns = call_.n;
  const bool is_transposed = !is_square && call_.operation_a != KM_BLAS_OPERATION_NONE;
  const bool is_by_rows = call_.layout == KM_BLAS_LAYOUT_ROWS;
  const uint64_t lines = is_by_rows ? rows : columns, length = is_by_rows ? columns : rows;
  const uint64_t matrix = lines == 0 ? 0 : (lines - 1) * static_cast<uint64_t>(lda()) + length;
  constexpr uint64_t kBytes = 2 * sizeof(Real);
  return ends_at_page(a(), matrix, kBytes) ||
         ends_at_page(b(), span_of(is_transposed ? rows : columns, ldb()), kBytes) ||
         ends_at_page(c(), span_of(is_transposed ? columns : rows, ldc()), kBytes);
}

/// The vector as a matrix of one column: products of matrices read their operands exactly.
template <class Real, bool kComplex>
void Caller<Real, kComplex>::multiply_vector_exactly() {
  const bool is_square = call_.routine == KMB_BLAS_SYMV;
  const bool is_transposed = !is_square && call_.operation_a != KM_BLAS_OPERATION_NONE;
  const int rows = is_square ? n() : m();
  const int in = is_transposed ? rows : n(), out = is_transposed ? n() : rows;
  std::vector<Real> x(2 * static_cast<size_t>(in)), y(2 * static_cast<size_t>(out));
  const auto copy = [](Real* strided, int step, int count, Real* packed, bool is_back) {
    for (int64_t i = 0; i < count; ++i) {
      Real* const at = strided + 2 * step * (step < 0 ? i - (count - 1) : i);
      std::memcpy(is_back ? at : packed + 2 * i, is_back ? packed + 2 * i : at, 2 * sizeof(Real));
    }
  };
  copy(b(), ldb(), in, x.data(), false);
  copy(c(), ldc(), out, y.data(), false);
  const bool is_by_rows = call_.layout == KM_BLAS_LAYOUT_ROWS;
  const int x_step = is_by_rows ? 1 : in, y_step = is_by_rows ? 1 : out;
  if (is_square) {
    constexpr int kLeft = 141;
    invoke(library_.function(KMB_BLAS_HEMM, call_.type), order(), kLeft, triangle(), n(), 1,
           alpha(), a(), lda(), x.data(), x_step, beta(), y.data(), y_step);
  } else {
    constexpr int kPlain = 111;
    invoke(library_.function(KMB_BLAS_GEMM, call_.type), order(), operation(), kPlain, out, 1, in,
           alpha(), a(), lda(), x.data(), x_step, beta(), y.data(), y_step);
  }
  copy(c(), ldc(), out, y.data(), true);
}

template <class Real, bool kComplex>
void Caller<Real, kComplex>::level2() {
  if (call_.routine == KMB_BLAS_GEMV || call_.routine == KMB_BLAS_SYMV) {
    if (may_cross_pages()) return multiply_vector_exactly();
  }
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
  switch (call.type) {
    case KM_DATA_TYPE_F32:
      return Caller<float, false>(library, call).run();
    case KM_DATA_TYPE_F64:
      return Caller<double, false>(library, call).run();
    case KM_DATA_TYPE_C32:
      return Caller<float, true>(library, call).run();
    default:
      return Caller<double, true>(library, call).run();
  }
}

}  // namespace km::cpu
