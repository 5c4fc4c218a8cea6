#include "dropin/cusparse/generic/dense_conversion.h"

#include "dropin/cusparse/matrix/entries.h"

namespace km::cusparse {
namespace {

struct Conversion {
  SpMat sparse;
  DnMat dense;

  uint64_t estimated_ns() const {
    return static_cast<uint64_t>(
        std::min<double>(static_cast<double>(dense.rows) * static_cast<double>(dense.cols), 1e18));
  }
  char* dense_at(int64_t row, int64_t col, int64_t bytes) const {
    return static_cast<char*>(dense.values) +
           (row * dense.row_stride() + col * dense.col_stride()) * bytes;
  }
  char* value_at(int64_t position, int64_t bytes) const {
    return static_cast<char*>(sparse.values) + position * bytes;
  }
};

cusparseStatus_t check_pair(const SpMat& a, const DnMat& b) {
  if (a.rows != b.rows || a.cols != b.cols) {
    return invalid("matrices of %lld x %lld and %lld x %lld", static_cast<long long>(a.rows),
                   static_cast<long long>(a.cols), static_cast<long long>(b.rows),
                   static_cast<long long>(b.cols));
  }
  if (a.batch_count != 1 || b.batch_count != 1) return unsupported("conversions of batches");
  if (a.type == b.type) return CUSPARSE_STATUS_SUCCESS;
  return unsupported("matrices of types %d and %d", static_cast<int>(a.type),
                     static_cast<int>(b.type));
}

/// The matrix's rows that a piece of lines has, in which it may set everything.
void clear_rows(const Conversion& c, int64_t first, int64_t last) {
  const int64_t bytes = bytes_of(c.dense.type);
  const bool is_row = c.dense.order == CUSPARSE_ORDER_ROW;
  if (is_row) {
    for (int64_t row = first; row < last; ++row) {
      std::memset(c.dense_at(row, 0, bytes), 0, static_cast<size_t>(c.dense.cols * bytes));
    }
    return;
  }
  for (int64_t col = 0; col < c.dense.cols && first < last; ++col) {
    std::memset(c.dense_at(first, col, bytes), 0, static_cast<size_t>((last - first) * bytes));
  }
}

cu::CUresult fill_dense(const Conversion& c, uint64_t piece, uint64_t pieces) {
  const int64_t first = first_line(c.sparse, piece, pieces);
  const int64_t last = first_line(c.sparse, piece + 1, pieces);
  if (first > last) return bad_index("offset", -1, c.sparse.nnz + 1);
  if (c.sparse.has_row_lines()) {
    clear_rows(c, first * c.sparse.row_block, std::min(last * c.sparse.row_block, c.dense.rows));
  } else {
    clear_rows(c, 0, c.dense.rows);
  }
  const int64_t bytes = bytes_of(c.dense.type);
  return for_entries(c.sparse, first, last, [&](int64_t row, int64_t col, int64_t position) {
    std::memcpy(c.dense_at(row, col, bytes), c.value_at(position, bytes),
                static_cast<size_t>(bytes));
  });
}

/// True if an element counts as one of a sparse matrix: -0 does not, and NaN does.
template <class S>
bool is_nonzero(const S& value) {
  if constexpr (std::is_same_v<S, Half> || std::is_same_v<S, BFloat>) {
    return (value.bits & 0x7fffU) != 0;
  } else if constexpr (kIsComplex<S>) {
    return is_nonzero(value.re) || is_nonzero(value.im);
  } else {
    return value != 0;
  }
}

/// Calls f(line, index) for the nonzeros by rows, or by columns for CSC.
template <class F>
cu::CUresult for_nonzeros(const Conversion& c, F&& f) {
  const bool is_csc = c.sparse.format == CUSPARSE_FORMAT_CSC;
  const int64_t lines = is_csc ? c.dense.cols : c.dense.rows;
  const int64_t width = is_csc ? c.dense.rows : c.dense.cols;
  return with_storage(c.dense.type, cu::CUresult{cu::CUDA_ERROR_NOT_SUPPORTED}, [&](auto tag) {
    using S = typename decltype(tag)::Type;
    for (int64_t line = 0; line < lines; ++line) {
      for (int64_t i = 0; i < width; ++i) {
        const char* const at =
            is_csc ? c.dense_at(i, line, sizeof(S)) : c.dense_at(line, i, sizeof(S));
        if (is_nonzero(read_element<S>(at, 0))) f(line, i, at);
      }
    }
    return cu::CUresult{cu::CUDA_SUCCESS};
  });
}

bool has_written_offsets(const SpMat& m) {
  return m.format == CUSPARSE_FORMAT_CSR || m.format == CUSPARSE_FORMAT_CSC;
}

/// Counts the nonzeros, and writes offsets if the format has them.
cu::CUresult count(const Conversion& c, int64_t* total) {
  const bool writes = has_written_offsets(c.sparse) && c.sparse.offsets != nullptr;
  const IndexWriter offsets(c.sparse.offsets, c.sparse.offsets_type, c.sparse.base);
  int64_t found = 0, next_line = 0;
  const auto begin_lines = [&](int64_t end) {
    for (; writes && next_line < end; ++next_line) offsets.set(next_line, found);
  };
  KM_TRY_RUN(for_nonzeros(c, [&](int64_t line, int64_t, const char*) {
    begin_lines(line + 1);
    ++found;
  }));
  begin_lines(c.sparse.lines() + 1);
  *total = found;
  return cu::CUDA_SUCCESS;
}

/// Writes indices and values; no more than the arrays have room for.
cu::CUresult fill_sparse(const Conversion& c) {
  const SpMat& m = c.sparse;
  if (has_written_offsets(m)) {
    int64_t total = 0;
    KM_TRY_RUN(count(c, &total));
  }
  const int64_t bytes = bytes_of(m.type);
  const IndexWriter rows(m.offsets, m.offsets_type, m.base);
  const IndexWriter indices(m.indices, m.indices_type, m.base);
  int64_t k = 0;
  const cu::CUresult done = for_nonzeros(c, [&](int64_t line, int64_t i, const char* value) {
    if (k < m.nnz) {
      if (m.format == CUSPARSE_FORMAT_COO) rows.set(k, line);
      indices.set(k, i);
      std::memcpy(c.value_at(k, bytes), value, static_cast<size_t>(bytes));
    }
    ++k;
  });
  if (k > m.nnz) return bad_index("number of nonzeros", k, m.nnz + 1);
  return done;
}

/// Writes the values of the blocks that the program has chosen.
cu::CUresult fill_blocked_ell(const Conversion& c) {
  const int64_t bytes = bytes_of(c.sparse.type);
  std::memset(c.sparse.values, 0, static_cast<size_t>(c.sparse.values_size() * bytes));
  return for_all_entries(c.sparse, [&](int64_t row, int64_t col, int64_t position) {
    std::memcpy(c.value_at(position, bytes), c.dense_at(row, col, bytes),
                static_cast<size_t>(bytes));
  });
}

cusparseStatus_t read_to_dense(cusparseConstSpMatDescr_t a, cusparseDnMatDescr_t b, Conversion* c) {
  LIB_TRY(read_descriptor("matA", a, &c->sparse));
  LIB_TRY(read_output("matB", b, &c->dense));
  return check_pair(c->sparse, c->dense);
}

cusparseStatus_t read_to_sparse(cusparseConstDnMatDescr_t a, cusparseSpMatDescr_t b,
                                Conversion* c) {
  LIB_TRY(read_descriptor("matA", a, &c->dense));
  LIB_TRY(read_output("matB", b, &c->sparse));
  const cusparseFormat_t format = c->sparse.format;
  if (format == CUSPARSE_FORMAT_BSR || format == CUSPARSE_FORMAT_SLICED_ELLPACK) {
    return unsupported("dense matrices become CSR, CSC, COO or blocked ELL, not format %d",
                       static_cast<int>(format));
  }
  return check_pair(c->sparse, c->dense);
}

}  // namespace

cusparseStatus_t check_to_dense(cusparseConstSpMatDescr_t a, cusparseDnMatDescr_t b) {
  Conversion c;
  return read_to_dense(a, b, &c);
}

cusparseStatus_t sparse_to_dense(const Handle& handle, cusparseConstSpMatDescr_t a,
                                 cusparseDnMatDescr_t b) {
  Conversion c;
  LIB_TRY(read_to_dense(a, b, &c));
  if (c.dense.rows == 0 || c.dense.cols == 0) return CUSPARSE_STATUS_SUCCESS;
  Arrays arrays;
  add_matrix(arrays, c.sparse, false);
  add_matrix(arrays, "matB", c.dense, true);
  const auto steps = static_cast<int64_t>(c.estimated_ns());
  const uint64_t pieces = c.sparse.has_row_lines()
                              ? std::min(pieces_of(steps), static_cast<uint64_t>(c.sparse.lines()))
                              : 1;
  return submit(handle, arrays, "cusparseSparseToDense", pieces, c.estimated_ns(),
                [c, pieces](uint64_t piece) { return fill_dense(c, piece, pieces); });
}

cusparseStatus_t check_to_sparse(cusparseConstDnMatDescr_t a, cusparseSpMatDescr_t b) {
  Conversion c;
  return read_to_sparse(a, b, &c);
}

cusparseStatus_t count_nonzeros(const Handle& handle, cusparseConstDnMatDescr_t a,
                                cusparseSpMatDescr_t b) {
  Conversion c;
  LIB_TRY(read_to_sparse(a, b, &c));
  if (c.sparse.format == CUSPARSE_FORMAT_BLOCKED_ELL) return CUSPARSE_STATUS_SUCCESS;
  Arrays arrays;
  add_matrix(arrays, "matA", c.dense, false);
  if (has_written_offsets(c.sparse) && c.sparse.offsets != nullptr) {
    arrays.written("the matrix's offsets", c.sparse.offsets, c.sparse.offsets_size(),
                   bytes_of_index(c.sparse.offsets_type));
  }
  const auto total = std::make_shared<int64_t>(0);
  LIB_TRY(submit_and_wait(handle, arrays, "cusparseDenseToSparse_analysis", c.estimated_ns(),
                          [c, total](uint64_t) { return count(c, total.get()); }));
  return change_descriptor<SpMat>("matB", b, [&](SpMat& m) {
    m.nnz = *total;
    return CUSPARSE_STATUS_SUCCESS;
  });
}

cusparseStatus_t dense_to_sparse(const Handle& handle, cusparseConstDnMatDescr_t a,
                                 cusparseSpMatDescr_t b) {
  Conversion c;
  LIB_TRY(read_to_sparse(a, b, &c));
  if (c.dense.rows == 0 || c.dense.cols == 0) return CUSPARSE_STATUS_SUCCESS;
  Arrays arrays;
  const bool is_ell = c.sparse.format == CUSPARSE_FORMAT_BLOCKED_ELL;
  add_matrix(arrays, "matA", c.dense, false);
  add_structure(arrays, c.sparse, !is_ell);
  arrays.written("the matrix's values", c.sparse.values, c.sparse.values_size(),
                 bytes_of(c.sparse.type));
  return submit(handle, arrays, "cusparseDenseToSparse_convert", 1, c.estimated_ns(),
                [c, is_ell](uint64_t) { return is_ell ? fill_blocked_ell(c) : fill_sparse(c); });
}

}  // namespace km::cusparse
