#include "dropin/cusparse/legacy/colors.h"

#include <numeric>

namespace km::cusparse {
namespace {

/// The colours of all rows. An entry is an edge in both directions.
cu::CUresult find_colors(const SpMat& a, std::vector<int32_t>* colors) {
  RowLists out, in;
  KM_TRY_RUN(make_row_lists(a, false, &out));
  KM_TRY_RUN(make_row_lists(a, true, &in));
  const auto rows = static_cast<size_t>(a.rows);
  colors->assign(rows, -1);
  std::vector<size_t> taken_by(rows + 1, SIZE_MAX);  // the last row whose neighbour has a colour
  for (size_t row = 0; row < rows; ++row) {
    for (const RowLists* const lists : {&out, &in}) {
      for (int64_t k = lists->rows[row]; k < lists->rows[row + 1]; ++k) {
        const auto other = static_cast<size_t>(lists->cols[static_cast<size_t>(k)]);
        const int32_t color = (*colors)[other];
        if (other != row && color >= 0) taken_by[static_cast<size_t>(color)] = row;
      }
    }
    int32_t color = 0;
    while (taken_by[static_cast<size_t>(color)] == row) ++color;
    (*colors)[row] = color;
  }
  return cu::CUDA_SUCCESS;
}

cu::CUresult run_colors(const ColorCall& call, int64_t* count) {
  std::vector<int32_t> colors;
  KM_TRY_RUN(find_colors(call.a, &colors));
  const auto largest = std::max_element(colors.begin(), colors.end());
  *count = colors.empty() ? 0 : *largest + 1;
  std::memcpy(call.colors, colors.data(), colors.size() * sizeof(int32_t));
  if (call.reordering == nullptr) return cu::CUDA_SUCCESS;
  std::vector<int32_t> order(colors.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return colors[static_cast<size_t>(a)] < colors[static_cast<size_t>(b)];
  });
  std::memcpy(call.reordering, order.data(), order.size() * sizeof(int32_t));
  return cu::CUDA_SUCCESS;
}

}  // namespace

cusparseStatus_t color_rows(const Handle& handle, const ColorCall& call) {
  Arrays arrays;
  add_structure(arrays, call.a, false);
  arrays.written("coloring", call.colors, call.a.rows, sizeof(int));
  arrays.written("reordering", call.reordering, call.reordering == nullptr ? 0 : call.a.rows,
                 sizeof(int));
  const auto count = std::make_shared<int64_t>(0);
  LIB_TRY(submit_and_wait(handle, arrays, "cusparseCsrcolor", time_of(call.a.nnz, 20),
                          [call, count](uint64_t) { return run_colors(call, count.get()); }));
  return give("ncolors", call.color_count, static_cast<int>(*count));
}

}  // namespace km::cusparse
