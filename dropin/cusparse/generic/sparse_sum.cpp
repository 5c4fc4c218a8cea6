#include "dropin/cusparse/generic/sparse_sum.h"

namespace km::cusparse {
namespace {

struct Rows {
  RowLists a, b;
};

cu::CUresult make_rows(const SparseSum& sum, Rows* out) {
  KM_TRY_RUN(make_row_lists(sum.a, sum.is_a_transposed, &out->a));
  KM_TRY_RUN(make_row_lists(sum.b, sum.is_b_transposed, &out->b));
  sort_rows(out->a);
  sort_rows(out->b);
  return cu::CUDA_SUCCESS;
}

/// Calls f(column, first entry of A, end, first entry of B, end) for the columns of a row that
/// either matrix has.
template <class F>
void for_columns(const Rows& rows, size_t row, F&& f) {
  const auto end_of_column = [](const RowLists& lists, int64_t k, int64_t last, int64_t col) {
    while (k < last && lists.cols[static_cast<size_t>(k)] == col) ++k;
    return k;
  };
  int64_t a = rows.a.rows[row], b = rows.b.rows[row];
  const int64_t last_a = rows.a.rows[row + 1], last_b = rows.b.rows[row + 1];
  while (a < last_a || b < last_b) {
    const int64_t col_a = a < last_a ? rows.a.cols[static_cast<size_t>(a)] : INT64_MAX;
    const int64_t col_b = b < last_b ? rows.b.cols[static_cast<size_t>(b)] : INT64_MAX;
    const int64_t col = std::min(col_a, col_b);
    const int64_t next_a = end_of_column(rows.a, a, last_a, col);
    const int64_t next_b = end_of_column(rows.b, b, last_b, col);
    f(col, a, next_a, b, next_b);
    a = next_a, b = next_b;
  }
}

template <class C>
cu::CUresult write(const SparseSum& sum, const Rows& rows) {
  const IndexWriter offsets(sum.c.offsets, sum.c.offsets_type, sum.c.base);
  const IndexWriter indices(sum.c.indices, sum.c.indices_type, sum.c.base);
  const C alpha = sum.alpha.get<C>(), beta = sum.beta.get<C>();
  const auto total = [](const SpMat& m, const RowLists& lists, int64_t k, int64_t end,
                        bool is_conjugate) {
    C all(0);
    for (; k < end; ++k) {
      all += conjugate_if(is_conjugate,
                          load<C>(m.type, m.values, lists.positions[static_cast<size_t>(k)]));
    }
    return all;
  };
  int64_t count = 0;
  offsets.set(0, 0);
  for (int64_t row = 0; row < sum.c.rows; ++row) {
    for_columns(rows, static_cast<size_t>(row),
                [&](int64_t col, int64_t a, int64_t end_a, int64_t b, int64_t end_b) {
                  if (count < sum.c.nnz) {
                    const C value = alpha * total(sum.a, rows.a, a, end_a, sum.is_a_conjugate) +
                                    beta * total(sum.b, rows.b, b, end_b, sum.is_b_conjugate);
                    indices.set(count, col);
                    store<C>(sum.c.type, sum.c.values, count, value);
                  }
                  ++count;
                });
    offsets.set(row + 1, count);
  }
  if (count > sum.c.nnz) return bad_index("number of elements", count, sum.c.nnz + 1);
  return cu::CUDA_SUCCESS;
}

}  // namespace

cusparseStatus_t check_sum(const SparseSum& sum) {
  const auto rows = [](const SpMat& m, bool is_transposed) {
    return is_transposed ? m.cols : m.rows;
  };
  const auto cols = [](const SpMat& m, bool is_transposed) {
    return is_transposed ? m.rows : m.cols;
  };
  if (rows(sum.a, sum.is_a_transposed) != sum.c.rows ||
      rows(sum.b, sum.is_b_transposed) != sum.c.rows ||
      cols(sum.a, sum.is_a_transposed) != sum.c.cols ||
      cols(sum.b, sum.is_b_transposed) != sum.c.cols) {
    return invalid("the sizes of the matrices do not fit");
  }
  const bool is_sum_type = sum.compute == CUDA_R_32F || sum.compute == CUDA_R_64F ||
                           sum.compute == CUDA_C_32F || sum.compute == CUDA_C_64F;
  if (is_sum_type && sum.a.type == sum.compute && sum.b.type == sum.compute &&
      sum.c.type == sum.compute) {
    return CUSPARSE_STATUS_SUCCESS;
  }
  return unsupported("a sum of matrices of types %d and %d", static_cast<int>(sum.a.type),
                     static_cast<int>(sum.b.type));
}

void add_operands(Arrays& arrays, const SparseSum& sum, bool has_values) {
  for (const SpMat* const m : {&sum.a, &sum.b}) {
    if (has_values) {
      add_matrix(arrays, *m, false);
    } else {
      add_structure(arrays, *m, false);
    }
  }
}

cu::CUresult count_sum(const SparseSum& sum, int64_t* total) {
  Rows rows;
  KM_TRY_RUN(make_rows(sum, &rows));
  const IndexWriter offsets(sum.c.offsets, sum.c.offsets_type, sum.c.base);
  int64_t count = 0;
  if (sum.c.offsets != nullptr) offsets.set(0, 0);
  for (int64_t row = 0; row < sum.c.rows; ++row) {
    for_columns(rows, static_cast<size_t>(row),
                [&](int64_t, int64_t, int64_t, int64_t, int64_t) { ++count; });
    if (sum.c.offsets != nullptr) offsets.set(row + 1, count);
  }
  *total = count;
  return cu::CUDA_SUCCESS;
}

cu::CUresult write_sum(const SparseSum& sum) {
  Rows rows;
  KM_TRY_RUN(make_rows(sum, &rows));
  return with_compute(sum.compute, cu::CUresult{cu::CUDA_ERROR_NOT_SUPPORTED},
                      [&](auto tag) { return write<typename decltype(tag)::Type>(sum, rows); });
}

}  // namespace km::cusparse
