// Factors, solvers, eigenvalues and singular values of dense matrices, by a BLAS object.
#ifndef KERNELMILL_CPP_SOLVE_HPP
#define KERNELMILL_CPP_SOLVE_HPP

#include <kernelmill/cpp/blas.hpp>
#include <kernelmill/cpp/fft.hpp>

namespace km {
inline namespace v1 {
namespace detail {

// The arrays of a batch, `length` elements each; those of a slice lie one after the other.
template <class T>
km_array arrays_of(const array_operand<T>& operand, std::uint64_t) noexcept {
  return operand.native;
}
template <class T>
km_array arrays_of(const elements<T>& memory, std::uint64_t length) noexcept {
  return arr(memory, 0, length).native;
}

// The matrices of a batch; those of a slice have no gaps.
template <class P, class T>
km_blas_matrix matrices_of(const basic_blas<P>&, const mat_operand<T>& operand, std::uint64_t,
                           std::uint64_t) noexcept {
  return operand.native;
}
template <class P, class T>
km_blas_matrix matrices_of(const basic_blas<P>& blas, const elements<T>& memory, std::uint64_t rows,
                           std::uint64_t columns) noexcept {
  const std::uint64_t line = blas.layout() == KM_BLAS_LAYOUT_ROWS ? columns : rows;
  return mat(memory, line, rows * columns).native;
}

template <class Operand>
constexpr void check_integers() {
  static_assert(std::is_same_v<element_of<Operand>, std::int32_t>,
                "pivots and info are std::int32_t");
}
template <class A, class Operand>
constexpr void check_reals() {
  static_assert(std::is_same_v<element_of<Operand>, real_of<A>>,
                "eigenvalues and singular values are real numbers of the matrix's precision");
}

constexpr std::uint64_t least_of(std::uint64_t m, std::uint64_t n) { return m < n ? m : n; }

}  // namespace detail

// All functions work on `batch_count` matrices: operands are slices and views, in which matrices
// and arrays lie one after the other without gaps, or km::mat and km::arr with their strides.
// `info` gets one std::int32_t for each matrix, which is 0 or what LAPACK reports. Calls join the
// stream of the BLAS object and return at once.

/// A = L L^H or U^H U of a positive definite matrix, in the triangle that is read.
template <class P, class A, class I>
detail::result_of<P, void> solve_potrf(const basic_blas<P>& blas, km_blas_triangle triangle,
                                       std::uint64_t n, const A& a, const I& info,
                                       std::uint64_t batch_count = 1) {
  detail::check_integers<I>();
  const km_blas_matrix ma = detail::matrices_of(blas, a, n, n);
  const km_array infos = detail::arrays_of(info, 1);
  return P::give(
      km_solve_potrf(blas.get(), detail::type_of<A>, triangle, n, batch_count, &ma, &infos));
}
/// Solves A X = B by the factor of solve_potrf(); X overwrites the n x columns matrix B.
template <class P, class A, class B, class I>
detail::result_of<P, void> solve_potrs(const basic_blas<P>& blas, km_blas_triangle triangle,
                                       std::uint64_t n, std::uint64_t columns, const A& a,
                                       const B& b, const I& info, std::uint64_t batch_count = 1) {
  detail::check_types<A, B>();
  detail::check_integers<I>();
  const km_blas_matrix ma = detail::matrices_of(blas, a, n, n);
  const km_blas_matrix mb = detail::matrices_of(blas, b, n, columns);
  const km_array infos = detail::arrays_of(info, 1);
  return P::give(km_solve_potrs(blas.get(), detail::type_of<A>, triangle, n, columns, batch_count,
                                &ma, &mb, &infos));
}
/// P A = L U of an m x n matrix, which the factors overwrite: row i was exchanged with row
/// pivots[i], from 1 on.
template <class P, class A, class V, class I>
detail::result_of<P, void> solve_getrf(const basic_blas<P>& blas, std::uint64_t m, std::uint64_t n,
                                       const A& a, const V& pivots, const I& info,
                                       std::uint64_t batch_count = 1) {
  detail::check_integers<V>();
  detail::check_integers<I>();
  const km_blas_matrix ma = detail::matrices_of(blas, a, m, n);
  const km_array rows = detail::arrays_of(pivots, detail::least_of(m, n));
  const km_array infos = detail::arrays_of(info, 1);
  return P::give(
      km_solve_getrf(blas.get(), detail::type_of<A>, m, n, batch_count, &ma, &rows, &infos));
}
/// Solves op(A) X = B by the factors of solve_getrf(); X overwrites the n x columns matrix B.
template <class P, class A, class V, class B, class I>
detail::result_of<P, void> solve_getrs(const basic_blas<P>& blas, km_blas_operation operation,
                                       std::uint64_t n, std::uint64_t columns, const A& a,
                                       const V& pivots, const B& b, const I& info,
                                       std::uint64_t batch_count = 1) {
  detail::check_types<A, B>();
  detail::check_integers<V>();
  detail::check_integers<I>();
  const km_blas_matrix ma = detail::matrices_of(blas, a, n, n);
  const km_blas_matrix mb = detail::matrices_of(blas, b, n, columns);
  const km_array rows = detail::arrays_of(pivots, n), infos = detail::arrays_of(info, 1);
  return P::give(km_solve_getrs(blas.get(), detail::type_of<A>, operation, n, columns, batch_count,
                                &ma, &rows, &mb, &infos));
}
/// A = Q R of an m x n matrix: R in the upper triangle of A, below it and in the min(m, n) numbers
/// of tau the reflections that make Q.
template <class P, class A, class T, class I>
detail::result_of<P, void> solve_geqrf(const basic_blas<P>& blas, std::uint64_t m, std::uint64_t n,
                                       const A& a, const T& tau, const I& info,
                                       std::uint64_t batch_count = 1) {
  detail::check_types<A, T>();
  detail::check_integers<I>();
  const km_blas_matrix ma = detail::matrices_of(blas, a, m, n);
  const km_array factors = detail::arrays_of(tau, detail::least_of(m, n));
  const km_array infos = detail::arrays_of(info, 1);
  return P::give(
      km_solve_geqrf(blas.get(), detail::type_of<A>, m, n, batch_count, &ma, &factors, &infos));
}
/// The first n columns of Q of m rows from k reflections, which they overwrite.
template <class P, class A, class T, class I>
detail::result_of<P, void> solve_orgqr(const basic_blas<P>& blas, std::uint64_t m, std::uint64_t n,
                                       std::uint64_t k, const A& a, const T& tau, const I& info,
                                       std::uint64_t batch_count = 1) {
  detail::check_types<A, T>();
  detail::check_integers<I>();
  const km_blas_matrix ma = detail::matrices_of(blas, a, m, n);
  const km_array factors = detail::arrays_of(tau, k), infos = detail::arrays_of(info, 1);
  return P::give(
      km_solve_orgqr(blas.get(), detail::type_of<A>, m, n, k, batch_count, &ma, &factors, &infos));
}
/// C = op(Q) C or C op(Q) for an m x n matrix C and the k reflections in the columns of A.
template <class P, class A, class T, class C, class I>
detail::result_of<P, void> solve_ormqr(const basic_blas<P>& blas, km_blas_side side,
                                       km_blas_operation operation, std::uint64_t m,
                                       std::uint64_t n, std::uint64_t k, const A& a, const T& tau,
                                       const C& c, const I& info, std::uint64_t batch_count = 1) {
  detail::check_types<A, T, C>();
  detail::check_integers<I>();
  const km_blas_matrix ma = detail::matrices_of(blas, a, side == KM_BLAS_SIDE_LEFT ? m : n, k);
  const km_blas_matrix mc = detail::matrices_of(blas, c, m, n);
  const km_array factors = detail::arrays_of(tau, k), infos = detail::arrays_of(info, 1);
  return P::give(km_solve_ormqr(blas.get(), detail::type_of<A>, side, operation, m, n, k,
                                batch_count, &ma, &factors, &mc, &infos));
}
/// The eigenvalues of a symmetric or Hermitian matrix in ascending order; its vectors
/// (KM_SOLVE_VECTORS_NONE or ALL) take the place of A.
template <class P, class A, class W, class I>
detail::result_of<P, void> solve_syevd(const basic_blas<P>& blas, km_solve_vectors vectors,
                                       km_blas_triangle triangle, std::uint64_t n, const A& a,
                                       const W& eigenvalues, const I& info,
                                       std::uint64_t batch_count = 1) {
  detail::check_reals<A, W>();
  detail::check_integers<I>();
  const km_blas_matrix ma = detail::matrices_of(blas, a, n, n);
  const km_array values = detail::arrays_of(eigenvalues, n), infos = detail::arrays_of(info, 1);
  return P::give(km_solve_syevd(blas.get(), detail::type_of<A>, vectors, triangle, n, batch_count,
                                &ma, &values, &infos));
}
/// A = U S V^H: the singular values in descending order, U with m rows and V^H with n columns, of
/// which `vectors` says how many; A is destroyed.
template <class P, class A, class S, class U, class V, class I>
detail::result_of<P, void> solve_gesvd(const basic_blas<P>& blas, km_solve_vectors vectors,
                                       std::uint64_t m, std::uint64_t n, const A& a,
                                       const S& singular_values, const U& u, const V& vh,
                                       const I& info, std::uint64_t batch_count = 1) {
  detail::check_types<A, U, V>();
  detail::check_reals<A, S>();
  detail::check_integers<I>();
  const std::uint64_t least = detail::least_of(m, n);
  const bool is_all = vectors == KM_SOLVE_VECTORS_ALL;
  const km_blas_matrix ma = detail::matrices_of(blas, a, m, n);
  const km_blas_matrix mu = detail::matrices_of(blas, u, m, is_all ? m : least);
  const km_blas_matrix mv = detail::matrices_of(blas, vh, is_all ? n : least, n);
  const km_array values = detail::arrays_of(singular_values, least);
  const km_array infos = detail::arrays_of(info, 1);
  return P::give(km_solve_gesvd(blas.get(), detail::type_of<A>, vectors, m, n, batch_count, &ma,
                                &values, &mu, &mv, &infos));
}
/// The singular values alone; A is destroyed.
template <class P, class A, class S, class I>
detail::result_of<P, void> solve_gesvd(const basic_blas<P>& blas, std::uint64_t m, std::uint64_t n,
                                       const A& a, const S& singular_values, const I& info,
                                       std::uint64_t batch_count = 1) {
  detail::check_reals<A, S>();
  detail::check_integers<I>();
  const km_blas_matrix ma = detail::matrices_of(blas, a, m, n);
  const km_array values = detail::arrays_of(singular_values, detail::least_of(m, n));
  const km_array infos = detail::arrays_of(info, 1);
  return P::give(km_solve_gesvd(blas.get(), detail::type_of<A>, KM_SOLVE_VECTORS_NONE, m, n,
                                batch_count, &ma, &values, nullptr, nullptr, &infos));
}

}  // namespace v1
}  // namespace km

#endif
