#include "dropin/cusparse/legacy/blocks.h"

namespace km::cusparse {
namespace {

struct Target {
  BlockTarget arrays;
  MatDescr settings;
  int64_t lines = 0;     // block rows
  int64_t capacity = 0;  // in blocks

  IndexWriter offsets() const { return {arrays.offsets, CUSPARSE_INDEX_32I, settings.base}; }
  IndexWriter indices() const { return {arrays.indices, CUSPARSE_INDEX_32I, settings.base}; }
};

cusparseStatus_t read_target(const SpMat& a, const BlockTarget& arrays, Target* out) {
  LIB_TRY(check_direction(arrays.direction));
  LIB_TRY(read_settings("descrC", arrays.settings, &out->settings));
  if (arrays.row_block < 1 || arrays.col_block < 1) {
    return invalid("blocks of %d x %d", arrays.row_block, arrays.col_block);
  }
  out->arrays = arrays;
  out->lines = (a.rows + arrays.row_block - 1) / arrays.row_block;
  return CUSPARSE_STATUS_SUCCESS;
}

/// The sorted columns of the blocks that rows from `first` to before `last` have.
void find_columns(const RowLists& lists, int64_t first, int64_t last, int64_t col_block,
                  std::vector<int64_t>* out) {
  out->clear();
  for (int64_t k = lists.rows[static_cast<size_t>(first)];
       k < lists.rows[static_cast<size_t>(last)]; ++k) {
    out->push_back(lists.cols[static_cast<size_t>(k)] / col_block);
  }
  std::sort(out->begin(), out->end());
  out->erase(std::unique(out->begin(), out->end()), out->end());
}

/// Writes the values of a block row whose blocks begin at number `before`.
void write_values(const SpMat& a, const Target& t, const RowLists& lists, int64_t line,
                  const std::vector<int64_t>& cols, int64_t before) {
  const int64_t bytes = bytes_of(a.type), row_block = t.arrays.row_block;
  const int64_t col_block = t.arrays.col_block, size = row_block * col_block;
  const bool is_row = t.arrays.direction == CUSPARSE_DIRECTION_ROW;
  auto* const out = static_cast<char*>(t.arrays.values) + before * size * bytes;
  std::memset(out, 0, cols.size() * static_cast<size_t>(size * bytes));
  for (int64_t row = line * row_block; row < std::min((line + 1) * row_block, a.rows); ++row) {
    for (int64_t k = lists.rows[static_cast<size_t>(row)];
         k < lists.rows[static_cast<size_t>(row) + 1]; ++k) {
      const int64_t col = lists.cols[static_cast<size_t>(k)];
      const auto found = std::lower_bound(cols.begin(), cols.end(), col / col_block);
      const int64_t row_in = row % row_block, col_in = col % col_block;
      const int64_t at = (found - cols.begin()) * size +
                         (is_row ? row_in * col_block + col_in : col_in * row_block + row_in);
      std::memcpy(
          out + at * bytes,
          static_cast<const char*>(a.values) + lists.positions[static_cast<size_t>(k)] * bytes,
          static_cast<size_t>(bytes));
    }
  }
}

/// Makes the blocks; without values and indices if `writes` is false.
cu::CUresult run_blocks(const SpMat& a, const Target& t, bool writes, int64_t* total) {
  RowLists lists;
  KM_TRY_RUN(make_row_lists(a, false, &lists));
  std::vector<int64_t> cols;
  int64_t count = 0;
  t.offsets().set(0, 0);
  for (int64_t line = 0; line < t.lines; ++line) {
    const int64_t first = line * t.arrays.row_block;
    find_columns(lists, first, std::min(first + t.arrays.row_block, a.rows), t.arrays.col_block,
                 &cols);
    const int64_t next = count + static_cast<int64_t>(cols.size());
    if (writes) {
      if (next > t.capacity) return bad_index("number of blocks", next, t.capacity + 1);
      for (int64_t i = count; i < next; ++i) {
        t.indices().set(i, cols[static_cast<size_t>(i - count)]);
      }
      write_values(a, t, lists, line, cols, count);
    }
    count = next;
    t.offsets().set(line + 1, count);
  }
  *total = count;
  return cu::CUDA_SUCCESS;
}

cu::CUresult run_csr(const SpMat& a, const Target& t) {
  RowLists lists;
  KM_TRY_RUN(make_row_lists(a, false, &lists));
  const auto count = static_cast<int64_t>(lists.cols.size());
  if (count > t.capacity) return bad_index("number of elements", count, t.capacity + 1);
  const int64_t bytes = bytes_of(a.type);
  for (size_t row = 0; row < lists.rows.size(); ++row) {
    t.offsets().set(static_cast<int64_t>(row), lists.rows[row]);
  }
  for (int64_t k = 0; k < count; ++k) {
    t.indices().set(k, lists.cols[static_cast<size_t>(k)]);
    std::memcpy(
        static_cast<char*>(t.arrays.values) + k * bytes,
        static_cast<const char*>(a.values) + lists.positions[static_cast<size_t>(k)] * bytes,
        static_cast<size_t>(bytes));
  }
  return cu::CUDA_SUCCESS;
}

/// Lists the arrays that the call writes, as long as their allocations.
cusparseStatus_t add_target(const Handle& handle, const SpMat& a, Target& t, Arrays& arrays) {
  const int64_t block = int64_t{t.arrays.row_block} * t.arrays.col_block;
  const uint64_t bytes = bytes_of(a.type) * static_cast<uint64_t>(block);
  const IntArrays written = {t.arrays.values, t.arrays.offsets, t.arrays.indices};
  LIB_TRY(find_capacity(handle, written, bytes, &t.capacity));
  arrays.written("the result's offsets", t.arrays.offsets, t.lines + 1, sizeof(int));
  arrays.written("the result's indices", t.arrays.indices, t.capacity, sizeof(int));
  arrays.written("the result's values", t.arrays.values, t.capacity, bytes);
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace

cusparseStatus_t set_capacity(const Handle& handle, SpMat& a) {
  const int64_t block = a.row_block * a.col_block;
  const IntArrays arrays = {a.values, nullptr, static_cast<const int*>(a.indices)};
  const uint64_t bytes = bytes_of(a.type) * static_cast<uint64_t>(block);
  int64_t count = 0;
  if (a.values == nullptr) {
    LIB_TRY(find_capacity(handle, "the matrix's indices", a.indices, sizeof(int), &count));
  } else {
    LIB_TRY(find_capacity(handle, arrays, bytes, &count));
  }
  a.nnz = count * block;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t count_blocks(const Handle& handle, const char* name, const SpMat& a,
                              const BlockTarget& target, int* total) {
  Target t;
  LIB_TRY(read_target(a, target, &t));
  Arrays arrays;
  add_structure(arrays, a, false);
  arrays.written("the result's offsets", t.arrays.offsets, t.lines + 1, sizeof(int));
  return submit_count(handle, arrays, name, time_of(a.nnz, 10), total,
                      [a, t](int64_t* count) { return run_blocks(a, t, false, count); });
}

cusparseStatus_t make_blocks(const Handle& handle, const char* name, const SpMat& a,
                             const BlockTarget& target) {
  Target t;
  LIB_TRY(read_target(a, target, &t));
  Arrays arrays;
  add_matrix(arrays, a, false);
  LIB_TRY(add_target(handle, a, t, arrays));
  return submit(handle, arrays, name, 1, time_of(a.nnz, 20), [a, t](uint64_t) {
    int64_t ignored = 0;
    return run_blocks(a, t, true, &ignored);
  });
}

cusparseStatus_t make_csr(const Handle& handle, const char* name, const SpMat& a,
                          const BlockTarget& target) {
  Target t;
  LIB_TRY(read_target(a, target, &t));
  Arrays arrays;
  add_matrix(arrays, a, false);
  LIB_TRY(add_target(handle, a, t, arrays));
  return submit(handle, arrays, name, 1, time_of(a.nnz, 8),
                [a, t](uint64_t) { return run_csr(a, t); });
}

}  // namespace km::cusparse
