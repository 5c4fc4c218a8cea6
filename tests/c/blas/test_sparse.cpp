// Sparse products and solvers against loops in long double: all formats, types, sizes and bases of
// indices, operations, layouts, increments; matrices that one thread does and that several share.
#include <array>

#include "blas_reference.h"

#include <kernelmill/helpers.h>

namespace blas_test {
namespace {

constexpr km_blas_operation kOperations[] = {KM_BLAS_OPERATION_NONE, KM_BLAS_OPERATION_TRANSPOSE,
                                             KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE};
constexpr km_sparse_format kFormats[] = {KM_SPARSE_FORMAT_CSR, KM_SPARSE_FORMAT_CSC,
                                         KM_SPARSE_FORMAT_COO};

uint64_t random_below(uint64_t end) { return random_bits()() % end; }
bool random_bool() { return random_below(2) != 0; }

/// A random factor, often 0 or 1.
template <class T>
T random_factor() {
  const uint64_t kind = random_below(4);
  if (kind < 2) return T(static_cast<RealOf<T>>(kind));
  return random_value<T>();
}

/// The storage of a case's matrix.
struct Kind {
  km_sparse_format format;
  uint32_t index_size_bytes, base;
};

/// Offsets or indices of either size.
struct StoredIndices : Stored<unsigned char> {
  StoredIndices(const std::vector<uint64_t>& values, const Kind& kind)
      : Stored<unsigned char>(values.size() * kind.index_size_bytes), size_bytes(0) {
    size_bytes = kind.index_size_bytes;
    for (size_t i = 0; i < values.size(); ++i) {
      const uint64_t value = values[i] + kind.base;  // little-endian
      std::memcpy(data.data() + i * size_bytes, &value, size_bytes);
    }
  }
  void upload(const fixture* f) {
    OK(km_slice_create(f->context, data.size() / size_bytes, size_bytes, 0, &slice));
    if (!data.empty()) OK(km_slice_upload(f->stream, slice, 0, data.data(), data.size()));
  }
  km_array argument() const { return {reinterpret_cast<uint64_t>(slice), 0, 0, 0}; }
  uint32_t size_bytes;
};

struct Entry {
  uint64_t row, column;
};

/// The entries of a random matrix line by line, within a line in no order. Some come twice.
struct Entries {
  uint64_t rows, columns;
  std::vector<Entry> list;

  Entries(uint64_t m, uint64_t n, uint64_t count, bool has_diagonal) : rows(m), columns(n) {
    for (uint64_t k = 0; k < count && m != 0 && n != 0; ++k) {
      const Entry entry{random_below(m), random_below(n)};
      if (!has_diagonal || entry.row != entry.column) list.push_back(entry);
    }
    for (uint64_t i = 0; has_diagonal && i < m; ++i) list.push_back({i, i});
    std::shuffle(list.begin(), list.end(), random_bits());
  }
};

std::vector<uint64_t> offsets_of(const std::vector<Entry>& list, uint64_t lines,
                                 uint64_t Entry::* line) {
  std::vector<uint64_t> offsets(lines + 1);
  for (const Entry& entry : list) ++offsets[entry.*line + 1];
  for (uint64_t i = 0; i < lines; ++i) offsets[i + 1] += offsets[i];
  return offsets;
}

template <class T>
struct StoredSparse {
  Kind kind;
  Entries entries;
  Stored<T> values;
  StoredIndices offsets, indices;

  StoredSparse(const Kind& of, Entries&& made, RealOf<T> off_diagonal = 1)
      : kind(of),
        entries(sorted(std::move(made), of)),
        values(entries.list.size()),
        offsets(first_list(), of),
        indices(second_list(), of) {
    for (size_t k = 0; k < values.data.size(); ++k) {
      const Entry& entry = entries.list[k];
      values.data[k] = random_value<T>();
      // A diagonal far from 0, and small numbers beside it, make systems that can be solved.
      if (off_diagonal == 1) continue;
      values.data[k] =
          entry.row == entry.column ? values.data[k] + RealOf<T>(3) : values.data[k] * off_diagonal;
    }
  }
  static Entries sorted(Entries&& entries, const Kind& kind) {
    const bool by_columns = kind.format == KM_SPARSE_FORMAT_CSC;
    std::stable_sort(entries.list.begin(), entries.list.end(), [&](const Entry& a, const Entry& b) {
      return by_columns ? a.column < b.column : a.row < b.row;
    });
    return std::move(entries);
  }
  std::vector<uint64_t> each(uint64_t Entry::* member) const {
    std::vector<uint64_t> result;
    for (const Entry& entry : entries.list) result.push_back(entry.*member);
    return result;
  }
  std::vector<uint64_t> first_list() const {
    if (kind.format == KM_SPARSE_FORMAT_COO) return each(&Entry::row);
    const bool by_columns = kind.format == KM_SPARSE_FORMAT_CSC;
    return offsets_of(entries.list, by_columns ? entries.columns : entries.rows,
                      by_columns ? &Entry::column : &Entry::row);
  }
  std::vector<uint64_t> second_list() const {
    return each(kind.format == KM_SPARSE_FORMAT_CSC ? &Entry::row : &Entry::column);
  }
  void upload(const fixture* f) {
    values.upload(f);
    offsets.upload(f);
    indices.upload(f);
  }
  km_sparse_matrix argument() const {
    km_sparse_matrix a = km_sparse_csr(entries.rows, entries.columns, entries.list.size());
    a.format = kind.format;
    a.index_size_bytes = kind.index_size_bytes;
    a.index_base = kind.base;
    a.offsets = offsets.argument();
    a.indices = indices.argument();
    a.values = {reinterpret_cast<uint64_t>(values.slice), 0, 0, 0};
    return a;
  }
  /// Calls f(row, column, value) of op(A).
  template <class F>
  void each_of(km_blas_operation operation, const F& f) const {
    for (size_t k = 0; k < entries.list.size(); ++k) {
      const Entry& entry = entries.list[k];
      const Wide value = widen(values.data[k]);
      if (operation == KM_BLAS_OPERATION_NONE) f(entry.row, entry.column, value);
      if (operation == KM_BLAS_OPERATION_TRANSPOSE) f(entry.column, entry.row, value);
      if (operation == KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE) {
        f(entry.column, entry.row, std::conj(value));
      }
    }
  }
};

/// op(A) B, and the sums of magnitudes.
struct Sums {
  Dense values, sizes;
  uint64_t terms = 0;
};
long double magnitude(const Wide& value) {
  return std::fabs(value.real()) + std::fabs(value.imag());
}
template <class T>
Sums product(const StoredSparse<T>& a, km_blas_operation operation, const Dense& b, uint64_t rows) {
  Sums sums{Dense(rows, b.columns), Dense(rows, b.columns), a.entries.list.size()};
  a.each_of(operation, [&](uint64_t row, uint64_t column, const Wide& value) {
    for (uint64_t j = 0; j < b.columns; ++j) {
      sums.values.at(row, j) += value * b.at(column, j);
      sums.sizes.at(row, j) += magnitude(value) * magnitude(b.at(column, j));
    }
  });
  return sums;
}

struct Bench {
  const fixture* f;
  km_blas_layout layout;
  km_blas blas = nullptr;
  Bench(const fixture* of, km_blas_layout order) : f(of), layout(order) {
    OK(km_blas_create(f->stream, layout, &blas));
  }
  ~Bench() { OK(km_blas_destroy(blas)); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
};

/// The result that a product has to give: alpha op(A) B + beta C.
template <class T>
void expect_product(const Sums& sums, T alpha, T beta, const Dense& old, const Dense& seen,
                    const char* what) {
  const Wide a = widen(alpha), b = widen(beta);
  const Dense wanted = combined(a, sums.values, b, old);
  const Dense sizes = combined(magnitude(a), sums.sizes, magnitude(b), magnitudes(old));
  expect_close<T>(seen, wanted, sizes, 2 * sums.terms, what);
}

template <class T>
void check_mv(const Bench& bench, StoredSparse<T>& a, km_blas_operation operation, int64_t step_x,
              int64_t step_y) {
  const bool is_plain = operation == KM_BLAS_OPERATION_NONE;
  const uint64_t rows = is_plain ? a.entries.rows : a.entries.columns;
  const uint64_t inner = is_plain ? a.entries.columns : a.entries.rows;
  StoredVector<T> x(inner, step_x), y(rows, step_y);
  const T alpha = random_factor<T>(), beta = random_factor<T>();
  if (beta == T(0)) std::fill(y.data.begin(), y.data.end(), marker<T>());  // NaN
  a.upload(bench.f);
  x.upload(bench.f);
  y.upload(bench.f);
  const km_sparse_matrix pa = a.argument();
  const km_blas_vector px = x.argument(), py = y.argument();
  OK(km_sparse_mv(bench.blas, Traits<T>::kType, operation, &alpha, &pa, &px, &beta, &py));
  const std::vector<T> seen = y.download(bench.f);
  assert_true(y.keeps_markers(seen));
  expect_product<T>(product(a, operation, x.dense(), rows), alpha, beta, y.dense(), y.dense(seen),
                    "km_sparse_mv");
}

template <class T>
void check_mm(const Bench& bench, StoredSparse<T>& a, km_blas_operation operation_a,
              km_blas_operation operation_b, uint64_t columns) {
  const bool is_plain_a = operation_a == KM_BLAS_OPERATION_NONE;
  const bool is_plain_b = operation_b == KM_BLAS_OPERATION_NONE;
  const uint64_t rows = is_plain_a ? a.entries.rows : a.entries.columns;
  const uint64_t inner = is_plain_a ? a.entries.columns : a.entries.rows;
  StoredMatrix<T> b(bench.layout, is_plain_b ? inner : columns, is_plain_b ? columns : inner);
  StoredMatrix<T> c(bench.layout, rows, columns);
  const T alpha = random_factor<T>(), beta = random_factor<T>();
  if (beta == T(0)) std::fill(c.data.begin(), c.data.end(), marker<T>());
  a.upload(bench.f);
  b.upload(bench.f);
  c.upload(bench.f);
  const km_sparse_matrix pa = a.argument();
  const km_blas_matrix pb = b.argument(), pc = c.argument();
  OK(km_sparse_mm(bench.blas, Traits<T>::kType, operation_a, operation_b, columns, &alpha, &pa, &pb,
                  &beta, &pc));
  const std::vector<T> seen = c.download(bench.f);
  assert_true(c.keeps_markers(seen));
  expect_product<T>(product(a, operation_a, apply(b.dense(), operation_b), rows), alpha, beta,
                    c.dense(), c.dense(seen), "km_sparse_mm");
}

/// A triangle of a matrix, and an operation on it.
struct Triangle {
  km_blas_operation operation;
  km_blas_triangle triangle;
  km_blas_diagonal diagonal;
  static Triangle random() {
    return {kOperations[random_below(3)],
            random_bool() ? KM_BLAS_TRIANGLE_LOWER : KM_BLAS_TRIANGLE_UPPER,
            random_bool() ? KM_BLAS_DIAGONAL_STORED : KM_BLAS_DIAGONAL_UNIT};
  }
};

/// The result times the triangle is alpha B, as nearly as rounding allows.
template <class T>
void expect_solution(const StoredSparse<T>& a, const Triangle& t, T alpha, const Dense& given,
                     const Dense& seen, const char* what) {
  StoredSparse<T> part(a.kind, Entries(0, 0, 0, false));
  part.entries.rows = part.entries.columns = a.entries.rows;
  for (size_t k = 0; k < a.entries.list.size(); ++k) {
    const Entry& entry = a.entries.list[k];
    const bool is_inside =
        t.triangle == KM_BLAS_TRIANGLE_LOWER ? entry.column < entry.row : entry.column > entry.row;
    const bool is_diagonal = entry.column == entry.row && t.diagonal == KM_BLAS_DIAGONAL_STORED;
    if (!is_inside && !is_diagonal) continue;
    part.entries.list.push_back(entry);
    part.values.data.push_back(a.values.data[k]);
  }
  for (uint64_t i = 0; t.diagonal == KM_BLAS_DIAGONAL_UNIT && i < a.entries.rows; ++i) {
    part.entries.list.push_back({i, i});
    part.values.data.push_back(T(1));
  }
  const Sums sums = product(part, t.operation, seen, a.entries.rows);
  const Dense wanted = combined(widen(alpha), given, 0, given);
  expect_close<T>(sums.values, wanted, combined(1, sums.sizes, 1, magnitudes(wanted)),
                  2 * sums.terms, what);
}

template <class T>
void check_sv(const Bench& bench, StoredSparse<T>& a, const Triangle& t, int64_t step,
              bool is_in_place) {
  StoredVector<T> x(a.entries.rows, step), y(a.entries.rows, is_in_place ? step : step % 3 + 1);
  const T alpha = random_value<T>() + T(1);
  a.upload(bench.f);
  x.upload(bench.f);
  y.upload(bench.f);
  const km_sparse_matrix pa = a.argument();
  const km_blas_vector px = x.argument(), py = is_in_place ? px : y.argument();
  OK(km_sparse_sv(bench.blas, Traits<T>::kType, t.operation, t.triangle, t.diagonal, &alpha, &pa,
                  &px, &py));
  const StoredVector<T>& result = is_in_place ? x : y;
  const std::vector<T> seen = result.download(bench.f);
  assert_true(result.keeps_markers(seen));
  expect_solution<T>(a, t, alpha, x.dense(), result.dense(seen), "km_sparse_sv");
}

template <class T>
void check_sm(const Bench& bench, StoredSparse<T>& a, const Triangle& t, uint64_t columns,
              bool is_in_place) {
  StoredMatrix<T> b(bench.layout, a.entries.rows, columns);
  StoredMatrix<T> c(bench.layout, a.entries.rows, columns);
  const T alpha = random_value<T>() + T(1);
  a.upload(bench.f);
  b.upload(bench.f);
  c.upload(bench.f);
  const km_sparse_matrix pa = a.argument();
  const km_blas_matrix pb = b.argument(), pc = is_in_place ? pb : c.argument();
  OK(km_sparse_sm(bench.blas, Traits<T>::kType, t.operation, t.triangle, t.diagonal, columns,
                  &alpha, &pa, &pb, &pc));
  const StoredMatrix<T>& result = is_in_place ? b : c;
  const std::vector<T> seen = result.download(bench.f);
  assert_true(result.keeps_markers(seen));
  expect_solution<T>(a, t, alpha, b.dense(), result.dense(seen), "km_sparse_sm");
}

/// cuSPARSE does not solve by the conjugate transpose of a complex matrix in CSC.
template <class T>
bool has_solver(const Bench& bench, const Kind& kind, const Triangle& t) {
  return !is_cuda(bench.f) || !kIsComplex<T> || kind.format != KM_SPARSE_FORMAT_CSC ||
         t.operation != KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE;
}

template <class T>
void check_one(const Bench& bench, const Kind& kind) {
  const uint64_t m = random_below(13), n = random_below(13), count = random_below(40);
  const km_blas_operation operation = kOperations[random_below(3)];
  const auto step = static_cast<int64_t>(1 + random_below(3));
  StoredSparse<T> a(kind, Entries(m, n, count, false));
  StoredSparse<T> b(kind, Entries(m, n, count, false));
  StoredSparse<T> c(kind, Entries(m, m, count, true), RealOf<T>(0.125));
  StoredSparse<T> d(kind, Entries(n, n, count, true), RealOf<T>(0.125));
  check_mv<T>(bench, a, operation, step, 4 - step);
  check_mm<T>(bench, b, operation, kOperations[random_below(3)], random_below(7));
  const Triangle t = Triangle::random();
  if (!has_solver<T>(bench, kind, t)) return;
  check_sv<T>(bench, c, t, step, random_bool());
  check_sm<T>(bench, d, t, random_below(7), random_bool());
}

/// The given number of rounds, each with a call of every kind for all formats, index sizes and
/// bases.
template <class T>
void check_small(const fixture* f, int rounds) {
  const Bench by_rows(f, KM_BLAS_LAYOUT_ROWS), by_columns(f, KM_BLAS_LAYOUT_COLUMNS);
  for (int round = 0; round < rounds; ++round) {
    for (const km_sparse_format format : kFormats) {
      for (const uint32_t size : {4U, 8U}) {
        for (const uint32_t base : {0U, 1U}) {
          check_one<T>(round % 2 == 0 ? by_rows : by_columns, {format, size, base});
        }
      }
    }
  }
}

/// 10,000 calls: 12 kinds of matrices, 4 types, 4 calls, 53 rounds.
void small_matrices_are_right(void** state) {
  const auto* f = static_cast<const fixture*>(*state);
  if (is_fake(f)) skip();
  constexpr int kRounds = 53;
  check_small<float>(f, kRounds);
  check_small<double>(f, kRounds);
  check_small<C32>(f, kRounds);
  check_small<C64>(f, kRounds);
}

template <class T>
void check_large(const fixture* f, const Kind& kind) {
  const Bench bench(f, KM_BLAS_LAYOUT_ROWS);
  for (const km_blas_operation operation : kOperations) {
    StoredSparse<T> a(kind, Entries(9001, 4000, 60000, false));
    check_mv<T>(bench, a, operation, 1, 1);
    StoredSparse<T> b(kind, Entries(700, 900, 5000, false));
    check_mm<T>(bench, b, operation, KM_BLAS_OPERATION_NONE, 70);
    StoredSparse<T> c(kind, Entries(300, 300, 3000, true), RealOf<T>(0.03125));
    const Triangle t{operation, KM_BLAS_TRIANGLE_UPPER, KM_BLAS_DIAGONAL_STORED};
    if (has_solver<T>(bench, kind, t)) check_sm<T>(bench, c, t, 50, false);
  }
}

void large_matrices_are_right(void** state) {
  const auto* f = static_cast<const fixture*>(*state);
  if (is_fake(f)) skip();
  check_large<float>(f, {KM_SPARSE_FORMAT_CSR, 4, 0});
  check_large<C64>(f, {KM_SPARSE_FORMAT_CSC, 8, 1});
  check_large<double>(f, {KM_SPARSE_FORMAT_COO, 4, 1});
}

}  // namespace
}  // namespace blas_test

int main() {
  using namespace blas_test;
  const CMUnitTest tests[] = {
      cmocka_unit_test(small_matrices_are_right),
      cmocka_unit_test(large_matrices_are_right),
  };
  setenv("KM_CPU_THREADS", "3", 0); /* calls are cut up on any machine */
  return RUN_ON_DEVICES("sparse", tests);
}
