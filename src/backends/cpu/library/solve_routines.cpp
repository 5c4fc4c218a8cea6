// Each routine of km_solve: copies, LAPACK, and the results' way back.
#include <complex>

#include "backend/blas_numbers.h"
#include "backend/solve_calls.h"
#include "backends/cpu/library/solve.h"
#include "backends/cpu/library/solve_matrix.h"
#include "math/lapack/cholesky.h"
#include "math/lapack/eigen.h"
#include "math/lapack/exchanges.h"
#include "math/lapack/svd.h"

namespace km::cpu {
namespace {

using namespace math;  // NOLINT: LAPACK's routines

int number(uint64_t size) { return static_cast<int>(size); }

/// LAPACK's letters for values of the API.
char triangle_letter(const kmb_solve_call& call) {
  return call.triangle == KM_BLAS_TRIANGLE_UPPER ? 'U' : 'L';
}
char side_letter(const kmb_solve_call& call) { return call.side == KM_BLAS_SIDE_RIGHT ? 'R' : 'L'; }
char operation_letter(const kmb_solve_call& call) {
  if (call.operation == KM_BLAS_OPERATION_NONE) return 'N';
  return call.operation == KM_BLAS_OPERATION_TRANSPOSE ? 'T' : 'C';
}
/// The letter of ormqr, whose real variants know no conjugation, and whose complex ones no
/// transposition without it.
char unitary_letter(const kmb_solve_call& call) {
  if (call.operation == KM_BLAS_OPERATION_NONE) return 'N';
  return is_complex(call.type) ? 'C' : 'T';
}

/// The numbers of one item: pivots, factors of reflections, eigenvalues or singular values.
template <class Number>
Number* numbers_of(const kmb_solve_call& call, uint64_t item) {
  return reinterpret_cast<Number*>(call.numbers.address) + item * call.numbers.stride;
}

/// The routines for one item.
template <class T>
class Solver {
 public:
  Solver(const kmb_solve_call& call, uint64_t item) : call_(call), item_(item) {}

  int potrf() const {
    const auto a = read(call_.a, call_.n, call_.n);
    const int info = factorize_positive(triangle_letter(call_), n(), a.data(), a.leading());
    a.write();
    return info;
  }

  int potrs() const {
    const auto a = read(call_.a, call_.n, call_.n), b = read(call_.b, call_.n, call_.k);
    int info = 0;
    lapack<T>(kPotrs, triangle_letter(call_), n(), k(), a.data(), a.leading(), b.data(),
              b.leading(), &info);
    b.write();
    return info;
  }

  /// The search for a pivot does not see NaN everywhere, so that nothing is exchanged then.
  int getrf() const {
    const auto a = read(call_.a, call_.m, call_.n);
    const int least = std::min(m(), n());
    const Scratch<int> rows(static_cast<size_t>(least));
    int info = 0;
    if (are_finite(a.data(), m(), n(), a.leading())) {
      lapack<T>(kGetrf, m(), n(), a.data(), a.leading(), rows.get(), &info);
    } else {
      fill_nan(a.data(), m(), n(), a.leading());
      for (int i = 0; i < least; ++i) rows[i] = i + 1;
    }
    a.write();
    std::copy_n(rows.get(), least, numbers_of<int32_t>(call_, item_));
    return info;
  }

  int getrs() const {
    const Scratch<int> rows(call_.n);
    std::copy_n(numbers_of<int32_t>(call_, item_), call_.n, rows.get());
    if (const int* const wrong = find_wrong_row<int>(rows.get(), n(), n())) {
      return static_cast<int>(wrong - rows.get()) + 1;
    }
    const auto a = read(call_.a, call_.n, call_.n), b = read(call_.b, call_.n, call_.k);
    int info = 0;
    lapack<T>(kGetrs, operation_letter(call_), n(), k(), a.data(), a.leading(), rows.get(),
              b.data(), b.leading(), &info);
    b.write();
    return info;
  }

  int geqrf() const {
    const auto a = read(call_.a, call_.m, call_.n);
    const int least = std::min(m(), n());
    const Scratch<T> tau(static_cast<size_t>(least));
    int info = 0;
    with_work<T>([&](T* work, int lwork) {
      lapack<T>(kGeqrf, m(), n(), a.data(), a.leading(), tau.get(), work, lwork, &info);
    });
    a.write();
    std::copy_n(tau.get(), least, numbers_of<T>(call_, item_));
    return info;
  }

  int orgqr() const {
    const auto a = read(call_.a, call_.m, call_.n);
    const Scratch<T> tau = read_tau();
    int info = 0;
    with_work<T>([&](T* work, int lwork) {
      lapack<T>(kOrgqr, m(), n(), k(), a.data(), a.leading(), tau.get(), work, lwork, &info);
    });
    a.write();
    return info;
  }

  int ormqr() const {
    const uint64_t order = call_.side == KM_BLAS_SIDE_LEFT ? call_.m : call_.n;
    const auto a = read(call_.a, order, call_.k), c = read(call_.b, call_.m, call_.n);
    const Scratch<T> tau = read_tau();
    int info = 0;
    with_work<T>([&](T* work, int lwork) {
      lapack<T>(kOrmqr, side_letter(call_), unitary_letter(call_), m(), n(), k(), a.data(),
                a.leading(), tau.get(), c.data(), c.leading(), work, lwork, &info);
    });
    c.write();
    return info;
  }

  int syevd() const {
    const bool has_vectors = call_.vectors == KM_SOLVE_VECTORS_ALL;
    const auto a = read(call_.a, call_.n, call_.n);
    const Scratch<Real<T>> values(call_.n);
    const int info = symmetric_eigen_of_copy(has_vectors ? 'V' : 'N', triangle_letter(call_), n(),
                                             a.data(), a.leading(), values.get());
    if (has_vectors) a.write();
    std::copy_n(values.get(), call_.n, numbers_of<Real<T>>(call_, item_));
    return info;
  }

  int gesvd() const {
    const bool is_all = call_.vectors == KM_SOLVE_VECTORS_ALL;
    const bool has_vectors = is_all || call_.vectors == KM_SOLVE_VECTORS_THIN;
    const uint64_t least = std::min(call_.m, call_.n);
    const uint64_t columns = !has_vectors ? 0 : is_all ? call_.m : least;
    const uint64_t rows = !has_vectors ? 0 : is_all ? call_.n : least;
    const auto a = read(call_.a, call_.m, call_.n);
    const SolveMatrix<T> u(call_, call_.b, item_, call_.m, columns);
    const SolveMatrix<T> vh(call_, call_.vh, item_, rows, call_.n);
    const Scratch<Real<T>> values(least);
    const char job = is_all ? 'A' : has_vectors ? 'S' : 'N';
    const int info =
        decompose_copy(Decomposition<T>{job, job, m(), n(), a.data(), a.leading(), values.get(),
                                        u.data(), u.leading(), vh.data(), vh.leading()});
    std::copy_n(values.get(), least, numbers_of<Real<T>>(call_, item_));
    u.write();
    vh.write();
    return info;
  }

  /// The vectors of a matrix without elements, of which gesvd makes none: those of the identity.
  int empty_gesvd() const {
    if (call_.vectors != KM_SOLVE_VECTORS_ALL) return 0;
    write_identity(call_.b, call_.m);
    write_identity(call_.vh, call_.n);
    return 0;
  }

 private:
  int m() const { return number(call_.m); }
  int n() const { return number(call_.n); }
  int k() const { return number(call_.k); }
  SolveMatrix<T> read(const kmb_blas_array& array, uint64_t rows, uint64_t columns) const {
    SolveMatrix<T> matrix(call_, array, item_, rows, columns);
    matrix.read();
    return matrix;
  }
  Scratch<T> read_tau() const {
    Scratch<T> tau(call_.k);
    std::copy_n(numbers_of<T>(call_, item_), call_.k, tau.get());
    return tau;
  }
  void write_identity(const kmb_blas_array& array, uint64_t order) const {
    const SolveMatrix<T> matrix(call_, array, item_, order, order);
    std::fill_n(matrix.data(), order * order, T(0));
    for (uint64_t i = 0; i < order; ++i) matrix.data()[i * (order + 1)] = T(1);
    matrix.write();
  }

  const kmb_solve_call& call_;
  const uint64_t item_;
};

}  // namespace

template <class T>
int solve_item_of(const kmb_solve_call& call, uint64_t item) {
  const Solver<T> solver(call, item);
  if (solve_is_empty(call)) return call.routine == KMB_SOLVE_GESVD ? solver.empty_gesvd() : 0;
  switch (call.routine) {
    case KMB_SOLVE_POTRF:
      return solver.potrf();
    case KMB_SOLVE_POTRS:
      return solver.potrs();
    case KMB_SOLVE_GETRF:
      return solver.getrf();
    case KMB_SOLVE_GETRS:
      return solver.getrs();
    case KMB_SOLVE_GEQRF:
      return solver.geqrf();
    case KMB_SOLVE_ORGQR:
      return solver.orgqr();
    case KMB_SOLVE_ORMQR:
      return solver.ormqr();
    case KMB_SOLVE_SYEVD:
      return solver.syevd();
    case KMB_SOLVE_GESVD:
      return solver.gesvd();
  }
  return 0;
}

template int solve_item_of<float>(const kmb_solve_call&, uint64_t);
template int solve_item_of<double>(const kmb_solve_call&, uint64_t);
template int solve_item_of<std::complex<float>>(const kmb_solve_call&, uint64_t);
template int solve_item_of<std::complex<double>>(const kmb_solve_call&, uint64_t);

}  // namespace km::cpu
