#include "math/sparse/solver.h"

namespace km::sparse {
namespace {

/// The rows of a solve in their order: forward with a lower triangle.
class RowOrder {
 public:
  RowOrder(const TriangularSystem& s, int64_t rows)
      : rows_(rows), is_lower_(s.is_lower != s.is_transposed) {}
  int64_t row(int64_t step) const { return is_lower_ ? step : rows_ - 1 - step; }
  /// True for an entry that is solved before the row.
  bool has_before(int64_t row, int64_t col) const { return is_lower_ ? col < row : col > row; }

 private:
  int64_t rows_;
  bool is_lower_;
};

/// Solves for the columns from `first` to before `last` together, row by row.
template <class C>
Status solve_columns(const TriangularSystem& s, const RowLists& lists, int64_t first,
                     int64_t last) {
  const auto rows = static_cast<int64_t>(lists.rows.size()) - 1;
  const RowOrder order(s, rows);
  const C alpha = read_element<C>(s.alpha, 0);
  std::vector<C> sums(static_cast<size_t>(last - first));
  const auto at = [](const Operand& operand, int64_t row, int64_t col) {
    return row * operand.row_stride + col * operand.col_stride;
  };
  for (int64_t step = 0; step < rows; ++step) {
    const int64_t row = order.row(step);
    for (int64_t col = first; col < last; ++col) {
      const C b = read_element<C>(s.b.values, at(s.b, row, col));
      sums[static_cast<size_t>(col - first)] = alpha * conjugate_if(s.b.is_conjugate, b);
    }
    C diagonal(0);
    for (int64_t k = lists.rows[static_cast<size_t>(row)];
         k < lists.rows[static_cast<size_t>(row) + 1]; ++k) {
      const int64_t from = lists.cols[static_cast<size_t>(k)];
      if (from != row && !order.has_before(row, from)) continue;
      const C value = conjugate_if(
          s.is_conjugate, read_element<C>(s.a.values, lists.positions[static_cast<size_t>(k)]));
      if (from == row) diagonal += value;
      for (int64_t col = first; from != row && col < last; ++col) {
        sums[static_cast<size_t>(col - first)] -=
            value * read_element<C>(s.c.values, at(s.c, from, col));
      }
    }
    if (s.diagonal != nullptr) {
      diagonal = conjugate_if(s.is_conjugate, read_element<C>(s.diagonal, row));
    }
    for (int64_t col = first; col < last; ++col) {
      const C sum = sums[static_cast<size_t>(col - first)];
      write_element<C>(s.c.values, at(s.c, row, col), s.is_unit ? sum : sum / diagonal);
    }
  }
  return {};
}

}  // namespace

Status run_solve(const TriangularSystem& s, const RowLists& lists, int64_t first, int64_t last) {
  constexpr int64_t kColumns = 32;
  for (; first < last; first += kColumns) {
    const int64_t next = std::min(first + kColumns, last);
    Status done;
    const bool is_known = with_compute(s.a.type, false, [&](auto tag) {
      done = solve_columns<typename decltype(tag)::Type>(s, lists, first, next);
      return true;
    });
    if (!is_known) {
      return make_error(KM_ERROR_NOT_SUPPORTED, "no sparse solve has numbers of type %d",
                        static_cast<int>(s.a.type));
    }
    KM_TRY(std::move(done));
  }
  return {};
}

uint64_t time_ns_of(const TriangularSystem& s, int64_t cols) {
  return static_cast<uint64_t>(static_cast<double>(s.a.values_size() + s.a.rows) * 2 *
                               static_cast<double>(cols));
}

}  // namespace km::sparse
