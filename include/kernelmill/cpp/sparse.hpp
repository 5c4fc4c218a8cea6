// Sparse products and solvers on device memory, by a BLAS object.
#ifndef KERNELMILL_CPP_SPARSE_HPP
#define KERNELMILL_CPP_SPARSE_HPP

#include <kernelmill/cpp/blas.hpp>

namespace km {
inline namespace v1 {

/// A sparse matrix in device memory, which km::csr and others make.
template <class T>
struct sparse_operand {
  using value_type = T;
  km_sparse_matrix native;
};

namespace detail {

template <class I, class T>
sparse_operand<T> sparse(km_sparse_format format, std::uint64_t rows, std::uint64_t columns,
                         const elements<I>& offsets, const elements<I>& indices,
                         const elements<T>& values, std::uint32_t index_base) noexcept {
  static_assert(std::is_integral_v<I> && (sizeof(I) == 4 || sizeof(I) == 8),
                "offsets and indices are integers of 32 or 64 bits");
  km_sparse_matrix matrix{};
  matrix.format = format;
  matrix.index_size_bytes = sizeof(I);
  matrix.index_base = index_base;
  matrix.rows = rows;
  matrix.columns = columns;
  matrix.nonzeros = values.size();
  matrix.offsets = array_of(offsets);
  matrix.indices = array_of(indices);
  matrix.values = array_of(values);
  return {matrix};
}

// A dense rows x columns matrix; a slice has no gaps, in either layout.
template <class P, class B>
km_blas_matrix dense_of(const basic_blas<P>& blas, const B& b, std::uint64_t rows,
                        std::uint64_t columns) {
  return matrix_of(b, blas.layout() == KM_BLAS_LAYOUT_ROWS ? columns : rows);
}

}  // namespace detail

/// A matrix of as many nonzeros as there are values, row by row: those of row i are at offsets[i]
/// to before offsets[i + 1], with their columns in `indices`. `index_base` is what the first row
/// and column are called, 0 or 1.
template <class I, class T>
sparse_operand<T> csr(std::uint64_t rows, std::uint64_t columns, const detail::elements<I>& offsets,
                      const detail::elements<I>& indices, const detail::elements<T>& values,
                      std::uint32_t index_base = 0) noexcept {
  return detail::sparse(KM_SPARSE_FORMAT_CSR, rows, columns, offsets, indices, values, index_base);
}
/// The nonzeros column by column, with their rows in `indices`.
template <class I, class T>
sparse_operand<T> csc(std::uint64_t rows, std::uint64_t columns, const detail::elements<I>& offsets,
                      const detail::elements<I>& indices, const detail::elements<T>& values,
                      std::uint32_t index_base = 0) noexcept {
  return detail::sparse(KM_SPARSE_FORMAT_CSC, rows, columns, offsets, indices, values, index_base);
}
/// The row and the column of each nonzero, sorted by rows.
template <class I, class T>
sparse_operand<T> coo(std::uint64_t rows, std::uint64_t columns,
                      const detail::elements<I>& row_indices,
                      const detail::elements<I>& column_indices, const detail::elements<T>& values,
                      std::uint32_t index_base = 0) noexcept {
  return detail::sparse(KM_SPARSE_FORMAT_COO, rows, columns, row_indices, column_indices, values,
                        index_base);
}

/// y = alpha op(A) x + beta y, in the stream of the BLAS object. Vectors and dense matrices are
/// operands as for BLAS, with increments of at least 1.
template <class P, class T, class X, class Y>
detail::result_of<P, void> sparse_mv(const basic_blas<P>& blas, km_blas_operation operation,
                                     const typename sparse_operand<T>::value_type& alpha,
                                     const sparse_operand<T>& a, const X& x,
                                     const typename sparse_operand<T>::value_type& beta,
                                     const Y& y) {
  detail::check_types<sparse_operand<T>, X, Y>();
  const km_blas_vector vx = detail::vector_of(x), vy = detail::vector_of(y);
  return P::give(km_sparse_mv(blas.get(), data_type_of<T>::value, operation, &alpha, &a.native, &vx,
                              &beta, &vy));
}
/// C = alpha op(A) op(B) + beta C with `columns` columns of op(B) and C.
template <class P, class T, class B, class C>
detail::result_of<P, void> sparse_mm(const basic_blas<P>& blas, km_blas_operation operation_a,
                                     km_blas_operation operation_b, std::uint64_t columns,
                                     const typename sparse_operand<T>::value_type& alpha,
                                     const sparse_operand<T>& a, const B& b,
                                     const typename sparse_operand<T>::value_type& beta,
                                     const C& c) {
  detail::check_types<sparse_operand<T>, B, C>();
  const bool is_plain_a = operation_a == KM_BLAS_OPERATION_NONE;
  const bool is_plain_b = operation_b == KM_BLAS_OPERATION_NONE;
  const std::uint64_t rows = is_plain_a ? a.native.rows : a.native.columns;
  const std::uint64_t inner = is_plain_a ? a.native.columns : a.native.rows;
  const km_blas_matrix mb = is_plain_b ? detail::dense_of(blas, b, inner, columns)
                                       : detail::dense_of(blas, b, columns, inner);
  const km_blas_matrix mc = detail::dense_of(blas, c, rows, columns);
  return P::give(km_sparse_mm(blas.get(), data_type_of<T>::value, operation_a, operation_b, columns,
                              &alpha, &a.native, &mb, &beta, &mc));
}
/// Solves op(A) y = alpha x for a triangular A; nonzeros of the other triangle are not used. y may
/// be x.
template <class P, class T, class X, class Y>
detail::result_of<P, void> sparse_sv(const basic_blas<P>& blas, km_blas_operation operation,
                                     km_blas_triangle triangle, km_blas_diagonal diagonal,
                                     const typename sparse_operand<T>::value_type& alpha,
                                     const sparse_operand<T>& a, const X& x, const Y& y) {
  detail::check_types<sparse_operand<T>, X, Y>();
  const km_blas_vector vx = detail::vector_of(x), vy = detail::vector_of(y);
  return P::give(km_sparse_sv(blas.get(), data_type_of<T>::value, operation, triangle, diagonal,
                              &alpha, &a.native, &vx, &vy));
}
/// Solves op(A) C = alpha B for a triangular A and `columns` columns. C may be B.
template <class P, class T, class B, class C>
detail::result_of<P, void> sparse_sm(const basic_blas<P>& blas, km_blas_operation operation,
                                     km_blas_triangle triangle, km_blas_diagonal diagonal,
                                     std::uint64_t columns,
                                     const typename sparse_operand<T>::value_type& alpha,
                                     const sparse_operand<T>& a, const B& b, const C& c) {
  detail::check_types<sparse_operand<T>, B, C>();
  const std::uint64_t rows = a.native.rows;
  const km_blas_matrix mb = detail::dense_of(blas, b, rows, columns);
  const km_blas_matrix mc = detail::dense_of(blas, c, rows, columns);
  return P::give(km_sparse_sm(blas.get(), data_type_of<T>::value, operation, triangle, diagonal,
                              columns, &alpha, &a.native, &mb, &mc));
}

}  // namespace v1
}  // namespace km

#endif
