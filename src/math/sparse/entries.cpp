#include "math/sparse/entries.h"

#include <numeric>
#include <utility>

namespace km::sparse {

int64_t first_line(const Matrix& m, uint64_t piece, uint64_t pieces) {
  const int64_t lines = m.lines();
  if (piece == 0 || piece >= pieces) return piece == 0 ? 0 : lines;
  const bool has_offsets = m.format != Format::kCoo && m.format != Format::kBlockedEll;
  if (!has_offsets) return first_of_piece(lines, piece, pieces);
  const Indices offsets = m.offsets_list();
  const int64_t entries = std::clamp<int64_t>(offsets[lines], 0, m.indices_size());
  const int64_t wanted = first_of_piece(lines + entries, piece, pieces);
  int64_t low = 0, high = lines;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const int64_t before = middle + std::clamp<int64_t>(offsets[middle], 0, entries);
    if (before < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

Status make_row_lists(const Matrix& m, bool is_transposed, RowLists* out) {
  const auto rows = static_cast<size_t>(is_transposed ? m.cols : m.rows);
  out->rows.assign(rows + 1, 0);
  KM_TRY(for_all_entries(m, [&](int64_t row, int64_t col, int64_t) {
    ++out->rows[static_cast<size_t>(is_transposed ? col : row) + 1];
  }));
  std::partial_sum(out->rows.begin(), out->rows.end(), out->rows.begin());
  out->cols.resize(static_cast<size_t>(out->rows[rows]));
  out->positions.resize(out->cols.size());
  std::vector<int64_t> next(out->rows.begin(), out->rows.end() - 1);
  return for_all_entries(m, [&](int64_t row, int64_t col, int64_t position) {
    if (is_transposed) std::swap(row, col);
    // Another thread of the program may change the structure meanwhile.
    int64_t& at = next[static_cast<size_t>(row)];
    if (at >= out->rows[static_cast<size_t>(row) + 1]) return;
    out->cols[static_cast<size_t>(at)] = col;
    out->positions[static_cast<size_t>(at)] = position;
    ++at;
  });
}

void sort_rows(RowLists& lists) {
  std::vector<std::pair<int64_t, int64_t>> row;
  for (size_t r = 0; r + 1 < lists.rows.size(); ++r) {
    const auto first = lists.rows[r], last = lists.rows[r + 1];
    if (std::is_sorted(lists.cols.begin() + first, lists.cols.begin() + last)) continue;
    row.clear();
    for (int64_t k = first; k < last; ++k) {
      row.emplace_back(lists.cols[static_cast<size_t>(k)], lists.positions[static_cast<size_t>(k)]);
    }
    std::stable_sort(row.begin(), row.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (int64_t k = first; k < last; ++k) {
      const auto& [col, position] = row[static_cast<size_t>(k - first)];
      lists.cols[static_cast<size_t>(k)] = col;
      lists.positions[static_cast<size_t>(k)] = position;
    }
  }
}

}  // namespace km::sparse
