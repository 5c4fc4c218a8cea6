#include "dropin/cusparse/generic/sampled_product.h"

#include <utility>

#include "dropin/cusparse/matrix/entries.h"

namespace km::cusparse {
namespace {

struct SampledProduct {
  Operand a, b;  // with their operations applied
  SpMat c;
  int64_t inner = 0;
  cudaDataType compute = CUDA_R_32F;
  int64_t batch_count = 1;
  Scalar alpha, beta;
};

/// The sum of products of a row of A with a column of B.
template <class T, class C>
C dot(const SampledProduct& p, const T* a, const T* b) {
  const int64_t stride_a = p.a.col_stride, stride_b = p.b.row_stride;
  C sum(0);
  for (int64_t k = 0; k < p.inner; ++k) {
    const C x = conjugate_if(p.a.is_conjugate, widen<C>(a[k * stride_a]));
    sum += x * conjugate_if(p.b.is_conjugate, widen<C>(b[k * stride_b]));
  }
  return sum;
}

template <class T, class C>
cu::CUresult run_lines(const SampledProduct& p, int64_t batch, int64_t first, int64_t last) {
  const sparse::Matrix c = p.c.plain().of_batch(batch);
  void* const values = const_cast<void*>(c.values);
  const C alpha = p.alpha.get<C>(), beta = p.beta.get<C>();
  const T* const a = static_cast<const T*>(p.a.values) + batch * p.a.batch_stride;
  const T* const b = static_cast<const T*>(p.b.values) + batch * p.b.batch_stride;
  const auto set = [&](int64_t row, int64_t col, int64_t position) {
    C value = alpha * dot<T, C>(p, a + row * p.a.row_stride, b + col * p.b.col_stride);
    if (!(beta == C(0))) value += beta * sparse::load<C>(c.type, c.values, position);
    sparse::store<C>(c.type, values, position, value);
  };
  return result_of(sparse::for_entries(c, first, last, set));
}

cu::CUresult run_piece(const SampledProduct& p, uint64_t parts, uint64_t piece) {
  const auto batch = static_cast<int64_t>(piece / parts);
  const sparse::Matrix c = p.c.plain().of_batch(batch);
  const int64_t first = sparse::first_line(c, piece % parts, parts);
  const int64_t last = sparse::first_line(c, piece % parts + 1, parts);
  if (first > last) return bad_index("offset", -1, c.nnz + 1);
  return sparse::with_product_types(
      p.a.type, p.b.type, number_of(p.compute), cu::CUresult{cu::CUDA_ERROR_NOT_SUPPORTED},
      [&](auto types) {
        using T = decltype(types);
        if constexpr (std::is_same_v<typename T::First, typename T::Second>) {
          return run_lines<typename T::First, typename T::Sum>(p, batch, first, last);
        } else {
          return cu::CUresult{cu::CUDA_ERROR_NOT_SUPPORTED};
        }
      });
}

cusparseStatus_t set_batch(SampledProduct& p, const DnMat& a, const DnMat& b) {
  p.batch_count = p.c.batch_count;
  if ((a.batch_count != 1 && a.batch_count != p.batch_count) ||
      (b.batch_count != 1 && b.batch_count != p.batch_count)) {
    return invalid("batches of %d, %d and %d matrices", a.batch_count, b.batch_count,
                   p.c.batch_count);
  }
  if (a.batch_count == 1) p.a.batch_stride = 0;
  if (b.batch_count == 1) p.b.batch_stride = 0;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t read_call(const SampledProductCall& call, SampledProduct* out, DnMat* a,
                           DnMat* b) {
  SampledProduct& p = *out;
  LIB_TRY(check_operation("opA", call.operation_a));
  LIB_TRY(check_operation("opB", call.operation_b));
  LIB_TRY(read_descriptor("matA", call.a, a));
  LIB_TRY(read_descriptor("matB", call.b, b));
  LIB_TRY(read_output("matC", call.c, &p.c));
  const bool is_a_plain = is_plain(call.operation_a), is_b_plain = is_plain(call.operation_b);
  p.inner = is_a_plain ? a->cols : a->rows;
  const int64_t rows = is_a_plain ? a->rows : a->cols;
  const int64_t cols = is_b_plain ? b->cols : b->rows;
  const int64_t inner_b = is_b_plain ? b->rows : b->cols;
  if (p.inner != inner_b || rows != p.c.rows || cols != p.c.cols) {
    return invalid("the sizes of the matrices do not fit");
  }
  p.a = operand_of(*a, call.operation_a), p.b = operand_of(*b, call.operation_b);
  p.compute = call.compute;
  if (a->type != b->type) return unsupported("dense matrices of two types");
  LIB_TRY(check_product_types(a->type, b->type, p.c.type, call.compute));
  return set_batch(p, *a, *b);
}

}  // namespace

cusparseStatus_t check_sampled(const Handle&, const SampledProductCall& call) {
  SampledProduct p;
  DnMat a, b;
  return read_call(call, &p, &a, &b);
}

cusparseStatus_t multiply_sampled(const Handle& handle, const SampledProductCall& call) {
  SampledProduct p;
  DnMat a, b;
  Arrays arrays;
  LIB_TRY(read_call(call, &p, &a, &b));
  LIB_TRY(p.alpha.set(handle, "alpha", call.alpha, p.compute, arrays));
  LIB_TRY(p.beta.set(handle, "beta", call.beta, p.compute, arrays));
  add_matrix(arrays, "matA", a, false);
  add_matrix(arrays, "matB", b, false);
  add_matrix(arrays, p.c, true);
  const int64_t lines = p.c.lines();
  if (lines == 0) return CUSPARSE_STATUS_SUCCESS;
  const double steps = static_cast<double>(p.c.values_size()) * static_cast<double>(p.inner + 2) *
                       static_cast<double>(p.batch_count);
  const auto whole_steps = static_cast<int64_t>(std::min(steps, 1e18));
  const uint64_t parts = std::min(pieces_of(whole_steps), static_cast<uint64_t>(lines));
  return submit(handle, arrays, "cusparseSDDMM", parts * static_cast<uint64_t>(p.batch_count),
                static_cast<uint64_t>(whole_steps),
                [p, parts](uint64_t piece) { return run_piece(p, parts, piece); });
}

}  // namespace km::cusparse
