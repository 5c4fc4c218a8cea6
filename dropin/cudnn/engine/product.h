// Sums of products in tiles, which convolutions and products of matrices have in common: a tile of
// the result is the product of a tile of rows and a tile of columns that are read piece by piece.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace km::cudnn {

constexpr int64_t kTileRows = 64, kTileColumns = 64, kTileDepth = 256;

/// Adds rows * columns to the sums: `rows` has `row_count` rows of kTileDepth values, `columns` has
/// `depth` rows of kTileColumns values.
template <class T>
inline void add_product(int64_t row_count, int64_t depth, const T* rows, const T* columns,
                        T* sums) {
  constexpr int64_t kGroup = 4;
  int64_t m = 0;
  for (; m + kGroup <= row_count; m += kGroup) {
    const T* const a = rows + m * kTileDepth;
    T* const to = sums + m * kTileColumns;
    for (int64_t half = 0; half < kTileColumns; half += 8) {
      T total[kGroup][8] = {};
      for (int64_t l = 0; l < depth; ++l) {
        const T* const b = columns + l * kTileColumns + half;
        for (int64_t i = 0; i < kGroup; ++i) {
          const T factor = a[i * kTileDepth + l];
          for (int64_t j = 0; j < 8; ++j) total[i][j] += factor * b[j];
        }
      }
      for (int64_t i = 0; i < kGroup; ++i) {
        for (int64_t j = 0; j < 8; ++j) to[i * kTileColumns + half + j] = total[i][j];
      }
    }
  }
  for (; m < row_count; ++m) {
    T* const to = sums + m * kTileColumns;
    std::fill(to, to + kTileColumns, T{0});
    for (int64_t l = 0; l < depth; ++l) {
      const T factor = rows[m * kTileDepth + l];
      for (int64_t j = 0; j < kTileColumns; ++j) to[j] += factor * columns[l * kTileColumns + j];
    }
  }
}

/// The memory of one tile's product, for a thread.
template <class T>
struct TileBuffers {
  std::vector<T> rows = std::vector<T>(kTileRows * kTileDepth);
  std::vector<T> columns = std::vector<T>(kTileDepth * kTileColumns);
  std::vector<T> sums = std::vector<T>(kTileRows * kTileColumns);
  std::vector<double> totals = std::vector<double>(kTileRows * kTileColumns);
};

/// Computes a tile of totals over `depth` products. `get_rows(l, count, out)` writes the values of
/// the tile's rows from product l on, kTileDepth apart; `get_columns` those of its columns,
/// kTileColumns values for each product. Sums of kTileDepth products are added up in f64.
template <class T, class GetRows, class GetColumns>
void make_tile(TileBuffers<T>& buffers, int64_t row_count, int64_t depth, GetRows&& get_rows,
               GetColumns&& get_columns) {
  const auto used = static_cast<size_t>(row_count * kTileColumns);
  std::fill_n(buffers.totals.begin(), used, 0.0);
  for (int64_t l = 0; l < depth; l += kTileDepth) {
    const int64_t count = std::min(kTileDepth, depth - l);
    get_rows(l, count, buffers.rows.data());
    get_columns(l, count, buffers.columns.data());
    add_product(row_count, count, buffers.rows.data(), buffers.columns.data(), buffers.sums.data());
    for (size_t i = 0; i < used; ++i) buffers.totals[i] += static_cast<double>(buffers.sums[i]);
  }
}

}  // namespace km::cudnn
