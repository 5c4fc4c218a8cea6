#include "dropin/cusparse/generic/product.h"

#include "dropin/cusparse/generic/product_types.h"
#include "dropin/cusparse/matrix/entries.h"

namespace km::cusparse {
namespace {

/// The number of columns of C whose sums are made at once: they should stay in the cache.
int64_t column_block(const Product& p, bool is_by_lines) {
  constexpr int64_t kMostColumns = 64, kLeastColumns = 4, kSums = int64_t{1} << 20;
  if (is_by_lines) return kMostColumns;
  return std::clamp(kSums / std::max<int64_t>(p.rows, 1), kLeastColumns, kMostColumns);
}

/// How a product is divided into pieces.
struct Division {
  uint64_t lines = 1;    // parts of the matrix's lines
  uint64_t columns = 1;  // parts of C's columns
  bool is_by_lines = false;
};

/// One piece's part of a product.
struct Part {
  int64_t first_line, last_line;
  int64_t first_column, last_column;
};

/// The storing of sums into C.
template <class C>
class Output {
 public:
  Output(const Product& p, int64_t batch)
      : p_(p),
        alpha_(p.alpha.get<C>()),
        beta_(p.beta.get<C>()),
        has_old_(!(beta_ == C(0))),
        c_(batch * p.c.batch_stride),
        d_(batch * p.d.batch_stride),
        row_stride_(p.c.row_stride),
        col_stride_(p.c.col_stride) {
    const bool is_plain = p.c.type == kTypeOf<C> && !has_old_;
    if (is_plain) plain_ = static_cast<C*>(p.c.values) + c_;
  }

  void set(int64_t row, int64_t col, const C& sum) const {
    C value = alpha_ * sum;
    if (plain_ != nullptr) {
      plain_[row * row_stride_ + col * col_stride_] = value;
      return;
    }
    if (has_old_) {
      const int64_t at = d_ + row * p_.d.row_stride + col * p_.d.col_stride;
      value = value + beta_ * load<C>(p_.d.type, p_.d.values, at);
    }
    store<C>(p_.c.type, p_.c.values, c_ + row * p_.c.row_stride + col * p_.c.col_stride, value);
  }

 private:
  const Product& p_;
  const C alpha_, beta_;
  const bool has_old_;
  const int64_t c_, d_, row_stride_, col_stride_;
  C* plain_ = nullptr;  // C if it has the type of the sums and its old values do not count
};

/// The sums of rows of C: `cols` for each.
template <class C>
using Sums = std::vector<C>;

/// Adds a row of B, times a value, to a row of sums.
template <class B, class C>
void add_row(C* sums, const C& value, const B* b, int64_t stride, int64_t cols, bool conjugates) {
  if (conjugates) {
    for (int64_t j = 0; j < cols; ++j) {
      sums[j] += value * conjugate(widen<C>(b[j * stride]));
    }
  } else if (stride == 1) {
    for (int64_t j = 0; j < cols; ++j) sums[j] += value * widen<C>(b[j]);
  } else {
    for (int64_t j = 0; j < cols; ++j) sums[j] += value * widen<C>(b[j * stride]);
  }
}

/// Adds the entries of the part's lines to sums whose first row is `first_row`.
template <class T>
cu::CUresult add_entries(const Product& p, const SpMat& a, int64_t batch, const Part& part,
                         int64_t first_row, Sums<typename T::Sum>& sums) {
  using A = typename T::First;
  using B = typename T::Second;
  using C = typename T::Sum;
  const int64_t cols = part.last_column - part.first_column;
  const B* const b = static_cast<const B*>(p.b.values) + batch * p.b.batch_stride +
                     part.first_column * p.b.col_stride;
  return for_entries(a, part.first_line, part.last_line, [&](int64_t row, int64_t col, int64_t k) {
    const int64_t to = p.is_transposed ? col : row, from = p.is_transposed ? row : col;
    const C value = conjugate_if(p.is_conjugate, widen<C>(read_element<A>(a.values, k)));
    if (cols == 1) {
      const C other = widen<C>(b[from * p.b.row_stride]);
      sums[static_cast<size_t>(to - first_row)] += value * conjugate_if(p.b.is_conjugate, other);
      return;
    }
    add_row(sums.data() + (to - first_row) * cols, value, b + from * p.b.row_stride, p.b.col_stride,
            cols, p.b.is_conjugate);
  });
}

/// Stores sums of the rows from `first_row` to before `last_row`.
template <class C>
void store_sums(const Output<C>& output, const Part& part, int64_t first_row, int64_t last_row,
                const Sums<C>& sums) {
  const C* next = sums.data();
  for (int64_t row = first_row; row < last_row; ++row) {
    for (int64_t col = part.first_column; col < part.last_column; ++col) {
      output.set(row, col, *next++);
    }
  }
}

/// A part whose lines have rows of their own: line by line.
template <class T>
cu::CUresult run_lines(const Product& p, const SpMat& a, int64_t batch, const Part& part) {
  using C = typename T::Sum;
  const Output<C> output(p, batch);
  Sums<C> sums;
  for (int64_t line = part.first_line; line < part.last_line; ++line) {
    const int64_t first_row = line * a.row_block;
    const int64_t last_row = std::min(first_row + a.row_block, a.rows);
    sums.assign(
        static_cast<size_t>((last_row - first_row) * (part.last_column - part.first_column)), C(0));
    const Part one = {line, line + 1, part.first_column, part.last_column};
    KM_TRY_RUN(add_entries<T>(p, a, batch, one, first_row, sums));
    store_sums(output, part, first_row, last_row, sums);
  }
  return cu::CUDA_SUCCESS;
}

/// A part of which each line may add to any row.
template <class T>
cu::CUresult run_scattered(const Product& p, const SpMat& a, int64_t batch, const Part& part) {
  using C = typename T::Sum;
  Sums<C> sums(static_cast<size_t>(p.rows * (part.last_column - part.first_column)), C(0));
  KM_TRY_RUN(add_entries<T>(p, a, batch, part, 0, sums));
  store_sums(Output<C>(p, batch), part, 0, p.rows, sums);
  return cu::CUDA_SUCCESS;
}

/// The sum of a row of CSR times a vector, by four sums: each waits for its own last addition only.
/// Index `base` is that of x[0]. Returns false if an index is not one of the `end` elements.
template <class T, class I>
[[gnu::always_inline]] inline bool sum_row(const typename T::First* values, const I* indices,
                                           int64_t count, int64_t base, int64_t end,
                                           const typename T::Second* x, bool conjugates,
                                           typename T::Sum* out) {
  using C = typename T::Sum;
  using U = std::make_unsigned_t<I>;  // one comparison finds negative indices, too
  const U first = static_cast<U>(base);
  const uint64_t most = static_cast<uint64_t>(std::numeric_limits<I>::max()) + 1;
  const U size = static_cast<U>(std::min(static_cast<uint64_t>(end), most));
  const auto index = [&](int64_t k) { return static_cast<U>(static_cast<U>(indices[k]) - first); };
  const auto product = [&](int64_t k, U at) {
    return conjugate_if(conjugates, widen<C>(values[k])) * widen<C>(x[at]);
  };
  C sum_a(0), sum_b(0), sum_c(0), sum_d(0);
  int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    const U a = index(k), b = index(k + 1), c = index(k + 2), d = index(k + 3);
    if (a >= size || b >= size || c >= size || d >= size) return false;
    sum_a += product(k, a), sum_b += product(k + 1, b);
    sum_c += product(k + 2, c), sum_d += product(k + 3, d);
  }
  for (; k < count; ++k) {
    const U at = index(k);
    if (at >= size) return false;
    sum_a += product(k, at);
  }
  *out = (sum_a + sum_b) + (sum_c + sum_d);
  return true;
}

/// The message for the first bad index of a row.
cu::CUresult report_row(const SpMat& a, const LineRange& range) {
  const Indices indices = indices_of(a);
  for (int64_t k = range.first; k < range.last; ++k) {
    if (!is_within(indices[k], a.cols)) return bad_index("column index", indices[k], a.cols);
  }
  return bad_index("column index", -1, a.cols);
}

/// Rows of CSR times a vector, with offsets of type O and indices of type I.
template <class T, class O, class I>
[[gnu::noinline]] cu::CUresult run_rows(const Product& p, const SpMat& a, int64_t batch,
                                        const Part& part) {
  using C = typename T::Sum;
  const Output<C> output(p, batch);
  const auto* const values = static_cast<const typename T::First*>(a.values);
  const auto* const indices = static_cast<const I*>(a.indices);
  const auto* const x =
      static_cast<const typename T::Second*>(p.b.values) + batch * p.b.batch_stride;
  const auto offset = [&](int64_t row) {
    return read_element<O>(a.offsets, row) - int64_t{a.base};
  };
  LineRange range = {0, offset(part.first_line)};
  for (int64_t row = part.first_line; row < part.last_line; ++row) {
    range = {range.last, offset(row + 1)};
    if (range.first < 0 || range.first > range.last || range.last > a.nnz) {
      return bad_index("offset", range.last, a.nnz + 1);
    }
    C sum(0);
    if (!sum_row<T, I>(values + range.first, indices + range.first, range.last - range.first,
                       a.base, a.cols, x, p.is_conjugate, &sum)) {
      return report_row(a, range);
    }
    output.set(row, 0, sum);
  }
  return cu::CUDA_SUCCESS;
}

bool is_row_times_vector(const Product& p) {
  return p.a.format == CUSPARSE_FORMAT_CSR && !p.is_transposed && p.cols == 1 &&
         p.b.row_stride == 1 && !p.b.is_conjugate;
}

template <class T>
cu::CUresult run_part(const Product& p, int64_t batch, const Part& part, bool is_by_lines) {
  const SpMat a = p.a.of_batch(batch);
  if (!is_by_lines) return run_scattered<T>(p, a, batch, part);
  if (!is_row_times_vector(p)) return run_lines<T>(p, a, batch, part);
  const bool has_wide = a.indices_type == CUSPARSE_INDEX_64I;
  if (a.offsets_type == CUSPARSE_INDEX_64I) {
    return has_wide ? run_rows<T, int64_t, int64_t>(p, a, batch, part)
                    : run_rows<T, int64_t, int32_t>(p, a, batch, part);
  }
  return has_wide ? run_rows<T, int32_t, int64_t>(p, a, batch, part)
                  : run_rows<T, int32_t, int32_t>(p, a, batch, part);
}

/// Piece `piece` of all batches, lines and columns.
cu::CUresult run_piece(const Product& p, const Division& division, uint64_t piece) {
  const uint64_t line_part = piece % division.lines;
  const uint64_t column_part = piece / division.lines % division.columns;
  const auto batch = static_cast<int64_t>(piece / division.lines / division.columns);
  const SpMat a = p.a.of_batch(batch);
  const int64_t first_line_of_part = first_line(a, line_part, division.lines);
  const int64_t last_line = first_line(a, line_part + 1, division.lines);
  if (first_line_of_part > last_line) return bad_index("offset", -1, a.nnz + 1);
  const int64_t end = first_of_piece(p.cols, column_part + 1, division.columns);
  int64_t column = first_of_piece(p.cols, column_part, division.columns);
  const int64_t most_columns = column_block(p, division.is_by_lines);
  while (column < end) {
    const int64_t next = std::min(column + most_columns, end);
    const Part part = {first_line_of_part, last_line, column, next};
    KM_TRY_RUN(with_product_types(
        p.a.type, p.b.type, p.compute, cu::CUresult{cu::CUDA_ERROR_NOT_SUPPORTED}, [&](auto types) {
          return run_part<decltype(types)>(p, batch, part, division.is_by_lines);
        }));
    column = next;
  }
  return cu::CUDA_SUCCESS;
}

Division divide(const Product& p, int64_t steps) {
  Division division;
  division.is_by_lines = p.a.has_row_lines() && !p.is_transposed;
  const uint64_t pieces = pieces_of(steps / std::max<int64_t>(p.batch_count, 1));
  if (division.is_by_lines) {
    division.lines = std::min(pieces, static_cast<uint64_t>(std::max<int64_t>(p.a.lines(), 1)));
  } else {
    division.columns = std::min(pieces, static_cast<uint64_t>(std::max<int64_t>(p.cols, 1)));
  }
  return division;
}

}  // namespace

cusparseStatus_t check_operation(const char* name, cusparseOperation_t operation) {
  if (operation >= CUSPARSE_OPERATION_NON_TRANSPOSE &&
      operation <= CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) {
    return CUSPARSE_STATUS_SUCCESS;
  }
  return invalid("%s is %d", name, static_cast<int>(operation));
}

cusparseStatus_t check_product_types(cudaDataType a, cudaDataType b, cudaDataType c,
                                     cudaDataType compute) {
  const bool is_known = with_product_types(a, b, compute, false, [&](auto types) {
    using T = decltype(types);
    if (c == compute) return true;
    // Sums of half numbers may be rounded to them.
    return c == a && c == b && sizeof(typename T::First) < sizeof(typename T::Sum);
  });
  if (is_known && !(a == CUDA_R_8I && c == CUDA_R_8I)) return CUSPARSE_STATUS_SUCCESS;
  return unsupported("no product has matrices of types %d, %d and %d and sums of type %d",
                     static_cast<int>(a), static_cast<int>(b), static_cast<int>(c),
                     static_cast<int>(compute));
}

cusparseStatus_t submit_product(const Handle& handle, const Arrays& arrays, const char* name,
                                const Product& product) {
  if (product.rows == 0 || product.cols == 0) return CUSPARSE_STATUS_SUCCESS;
  const auto size = static_cast<double>(product.a.values_size() + product.rows);
  const double steps =
      size * static_cast<double>(product.cols) * static_cast<double>(product.batch_count);
  const auto whole_steps = static_cast<int64_t>(std::min(steps, 1e18));
  const Division division = divide(product, whole_steps);
  const uint64_t pieces =
      division.lines * division.columns * static_cast<uint64_t>(product.batch_count);
  return submit(handle, arrays, name, pieces, static_cast<uint64_t>(whole_steps) / 2,
                [p = product, division](uint64_t piece) { return run_piece(p, division, piece); });
}

}  // namespace km::cusparse
