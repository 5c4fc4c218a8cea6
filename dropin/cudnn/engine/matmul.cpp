#include "dropin/cudnn/engine/matmul.h"

#include "dropin/cudnn/engine/product.h"
#include "dropin/cudnn/engine/space.h"

namespace km::cudnn {
namespace {

struct Matmul {
  View a, b, c;
  View limits[3];  // m, n, k; without data: none
  double padding;
  int64_t m, n, k, batches;
  int64_t row_tiles, column_tiles;

  /// The offset of batch `index` in a tensor whose batches are shared by groups of C's.
  int64_t batch_offset(const View& view, int64_t index) const {
    int64_t at = 0;
    for (int d = c.rank - 3; d >= 0; --d) {
      const int64_t position = index % c.dims[d];
      index /= c.dims[d];
      at += position / std::max<int64_t>(c.dims[d] / view.dims[d], 1) * view.strides[d];
    }
    return at;
  }
  int64_t limit(int which, int64_t batch, int64_t whole) const {
    const View& view = limits[which];
    if (view.data == nullptr) return whole;
    const auto found = static_cast<int64_t>(read_one(view, batch_offset(view, batch)));
    return std::clamp<int64_t>(found, 0, whole);
  }

  template <class T>
  void tile(TileBuffers<T>& buffers, int64_t index) const {
    const int64_t batch = index / (row_tiles * column_tiles);
    const int64_t m0 = index / column_tiles % row_tiles * kTileRows;
    const int64_t n0 = index % column_tiles * kTileColumns;
    const int64_t rows = std::min(kTileRows, m - m0), columns = std::min(kTileColumns, n - n0);
    const int64_t a0 = batch_offset(a, batch), b0 = batch_offset(b, batch);
    const int rank = c.rank;
    const int64_t am = a.strides[rank - 2], ak = a.strides[rank - 1];
    const int64_t bk = b.strides[rank - 2], bn = b.strides[rank - 1];
    make_tile(
        buffers, rows, limit(2, batch, k),
        [&](int64_t l, int64_t count, T* out) {
          for (int64_t i = 0; i < rows; ++i) {
            read_row(a, a0 + (m0 + i) * am + l * ak, ak, count, out + i * kTileDepth);
          }
        },
        [&](int64_t l, int64_t count, T* out) {
          for (int64_t i = 0; i < count; ++i) {
            T* const row = out + i * kTileColumns;
            read_row(b, b0 + (l + i) * bk + n0 * bn, bn, columns, row);
            std::fill(row + columns, row + kTileColumns, T{0});
          }
        });
    store(buffers.totals.data(), batch, m0, n0, rows, columns);
  }
  void store(double* totals, int64_t batch, int64_t m0, int64_t n0, int64_t rows,
             int64_t columns) const {
    const int64_t last_m = limit(0, batch, m), last_n = limit(1, batch, n);
    const int64_t c0 = batch_offset(c, batch);
    for (int64_t i = 0; i < rows; ++i) {
      double* const row = totals + i * kTileColumns;
      for (int64_t j = 0; j < columns; ++j) {
        if (m0 + i >= last_m || n0 + j >= last_n) row[j] = padding;
      }
      write_row(c, c0 + (m0 + i) * c.strides[c.rank - 2] + n0 * c.strides[c.rank - 1],
                c.strides[c.rank - 1], columns, row);
    }
  }
  template <class T>
  void run(const Part& part) const {
    TileBuffers<T> buffers;
    for (int64_t i = part.begin; i < part.end; ++i) tile(buffers, i);
  }
};

cudnnStatus_t check_batches(const View& view, const View& c) {
  for (int d = 0; d < c.rank - 2; ++d) {
    if (view.dims[d] == 0 || c.dims[d] % view.dims[d] != 0) {
      return invalid("a batch of %lld matrices for %lld", static_cast<long long>(view.dims[d]),
                     static_cast<long long>(c.dims[d]));
    }
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

cudnnStatus_t matmul(cu::CUstream stream, const View& a_given, const View& b_given,
                     const View& c_given, const MatmulLimits& limits) {
  const int rank = std::max({a_given.rank, b_given.rank, c_given.rank, 2});
  const auto widened = [&](View view) {
    static_cast<Shape&>(view) = with_rank(view, rank);
    return view;
  };
  Matmul work{
      widened(a_given), widened(b_given), widened(c_given), {}, limits.padding, 0, 0, 0, 1, 0, 0};
  const View &a = work.a, &b = work.b, &c = work.c;
  work.m = c.dims[rank - 2];
  work.n = c.dims[rank - 1];
  work.k = a.dims[rank - 1];
  if (a.dims[rank - 2] != work.m || b.dims[rank - 1] != work.n || b.dims[rank - 2] != work.k) {
    return invalid("the matrices have the sizes %lld x %lld, %lld x %lld and %lld x %lld",
                   static_cast<long long>(a.dims[rank - 2]), static_cast<long long>(work.k),
                   static_cast<long long>(b.dims[rank - 2]),
                   static_cast<long long>(b.dims[rank - 1]), static_cast<long long>(work.m),
                   static_cast<long long>(work.n));
  }
  LIB_TRY(check_batches(a, c));
  LIB_TRY(check_batches(b, c));
  Arrays arrays;
  arrays.reads("A", a).reads("B", b).writes("C", c);
  const View* const given[] = {limits.m, limits.n, limits.k};
  for (int i = 0; i < 3; ++i) {
    if (given[i] == nullptr) continue;
    work.limits[i] = widened(*given[i]);
    arrays.reads("the matrices' sizes", work.limits[i]);
  }
  for (int d = 0; d < rank - 2; ++d) work.batches *= c.dims[d];
  work.row_tiles = (work.m + kTileRows - 1) / kTileRows;
  work.column_tiles = (work.n + kTileColumns - 1) / kTileColumns;
  const bool is_wide = needs_double(a.type) || needs_double(b.type) || needs_double(c.type);
  const int64_t tiles = work.batches * work.row_tiles * work.column_tiles;
  const double tile_ns =
      static_cast<double>(kTileRows * kTileColumns) * static_cast<double>(work.k) / 8;
  return submit_step(stream, "cudnn matmul", arrays, tiles, tile_ns,
                     [work = std::move(work), tiles, is_wide](uint64_t piece, uint64_t pieces) {
                       const Part part(tiles, piece, pieces);
                       is_wide ? work.run<double>(part) : work.run<float>(part);
                     });
}

}  // namespace km::cudnn
