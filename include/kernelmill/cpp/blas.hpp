// BLAS of all levels on device memory, with the names and argument order of BLAS.
#ifndef KERNELMILL_CPP_BLAS_HPP
#define KERNELMILL_CPP_BLAS_HPP

#include <kernelmill/cpp/blas_operands.hpp>

namespace km {
inline namespace v1 {

/// BLAS calls in a stream. Each joins the stream and returns at once; operands are slices, views,
/// km::vec and km::mat, all with elements of one type. Scalars are read at once, results go to
/// device memory. KM_ERROR_OUT_OF_BOUNDS when an operand reaches beyond its memory,
/// KM_ERROR_BLAS_UNAVAILABLE when the BLAS library is missing. Any thread may call all functions.
template <class P>
class basic_blas : public detail::any_blas {
  template <class T>
  using result = detail::result_of<P, T>;
  template <class X>
  using scalar = detail::scalar_of<X>;
  template <class X>
  using real = detail::real_of<X>;
  template <class X>
  static constexpr km_data_type type = detail::type_of<X>;

 public:
  basic_blas() noexcept = default;
  /// Takes over a handle that was created with this layout.
  basic_blas(km_blas handle, km_blas_layout layout) noexcept : object(handle), layout_(layout) {}
  /// Creates an object for a stream, which it keeps. The layout holds for all matrices of its
  /// calls.
  template <class Q = P, detail::if_throwing<Q> = 0>
  explicit basic_blas(const detail::any_stream& stream, km_blas_layout layout = KM_BLAS_LAYOUT_ROWS)
      : basic_blas(create(stream, layout)) {}
  /// Like the constructor, but returns a result.
  static result<basic_blas> create(const detail::any_stream& stream,
                                   km_blas_layout layout = KM_BLAS_LAYOUT_ROWS) {
    km_blas made{};
    const km_status status = km_blas_create(stream.get(), layout, &made);
    return P::give(status, basic_blas(made, layout));
  }
  /// The layout of its matrices.
  km_blas_layout layout() const noexcept { return layout_; }

  // Level 1.

  /// y = alpha x + y.
  template <class X, class Y>
  result<void> axpy(std::uint64_t n, const scalar<X>& alpha, const X& x, const Y& y) const {
    const auto [a, b] = vectors(x, y);
    return P::give(km_blas_axpy(get(), type<X>, n, &alpha, &a, &b));
  }
  /// x = alpha x.
  template <class X>
  result<void> scal(std::uint64_t n, const scalar<X>& alpha, const X& x) const {
    const km_blas_vector a = detail::vector_of(x);
    return P::give(km_blas_scal(get(), type<X>, n, &alpha, &a));
  }
  /// y = x.
  template <class X, class Y>
  result<void> copy(std::uint64_t n, const X& x, const Y& y) const {
    const auto [a, b] = vectors(x, y);
    return P::give(km_blas_copy(get(), type<X>, n, &a, &b));
  }
  /// Exchanges x and y.
  template <class X, class Y>
  result<void> swap(std::uint64_t n, const X& x, const Y& y) const {
    const auto [a, b] = vectors(x, y);
    return P::give(km_blas_swap(get(), type<X>, n, &a, &b));
  }
  /// out[0] = the sum of x_i y_i.
  template <class X, class Y, class R>
  result<void> dot(std::uint64_t n, const X& x, const Y& y, const R& out) const {
    const auto [a, b] = vectors(x, y);
    const km_blas_vector r = detail::result_vector<detail::element_of<X>>(out);
    return P::give(km_blas_dot(get(), type<X>, n, &a, &b, &r));
  }
  /// dot with the complex conjugates of x.
  template <class X, class Y, class R>
  result<void> dotc(std::uint64_t n, const X& x, const Y& y, const R& out) const {
    const auto [a, b] = vectors(x, y);
    const km_blas_vector r = detail::result_vector<detail::element_of<X>>(out);
    return P::give(km_blas_dotc(get(), type<X>, n, &a, &b, &r));
  }
  /// out[0] = the Euclidean norm of x, a real number.
  template <class X, class R>
  result<void> nrm2(std::uint64_t n, const X& x, const R& out) const {
    const km_blas_vector a = detail::vector_of(x), r = detail::result_vector<real<X>>(out);
    return P::give(km_blas_nrm2(get(), type<X>, n, &a, &r));
  }
  /// out[0] = the sum of the magnitudes in x, a real number.
  template <class X, class R>
  result<void> asum(std::uint64_t n, const X& x, const R& out) const {
    const km_blas_vector a = detail::vector_of(x), r = detail::result_vector<real<X>>(out);
    return P::give(km_blas_asum(get(), type<X>, n, &a, &r));
  }
  /// out[0] = the index, from 0, of the largest magnitude in x; UINT64_MAX when n is 0.
  template <class X, class R>
  result<void> iamax(std::uint64_t n, const X& x, const R& out) const {
    const km_blas_vector a = detail::vector_of(x);
    const km_blas_vector r = detail::result_vector<std::uint64_t>(out);
    return P::give(km_blas_iamax(get(), type<X>, n, &a, &r));
  }
  /// A plane rotation: x_i = c x_i + s y_i, y_i = c y_i - s x_i.
  template <class X, class Y>
  result<void> rot(std::uint64_t n, const X& x, const Y& y, const real<X>& c,
                   const real<X>& s) const {
    const auto [a, b] = vectors(x, y);
    return P::give(km_blas_rot(get(), type<X>, n, &a, &b, &c, &s));
  }
  /// A modified plane rotation by the five parameters of rotmg(); real types only.
  template <class X, class Y>
  result<void> rotm(std::uint64_t n, const X& x, const Y& y,
                    const std::array<scalar<X>, 5>& parameters) const {
    const auto [a, b] = vectors(x, y);
    return P::give(km_blas_rotm(get(), type<X>, n, &a, &b, parameters.data()));
  }
  /// The rotation that turns (a, b) into (r, 0), all on the host: r goes to a.
  template <class T>
  static result<void> rotg(T& a, T& b, detail::real_number<T>& c, T& s) {
    return P::give(km_blas_rotg(data_type_of<T>::value, &a, &b, &c, &s));
  }
  /// The five parameters of rotm(), all on the host.
  template <class T>
  static result<void> rotmg(T& d1, T& d2, T& x1, const T& y1, std::array<T, 5>& parameters) {
    return P::give(km_blas_rotmg(data_type_of<T>::value, &d1, &d2, &x1, &y1, parameters.data()));
  }

  // Level 2. Triangles, sides and diagonals are KM_BLAS_... constants of c_api.h.

  /// y = alpha op(A) x + beta y; A is m x n.
  template <class A, class X, class Y>
  result<void> gemv(km_blas_operation operation, std::uint64_t m, std::uint64_t n,
                    const scalar<A>& alpha, const A& a, const X& x, const scalar<A>& beta,
                    const Y& y) const {
    const km_blas_matrix ma = matrix(a, m, n);
    const auto [vx, vy] = vectors(x, y);
    return P::give(km_blas_gemv(get(), type<A>, operation, m, n, &alpha, &ma, &vx, &beta, &vy));
  }
  /// mv for a band matrix with `lower` diagonals below and `upper` above the main one.
  template <class A, class X, class Y>
  result<void> gbmv(km_blas_operation operation, std::uint64_t m, std::uint64_t n,
                    std::uint64_t lower, std::uint64_t upper, const scalar<A>& alpha, const A& a,
                    const X& x, const scalar<A>& beta, const Y& y) const {
    const km_blas_matrix ma = detail::matrix_of(a, lower + upper + 1);
    const auto [vx, vy] = vectors(x, y);
    return P::give(
        km_blas_gbmv(get(), type<A>, operation, m, n, lower, upper, &alpha, &ma, &vx, &beta, &vy));
  }
  /// y = alpha A x + beta y for a symmetric or Hermitian A; then for a band matrix and a packed
  /// one.
  template <class A, class X, class Y>
  result<void> symv(km_blas_triangle triangle, std::uint64_t n, const scalar<A>& alpha, const A& a,
                    const X& x, const scalar<A>& beta, const Y& y) const {
    const km_blas_matrix ma = matrix(a, n, n);
    const auto [vx, vy] = vectors(x, y);
    return P::give(km_blas_symv(get(), type<A>, triangle, n, &alpha, &ma, &vx, &beta, &vy));
  }
  template <class A, class X, class Y>
  result<void> sbmv(km_blas_triangle triangle, std::uint64_t n, std::uint64_t k,
                    const scalar<A>& alpha, const A& a, const X& x, const scalar<A>& beta,
                    const Y& y) const {
    const km_blas_matrix ma = detail::matrix_of(a, k + 1);
    const auto [vx, vy] = vectors(x, y);
    return P::give(km_blas_sbmv(get(), type<A>, triangle, n, k, &alpha, &ma, &vx, &beta, &vy));
  }
  template <class A, class X, class Y>
  result<void> spmv(km_blas_triangle triangle, std::uint64_t n, const scalar<A>& alpha, const A& a,
                    const X& x, const scalar<A>& beta, const Y& y) const {
    const km_blas_matrix ma = detail::matrix_of(a, 0);
    const auto [vx, vy] = vectors(x, y);
    return P::give(km_blas_spmv(get(), type<A>, triangle, n, &alpha, &ma, &vx, &beta, &vy));
  }
  /// x = op(A) x for a triangular A; then for a band matrix and a packed one.
  template <class A, class X>
  result<void> trmv(km_blas_triangle triangle, km_blas_operation operation,
                    km_blas_diagonal diagonal, std::uint64_t n, const A& a, const X& x) const {
    return triangular(km_blas_trmv, triangle, operation, diagonal, n, a, x);
  }
  template <class A, class X>
  result<void> tbmv(km_blas_triangle triangle, km_blas_operation operation,
                    km_blas_diagonal diagonal, std::uint64_t n, std::uint64_t k, const A& a,
                    const X& x) const {
    return banded(km_blas_tbmv, triangle, operation, diagonal, n, k, a, x);
  }
  template <class A, class X>
  result<void> tpmv(km_blas_triangle triangle, km_blas_operation operation,
                    km_blas_diagonal diagonal, std::uint64_t n, const A& a, const X& x) const {
    return packed(km_blas_tpmv, triangle, operation, diagonal, n, a, x);
  }
  /// Solves op(A) z = x for a triangular A and puts z into x; then for a band matrix and a packed
  /// one.
  template <class A, class X>
  result<void> trsv(km_blas_triangle triangle, km_blas_operation operation,
                    km_blas_diagonal diagonal, std::uint64_t n, const A& a, const X& x) const {
    return triangular(km_blas_trsv, triangle, operation, diagonal, n, a, x);
  }
  template <class A, class X>
  result<void> tbsv(km_blas_triangle triangle, km_blas_operation operation,
                    km_blas_diagonal diagonal, std::uint64_t n, std::uint64_t k, const A& a,
                    const X& x) const {
    return banded(km_blas_tbsv, triangle, operation, diagonal, n, k, a, x);
  }
  template <class A, class X>
  result<void> tpsv(km_blas_triangle triangle, km_blas_operation operation,
                    km_blas_diagonal diagonal, std::uint64_t n, const A& a, const X& x) const {
    return packed(km_blas_tpsv, triangle, operation, diagonal, n, a, x);
  }
  /// A = alpha x y^T + A; the second function uses the conjugates of y. A is m x n.
  template <class A, class X, class Y>
  result<void> ger(std::uint64_t m, std::uint64_t n, const scalar<A>& alpha, const X& x, const Y& y,
                   const A& a) const {
    const km_blas_matrix ma = matrix(a, m, n);
    const auto [vx, vy] = vectors(x, y);
    return P::give(km_blas_ger(get(), type<A>, m, n, &alpha, &vx, &vy, &ma));
  }
  template <class A, class X, class Y>
  result<void> gerc(std::uint64_t m, std::uint64_t n, const scalar<A>& alpha, const X& x,
                    const Y& y, const A& a) const {
    const km_blas_matrix ma = matrix(a, m, n);
    const auto [vx, vy] = vectors(x, y);
    return P::give(km_blas_gerc(get(), type<A>, m, n, &alpha, &vx, &vy, &ma));
  }
  /// A = alpha x x^H + A in one triangle, with a real alpha; then for a packed one.
  template <class A, class X>
  result<void> syr(km_blas_triangle triangle, std::uint64_t n, const real<A>& alpha, const X& x,
                   const A& a) const {
    const km_blas_matrix ma = matrix(a, n, n);
    const km_blas_vector vx = detail::vector_of(x);
    return P::give(km_blas_syr(get(), type<A>, triangle, n, &alpha, &vx, &ma));
  }
  template <class A, class X>
  result<void> spr(km_blas_triangle triangle, std::uint64_t n, const real<A>& alpha, const X& x,
                   const A& a) const {
    const km_blas_matrix ma = detail::matrix_of(a, 0);
    const km_blas_vector vx = detail::vector_of(x);
    return P::give(km_blas_spr(get(), type<A>, triangle, n, &alpha, &vx, &ma));
  }
  /// A = alpha x y^H + conj(alpha) y x^H + A in one triangle; then for a packed one.
  template <class A, class X, class Y>
  result<void> syr2(km_blas_triangle triangle, std::uint64_t n, const scalar<A>& alpha, const X& x,
                    const Y& y, const A& a) const {
    const km_blas_matrix ma = matrix(a, n, n);
    const auto [vx, vy] = vectors(x, y);
    return P::give(km_blas_syr2(get(), type<A>, triangle, n, &alpha, &vx, &vy, &ma));
  }
  template <class A, class X, class Y>
  result<void> spr2(km_blas_triangle triangle, std::uint64_t n, const scalar<A>& alpha, const X& x,
                    const Y& y, const A& a) const {
    const km_blas_matrix ma = detail::matrix_of(a, 0);
    const auto [vx, vy] = vectors(x, y);
    return P::give(km_blas_spr2(get(), type<A>, triangle, n, &alpha, &vx, &vy, &ma));
  }

  // Level 3.

  /// C = alpha op(A) op(B) + beta C: C is m x n, op(A) m x k. Also for km::half and km::bfloat16,
  /// with scalars of float.
  template <class A, class B, class C>
  result<void> gemm(km_blas_operation operation_a, km_blas_operation operation_b, std::uint64_t m,
                    std::uint64_t n, std::uint64_t k, const scalar<A>& alpha, const A& a,
                    const B& b, const scalar<A>& beta, const C& c) const {
    detail::check_types<A, B, C>();
    const km_blas_matrix ma = operand(operation_a, a, m, k);
    const km_blas_matrix mb = operand(operation_b, b, k, n), mc = matrix(c, m, n);
    return P::give(km_blas_gemm(get(), type<A>, operation_a, operation_b, m, n, k, &alpha, &ma, &mb,
                                &beta, &mc));
  }
  /// mm of `batch_count` matrices each, as the strides of km::mat say.
  template <class A, class B, class C>
  result<void> gemm_strided_batched(km_blas_operation operation_a, km_blas_operation operation_b,
                                    std::uint64_t m, std::uint64_t n, std::uint64_t k,
                                    const scalar<A>& alpha, const A& a, const B& b,
                                    const scalar<A>& beta, const C& c,
                                    std::uint64_t batch_count) const {
    detail::check_types<A, B, C>();
    const km_blas_matrix ma = operand(operation_a, a, m, k);
    const km_blas_matrix mb = operand(operation_b, b, k, n), mc = matrix(c, m, n);
    return P::give(km_blas_gemm_strided_batched(get(), type<A>, operation_a, operation_b, m, n, k,
                                                &alpha, &ma, &mb, &beta, &mc, batch_count));
  }
  /// C = alpha A B + beta C or alpha B A + beta C for a symmetric A; the second function is for a
  /// Hermitian A.
  template <class A, class B, class C>
  result<void> symm(km_blas_side side, km_blas_triangle triangle, std::uint64_t m, std::uint64_t n,
                    const scalar<A>& alpha, const A& a, const B& b, const scalar<A>& beta,
                    const C& c) const {
    return symmetric(km_blas_symm, side, triangle, m, n, alpha, a, b, beta, c);
  }
  template <class A, class B, class C>
  result<void> hemm(km_blas_side side, km_blas_triangle triangle, std::uint64_t m, std::uint64_t n,
                    const scalar<A>& alpha, const A& a, const B& b, const scalar<A>& beta,
                    const C& c) const {
    return symmetric(km_blas_hemm, side, triangle, m, n, alpha, a, b, beta, c);
  }
  /// C = alpha A A^T + beta C in one triangle, or alpha A^T A + beta C; the second function uses
  /// A^H and real scalars. C is n x n.
  template <class A, class C>
  result<void> syrk(km_blas_triangle triangle, km_blas_operation operation, std::uint64_t n,
                    std::uint64_t k, const scalar<A>& alpha, const A& a, const scalar<A>& beta,
                    const C& c) const {
    return rank_k(km_blas_syrk, triangle, operation, n, k, &alpha, a, &beta, c);
  }
  template <class A, class C>
  result<void> herk(km_blas_triangle triangle, km_blas_operation operation, std::uint64_t n,
                    std::uint64_t k, const real<A>& alpha, const A& a, const real<A>& beta,
                    const C& c) const {
    return rank_k(km_blas_herk, triangle, operation, n, k, &alpha, a, &beta, c);
  }
  /// C = alpha A B^T + alpha B A^T + beta C in one triangle; the second function uses conjugates
  /// and a real beta.
  template <class A, class B, class C>
  result<void> syr2k(km_blas_triangle triangle, km_blas_operation operation, std::uint64_t n,
                     std::uint64_t k, const scalar<A>& alpha, const A& a, const B& b,
                     const scalar<A>& beta, const C& c) const {
    return rank_2k(km_blas_syr2k, triangle, operation, n, k, &alpha, a, b, &beta, c);
  }
  template <class A, class B, class C>
  result<void> her2k(km_blas_triangle triangle, km_blas_operation operation, std::uint64_t n,
                     std::uint64_t k, const scalar<A>& alpha, const A& a, const B& b,
                     const real<A>& beta, const C& c) const {
    return rank_2k(km_blas_her2k, triangle, operation, n, k, &alpha, a, b, &beta, c);
  }
  /// B = alpha op(A) B or alpha B op(A) for a triangular A. B is m x n.
  template <class A, class B>
  result<void> trmm(km_blas_side side, km_blas_triangle triangle, km_blas_operation operation,
                    km_blas_diagonal diagonal, std::uint64_t m, std::uint64_t n,
                    const scalar<A>& alpha, const A& a, const B& b) const {
    return sided(km_blas_trmm, side, triangle, operation, diagonal, m, n, alpha, a, b);
  }
  /// Solves op(A) X = alpha B or X op(A) = alpha B, and puts X into B.
  template <class A, class B>
  result<void> trsm(km_blas_side side, km_blas_triangle triangle, km_blas_operation operation,
                    km_blas_diagonal diagonal, std::uint64_t m, std::uint64_t n,
                    const scalar<A>& alpha, const A& a, const B& b) const {
    return sided(km_blas_trsm, side, triangle, operation, diagonal, m, n, alpha, a, b);
  }

 private:
  template <class X, class Y>
  static std::array<km_blas_vector, 2> vectors(const X& x, const Y& y) {
    detail::check_types<X, Y>();
    return {detail::vector_of(x), detail::vector_of(y)};
  }
  // Passes A as a rows x columns matrix; a slice has no gaps, in either layout.
  template <class A>
  km_blas_matrix matrix(const A& a, std::uint64_t rows, std::uint64_t columns) const {
    return detail::matrix_of(a, layout_ == KM_BLAS_LAYOUT_ROWS ? columns : rows);
  }
  template <class A>
  km_blas_matrix operand(km_blas_operation operation, const A& a, std::uint64_t rows,
                         std::uint64_t columns) const {
    return operation == KM_BLAS_OPERATION_NONE ? matrix(a, rows, columns)
                                               : matrix(a, columns, rows);
  }

  template <class Call, class A, class X>
  result<void> triangular(Call call, km_blas_triangle triangle, km_blas_operation operation,
                          km_blas_diagonal diagonal, std::uint64_t n, const A& a,
                          const X& x) const {
    detail::check_types<A, X>();
    const km_blas_matrix ma = matrix(a, n, n);
    const km_blas_vector vx = detail::vector_of(x);
    return P::give(call(get(), type<A>, triangle, operation, diagonal, n, &ma, &vx));
  }
  template <class Call, class A, class X>
  result<void> banded(Call call, km_blas_triangle triangle, km_blas_operation operation,
                      km_blas_diagonal diagonal, std::uint64_t n, std::uint64_t k, const A& a,
                      const X& x) const {
    detail::check_types<A, X>();
    const km_blas_matrix ma = detail::matrix_of(a, k + 1);
    const km_blas_vector vx = detail::vector_of(x);
    return P::give(call(get(), type<A>, triangle, operation, diagonal, n, k, &ma, &vx));
  }
  template <class Call, class A, class X>
  result<void> packed(Call call, km_blas_triangle triangle, km_blas_operation operation,
                      km_blas_diagonal diagonal, std::uint64_t n, const A& a, const X& x) const {
    detail::check_types<A, X>();
    const km_blas_matrix ma = detail::matrix_of(a, 0);
    const km_blas_vector vx = detail::vector_of(x);
    return P::give(call(get(), type<A>, triangle, operation, diagonal, n, &ma, &vx));
  }
  template <class Call, class A, class B, class C>
  result<void> symmetric(Call call, km_blas_side side, km_blas_triangle triangle, std::uint64_t m,
                         std::uint64_t n, const scalar<A>& alpha, const A& a, const B& b,
                         const scalar<A>& beta, const C& c) const {
    detail::check_types<A, B, C>();
    const std::uint64_t order = side == KM_BLAS_SIDE_LEFT ? m : n;
    const km_blas_matrix ma = matrix(a, order, order), mb = matrix(b, m, n), mc = matrix(c, m, n);
    return P::give(call(get(), type<A>, side, triangle, m, n, &alpha, &ma, &mb, &beta, &mc));
  }
  template <class Call, class Alpha, class A, class Beta, class C>
  result<void> rank_k(Call call, km_blas_triangle triangle, km_blas_operation operation,
                      std::uint64_t n, std::uint64_t k, const Alpha* alpha, const A& a,
                      const Beta* beta, const C& c) const {
    detail::check_types<A, C>();
    const km_blas_matrix ma = operand(operation, a, n, k), mc = matrix(c, n, n);
    return P::give(call(get(), type<A>, triangle, operation, n, k, alpha, &ma, beta, &mc));
  }
  template <class Call, class Alpha, class A, class B, class Beta, class C>
  result<void> rank_2k(Call call, km_blas_triangle triangle, km_blas_operation operation,
                       std::uint64_t n, std::uint64_t k, const Alpha* alpha, const A& a, const B& b,
                       const Beta* beta, const C& c) const {
    detail::check_types<A, B, C>();
    const km_blas_matrix ma = operand(operation, a, n, k), mb = operand(operation, b, n, k);
    const km_blas_matrix mc = matrix(c, n, n);
    return P::give(call(get(), type<A>, triangle, operation, n, k, alpha, &ma, &mb, beta, &mc));
  }
  template <class Call, class A, class B>
  result<void> sided(Call call, km_blas_side side, km_blas_triangle triangle,
                     km_blas_operation operation, km_blas_diagonal diagonal, std::uint64_t m,
                     std::uint64_t n, const scalar<A>& alpha, const A& a, const B& b) const {
    detail::check_types<A, B>();
    const std::uint64_t order = side == KM_BLAS_SIDE_LEFT ? m : n;
    const km_blas_matrix ma = matrix(a, order, order), mb = matrix(b, m, n);
    return P::give(
        call(get(), type<A>, side, triangle, operation, diagonal, m, n, &alpha, &ma, &mb));
  }

  km_blas_layout layout_ = KM_BLAS_LAYOUT_ROWS;
};

}  // namespace v1
}  // namespace km

#endif
