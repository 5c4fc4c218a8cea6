#include "dropin/cusparse/legacy/dense_times_sparse.h"

#include <utility>

namespace km::cusparse {
namespace {

/// alpha * op(A) * x + beta * y.
template <class C>
cu::CUresult run_gemvi(const GemviCall& call, const Scalar& alpha, const Scalar& beta) {
  const bool is_plain_a = is_plain(call.operation);
  const bool is_conjugate = call.operation == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
  const int64_t size = is_plain_a ? call.rows : call.cols;
  const int64_t inner = is_plain_a ? call.cols : call.rows;
  const int64_t row_stride = is_plain_a ? 1 : call.lda, col_stride = is_plain_a ? call.lda : 1;
  const Indices indices(call.indices, CUSPARSE_INDEX_32I, call.base);
  std::vector<C> sums(static_cast<size_t>(size), C(0));
  for (int64_t k = 0; k < call.nnz; ++k) {
    const int64_t at = indices[k];
    if (!is_within(at, inner)) return bad_index("index", at, inner);
    const C x = read_element<C>(call.x, k);
    for (int64_t i = 0; i < size; ++i) {
      const C a = read_element<C>(call.a, i * row_stride + at * col_stride);
      sums[static_cast<size_t>(i)] += conjugate_if(is_conjugate, a) * x;
    }
  }
  const C factor = alpha.get<C>(), scale = beta.get<C>();
  for (int64_t i = 0; i < size; ++i) {
    C value = factor * sums[static_cast<size_t>(i)];
    if (!(scale == C(0))) value += scale * read_element<C>(call.y, i);
    write_element<C>(call.y, i, value);
  }
  return cu::CUDA_SUCCESS;
}

cusparseStatus_t set_scalars(const Handle& handle, const void* alpha, const void* beta,
                             cudaDataType type, Scalar* a, Scalar* b, Arrays& arrays) {
  LIB_TRY(a->set(handle, "alpha", alpha, type, arrays));
  return b->set(handle, "beta", beta, type, arrays);
}

/// The product of a BSR matrix with dense operands that the caller sets.
Product product_of(const SpMat& a, cusparseOperation_t operation, cudaDataType type) {
  Product p;
  sparse::set_sparse(p, a.plain(), !is_plain(operation), conjugates(operation));
  p.compute = number_of(type);
  p.rows = is_plain(operation) ? a.rows : a.cols;
  return p;
}

/// Adds block row `line`, from block `first` to before `last`, times x.
template <class C>
cu::CUresult add_block_row(const SpMat& a, int64_t first, int64_t last, const void* x,
                           std::vector<C>& sums) {
  const Indices indices = indices_of(a);
  const int64_t block = a.row_block;
  const bool is_row = a.order == CUSPARSE_ORDER_ROW;
  for (int64_t k = first; k < last; ++k) {
    const int64_t col = indices[k];
    if (!is_within(col, a.cols / block)) return bad_index("column index", col, a.cols / block);
    for (int64_t i = 0; i < block * block; ++i) {
      const int64_t row_in = is_row ? i / block : i % block,
                    col_in = is_row ? i % block : i / block;
      sums[static_cast<size_t>(row_in)] += read_element<C>(a.values, k * block * block + i) *
                                           read_element<C>(x, col * block + col_in);
    }
  }
  return cu::CUDA_SUCCESS;
}

template <class C>
cu::CUresult run_bsrxmv(const SpMat& a, const BsrxmvCall& call, const Scalar& alpha,
                        const Scalar& beta) {
  const Indices mask(call.mask, CUSPARSE_INDEX_32I, a.base), starts = offsets_of(a);
  const Indices ends(call.ends, CUSPARSE_INDEX_32I, a.base);
  const int64_t block = a.row_block, blocks = a.indices_size();
  const C factor = alpha.get<C>(), scale = beta.get<C>();
  std::vector<C> sums;
  for (int64_t i = 0; i < call.mask_size; ++i) {
    const int64_t line = mask[i];
    if (!is_within(line, a.lines())) return bad_index("row of the mask", line, a.lines());
    const int64_t first = starts[line], last = ends[line];
    if (first < 0 || last > blocks) return bad_index("offset", last, blocks + 1);
    sums.assign(static_cast<size_t>(block), C(0));
    KM_TRY_RUN(add_block_row<C>(a, first, last, call.x, sums));
    for (int64_t r = 0; r < block; ++r) {
      C value = factor * sums[static_cast<size_t>(r)];
      if (!(scale == C(0))) value += scale * read_element<C>(call.y, line * block + r);
      write_element<C>(call.y, line * block + r, value);
    }
  }
  return cu::CUDA_SUCCESS;
}

}  // namespace

cusparseStatus_t gemvi(const Handle& handle, cudaDataType type, const GemviCall& call) {
  LIB_TRY(check_operation("transA", call.operation));
  LIB_TRY(check_sizes({call.rows, call.cols, call.nnz}));
  if (call.lda < std::max(call.rows, 1)) return invalid("lda is %d", call.lda);
  const int64_t size = is_plain(call.operation) ? call.rows : call.cols;
  Arrays arrays;
  Scalar alpha, beta;
  LIB_TRY(set_scalars(handle, call.alpha, call.beta, type, &alpha, &beta, arrays));
  DnMat a;
  a.rows = call.rows, a.cols = call.cols, a.ld = call.lda;
  a.values = const_cast<void*>(call.a), a.type = type;
  add_matrix(arrays, "A", a, false);
  arrays.read("xVal", call.x, call.nnz, bytes_of(type));
  arrays.read("xInd", call.indices, call.nnz, sizeof(int));
  arrays.written("y", call.y, size, bytes_of(type));
  const auto run = [call, type, alpha, beta](uint64_t) {
    return with_compute(type, cu::CUresult{cu::CUDA_ERROR_NOT_SUPPORTED}, [&](auto tag) {
      return run_gemvi<typename decltype(tag)::Type>(call, alpha, beta);
    });
  };
  return submit(handle, arrays, "cusparseGemvi", 1, time_of(size, call.nnz + 1), run);
}

cusparseStatus_t read_bsr(const BsrArguments& arguments, cudaDataType type, SpMat* out) {
  MatDescr settings;
  LIB_TRY(read_settings("descrA", arguments.settings, &settings));
  LIB_TRY(check_direction(arguments.direction));
  LIB_TRY(check_sizes({arguments.rows, arguments.cols, arguments.block_count}));
  if (arguments.block < 1) return invalid("blockDim is %d", arguments.block);
  *out = bsr_of(arguments.direction, arguments.rows, arguments.cols, arguments.block_count,
                settings, type, arguments.arrays, arguments.block, arguments.block);
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t bsrmv(const Handle& handle, cudaDataType type, const BsrArguments& arguments,
                       cusparseOperation_t operation, const void* alpha, const void* x,
                       const void* beta, void* y) {
  SpMat a;
  LIB_TRY(check_operation("transA", operation));
  LIB_TRY(read_bsr(arguments, type, &a));
  Product p = product_of(a, operation, type);
  p.cols = 1;
  const int64_t inner = p.is_transposed ? a.rows : a.cols;
  p.b = {const_cast<void*>(x), number_of(type), 1, inner, 0, false};
  p.c = p.d = {y, number_of(type), 1, p.rows, 0, false};
  Arrays arrays;
  LIB_TRY(set_scalars(handle, alpha, beta, type, &p.alpha_factor, &p.beta_factor, arrays));
  add_matrix(arrays, a, false);
  arrays.read("x", x, inner, bytes_of(type));
  arrays.written("y", y, p.rows, bytes_of(type));
  return submit_product(handle, arrays, "cusparseBsrmv", p);
}

cusparseStatus_t bsrmm(const Handle& handle, cudaDataType type, const BsrArguments& arguments,
                       const BsrmmCall& call) {
  SpMat a;
  LIB_TRY(check_operation("transA", call.operation_a));
  LIB_TRY(check_operation("transB", call.operation_b));
  LIB_TRY(check_sizes({call.cols}));
  LIB_TRY(read_bsr(arguments, type, &a));
  Product p = product_of(a, call.operation_a, type);
  p.cols = call.cols;
  const bool is_b_plain = is_plain(call.operation_b);
  DnMat b, c;
  b.rows = p.is_transposed ? a.rows : a.cols, b.cols = call.cols;
  if (!is_b_plain) std::swap(b.rows, b.cols);
  b.ld = call.ldb, b.values = const_cast<void*>(call.b), b.type = type;
  c.rows = p.rows, c.cols = call.cols, c.ld = call.ldc, c.values = call.c, c.type = type;
  if (b.ld < b.rows || c.ld < c.rows) return invalid("ldb is %d, ldc %d", call.ldb, call.ldc);
  p.b = operand_of(b, call.operation_b);
  p.c = p.d = operand_of(c, CUSPARSE_OPERATION_NON_TRANSPOSE);
  Arrays arrays;
  LIB_TRY(
      set_scalars(handle, call.alpha, call.beta, type, &p.alpha_factor, &p.beta_factor, arrays));
  add_matrix(arrays, a, false);
  add_matrix(arrays, "B", b, false);
  add_matrix(arrays, "C", c, true);
  return submit_product(handle, arrays, "cusparseBsrmm", p);
}

cusparseStatus_t bsrxmv(const Handle& handle, cudaDataType type, const BsrArguments& arguments,
                        const BsrxmvCall& call) {
  SpMat a;
  LIB_TRY(check_operation("transA", call.operation));
  if (!is_plain(call.operation)) return unsupported("bsrxmv with a transposed matrix");
  LIB_TRY(check_sizes({call.mask_size}));
  LIB_TRY(read_bsr(arguments, type, &a));
  Arrays arrays;
  Scalar alpha, beta;
  LIB_TRY(set_scalars(handle, call.alpha, call.beta, type, &alpha, &beta, arrays));
  arrays.read("bsrSortedRowPtrA", a.offsets, a.lines(), sizeof(int));
  arrays.read("bsrSortedColIndA", a.indices, a.indices_size(), sizeof(int));
  arrays.read("bsrSortedValA", a.values, a.values_size(), bytes_of(type));
  arrays.read("bsrSortedMaskPtrA", call.mask, call.mask_size, sizeof(int));
  arrays.read("bsrSortedEndPtrA", call.ends, a.lines(), sizeof(int));
  arrays.read("x", call.x, a.cols, bytes_of(type));
  arrays.written("y", call.y, a.rows, bytes_of(type));
  const auto run = [a, call, type, alpha, beta](uint64_t) {
    return with_compute(type, cu::CUresult{cu::CUDA_ERROR_NOT_SUPPORTED}, [&](auto tag) {
      return run_bsrxmv<typename decltype(tag)::Type>(a, call, alpha, beta);
    });
  };
  return submit(handle, arrays, "cusparseBsrxmv", 1, time_of(a.nnz), run);
}

}  // namespace km::cusparse
