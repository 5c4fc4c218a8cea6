#include "math/sparse/product.h"

#include "math/sparse/entries.h"
#include "math/sparse/product_types.h"

namespace km::sparse {
namespace {

/// The number of columns of C whose sums are made at once: they should stay in the cache.
int64_t column_block(const Product& p, bool is_by_lines) {
  constexpr int64_t kMostColumns = 64, kLeastColumns = 4, kSums = int64_t{1} << 20;
  if (is_by_lines) return kMostColumns;
  return std::clamp(kSums / std::max<int64_t>(p.rows, 1), kLeastColumns, kMostColumns);
}

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
        alpha_(read_element<C>(p.alpha, 0)),
        beta_(read_element<C>(p.beta, 0)),
        has_old_(!(beta_ == C(0))),
        c_(batch * p.c.batch_stride),
        d_(batch * p.d.batch_stride),
        row_stride_(p.c.row_stride),
        col_stride_(p.c.col_stride) {
    const bool is_plain = p.c.type == kNumberOf<C> && !has_old_;
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
Status add_entries(const Product& p, const Matrix& a, int64_t batch, const Part& part,
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
Status run_lines(const Product& p, const Matrix& a, int64_t batch, const Part& part) {
  using C = typename T::Sum;
  const Output<C> output(p, batch);
  Sums<C> sums;
  for (int64_t line = part.first_line; line < part.last_line; ++line) {
    const int64_t first_row = line * a.row_block;
    const int64_t last_row = std::min(first_row + a.row_block, a.rows);
    sums.assign(
        static_cast<size_t>((last_row - first_row) * (part.last_column - part.first_column)), C(0));
    const Part one = {line, line + 1, part.first_column, part.last_column};
    KM_TRY(add_entries<T>(p, a, batch, one, first_row, sums));
    store_sums(output, part, first_row, last_row, sums);
  }
  return {};
}

/// A part of which each line may add to any row.
template <class T>
Status run_scattered(const Product& p, const Matrix& a, int64_t batch, const Part& part) {
  using C = typename T::Sum;
  Sums<C> sums(static_cast<size_t>(p.rows * (part.last_column - part.first_column)), C(0));
  KM_TRY(add_entries<T>(p, a, batch, part, 0, sums));
  store_sums(Output<C>(p, batch), part, 0, p.rows, sums);
  return {};
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

/// The error of the first bad index of a row.
Status report_row(const Matrix& a, int64_t row, const LineRange& range) {
  const Indices indices = a.indices_list();
  int64_t k = range.first;
  while (k + 1 < range.last && is_within(indices[k], a.cols)) ++k;
  return bad_index_of("column index", "row", row, indices[k], a.cols);
}

/// Rows of CSR times a vector, with offsets of type O and indices of type I.
template <class T, class O, class I>
[[gnu::noinline]] Status run_rows(const Product& p, const Matrix& a, int64_t batch,
                                  const Part& part) {
  using C = typename T::Sum;
  const Output<C> output(p, batch);
  const auto* const values = static_cast<const typename T::First*>(a.values);
  const auto* const indices = static_cast<const I*>(a.indices);
  const auto* const x =
      static_cast<const typename T::Second*>(p.b.values) + batch * p.b.batch_stride;
  const auto offset = [&](int64_t row) { return read_element<O>(a.offsets, row) - a.base; };
  LineRange range = {0, offset(part.first_line)};
  for (int64_t row = part.first_line; row < part.last_line; ++row) {
    range = {range.last, offset(row + 1)};
    if (range.first < 0 || range.first > range.last || range.last > a.nnz) {
      return bad_index_of("offset", "row", row, range.last, a.nnz + 1);
    }
    C sum(0);
    if (!sum_row<T, I>(values + range.first, indices + range.first, range.last - range.first,
                       a.base, a.cols, x, p.is_conjugate, &sum)) {
      return report_row(a, row, range);
    }
    output.set(row, 0, sum);
  }
  return {};
}

bool is_row_times_vector(const Product& p) {
  return p.a.format == Format::kCsr && !p.is_transposed && p.cols == 1 && p.b.row_stride == 1 &&
         !p.b.is_conjugate;
}

template <class T>
Status run_part(const Product& p, int64_t batch, const Part& part, bool is_by_lines) {
  const Matrix a = p.a.of_batch(batch);
  if (!is_by_lines) return run_scattered<T>(p, a, batch, part);
  if (!is_row_times_vector(p)) return run_lines<T>(p, a, batch, part);
  const bool has_wide = a.has_wide_indices;
  if (a.has_wide_offsets) {
    return has_wide ? run_rows<T, int64_t, int64_t>(p, a, batch, part)
                    : run_rows<T, int64_t, int32_t>(p, a, batch, part);
  }
  return has_wide ? run_rows<T, int32_t, int64_t>(p, a, batch, part)
                  : run_rows<T, int32_t, int32_t>(p, a, batch, part);
}

Status no_such_product(const Product& p) {
  return make_error(KM_ERROR_NOT_SUPPORTED, "no sparse product has numbers of types %d, %d and %d",
                    static_cast<int>(p.a.type), static_cast<int>(p.b.type),
                    static_cast<int>(p.compute));
}

}  // namespace

void set_sparse(Product& p, const Matrix& a, bool is_transposed, bool is_conjugate) {
  p.a = a;
  p.is_transposed = is_transposed;
  p.is_conjugate = is_conjugate;
  if (is_transposed && a.has_transposed_form()) {
    p.a = a.transposed();
    p.is_transposed = false;
  }
}

Status run_product(const Product& p, const Division& division, uint64_t piece) {
  const uint64_t line_part = piece % division.lines;
  const uint64_t column_part = piece / division.lines % division.columns;
  const auto batch = static_cast<int64_t>(piece / division.lines / division.columns);
  const Matrix a = p.a.of_batch(batch);
  const int64_t first_line_of_part = first_line(a, line_part, division.lines);
  const int64_t last_line = first_line(a, line_part + 1, division.lines);
  // Another thread of the program may change the offsets meanwhile.
  if (first_line_of_part > last_line) return bad_index("offset", -1, a.nnz + 1);
  const int64_t end = first_of_piece(p.cols, column_part + 1, division.columns);
  int64_t column = first_of_piece(p.cols, column_part, division.columns);
  const int64_t most_columns = column_block(p, division.is_by_lines);
  while (column < end) {
    const int64_t next = std::min(column + most_columns, end);
    const Part part = {first_line_of_part, last_line, column, next};
    Status done;
    const bool is_known = with_product_types(p.a.type, p.b.type, p.compute, false, [&](auto types) {
      done = run_part<decltype(types)>(p, batch, part, division.is_by_lines);
      return true;
    });
    if (!is_known) return no_such_product(p);
    KM_TRY(std::move(done));
    column = next;
  }
  return {};
}

int64_t steps_of(const Product& p) {
  const auto size = static_cast<double>(p.a.values_size() + p.rows);
  const double steps = size * static_cast<double>(p.cols) * static_cast<double>(p.batch_count);
  return static_cast<int64_t>(std::min(steps, 1e18));
}

Division divide(const Product& p, uint32_t threads) {
  Division division;
  division.is_by_lines = p.a.has_row_lines() && !p.is_transposed;
  division.batches = static_cast<uint64_t>(p.batch_count);
  const uint64_t pieces = pieces_of(steps_of(p) / std::max<int64_t>(p.batch_count, 1), threads);
  if (division.is_by_lines) {
    division.lines = std::min(pieces, static_cast<uint64_t>(std::max<int64_t>(p.a.lines(), 1)));
  } else {
    division.columns = std::min(pieces, static_cast<uint64_t>(std::max<int64_t>(p.cols, 1)));
  }
  return division;
}

}  // namespace km::sparse
