#include "dropin/cusparse/legacy/structure.h"

#include <numeric>
#include <tuple>

namespace km::cusparse {
namespace {

constexpr cusparseIndexType_t kInt = CUSPARSE_INDEX_32I;

cu::CUresult done() { return cu::CUDA_SUCCESS; }

/// A sorted entry of COO or of one line.
struct Entry {
  int32_t first, second;
  int64_t from;
};

void sort_entries(std::vector<Entry>& entries) {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.first, a.second) < std::tie(b.first, b.second);
  });
}

/// Writes sorted entries back, with the permutation that goes along.
void write_entries(const std::vector<Entry>& entries, int64_t begin, int* first, int* second,
                   int* permutation) {
  std::vector<int32_t> old(permutation == nullptr ? 0 : entries.size());
  for (size_t i = 0; i < old.size(); ++i) {
    old[i] = read_element<int32_t>(permutation, entries[i].from);
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    const int64_t at = begin + static_cast<int64_t>(i);
    if (first != nullptr) write_element<int32_t>(first, at, entries[i].first);
    write_element<int32_t>(second, at, entries[i].second);
    if (permutation != nullptr) write_element<int32_t>(permutation, at, old[i]);
  }
}

SpMat csr_of_call(const TransposeCall& call) {
  MatDescr settings;
  settings.base = call.base;
  return csr_of(call.rows, call.cols, call.nnz, settings, call.type, call.csr);
}

/// Writes the transposed form of entries of `bytes` each.
cu::CUresult write_transposed(const TransposeCall& call, const RowLists& lists,
                              const std::vector<int64_t>& rows, size_t bytes) {
  const IndexWriter offsets(call.offsets, kInt, call.base), indices(call.indices, kInt, call.base);
  for (size_t i = 0; i < lists.rows.size(); ++i) {
    offsets.set(static_cast<int64_t>(i), lists.rows[i]);
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    indices.set(static_cast<int64_t>(i), rows[i]);
    if (call.action != CUSPARSE_ACTION_NUMERIC) continue;
    std::memcpy(
        static_cast<char*>(call.values) + i * bytes,
        static_cast<const char*>(call.csr.values) + static_cast<size_t>(lists.positions[i]) * bytes,
        bytes);
  }
  return done();
}

cusparseStatus_t submit_transpose(const Handle& handle, const char* name, const TransposeCall& call,
                                  uint64_t bytes) {
  Arrays arrays;
  const SpMat a = csr_of_call(call);
  add_structure(arrays, a, false);
  arrays.written("the transposed matrix's offsets", call.offsets, int64_t{call.cols} + 1,
                 sizeof(int));
  arrays.written("the transposed matrix's indices", call.indices, call.nnz, sizeof(int));
  if (call.action == CUSPARSE_ACTION_NUMERIC) {
    arrays.read("the matrix's values", call.csr.values, call.nnz, bytes);
    arrays.written("the transposed matrix's values", call.values, call.nnz, bytes);
  }
  return submit(handle, arrays, name, 1, time_of(int64_t{call.nnz} + call.rows),
                [a, call, bytes](uint64_t) {
                  RowLists lists;
                  KM_TRY_RUN(make_row_lists(a, true, &lists));
                  return write_transposed(call, lists, lists.cols, bytes);
                });
}

}  // namespace

cusparseStatus_t indices_to_offsets(const Handle& handle, const int* indices, int nnz, int lines,
                                    int* offsets, cusparseIndexBase_t base) {
  LIB_TRY(check_sizes({nnz, lines}));
  Arrays arrays;
  arrays.read("cooRowInd", indices, nnz, sizeof(int));
  arrays.written("csrSortedRowPtr", offsets, int64_t{lines} + 1, sizeof(int));
  const auto run = [indices, nnz, lines, offsets, base](uint64_t) {
    const Indices from(indices, kInt, base);
    const IndexWriter to(offsets, kInt, base);
    std::vector<int64_t> counts(static_cast<size_t>(lines) + 1, 0);
    for (int64_t k = 0; k < nnz; ++k) {
      const int64_t line = from[k];
      if (!is_within(line, lines)) return bad_index("row index", line, lines);
      ++counts[static_cast<size_t>(line) + 1];
    }
    std::partial_sum(counts.begin(), counts.end(), counts.begin());
    for (size_t i = 0; i < counts.size(); ++i) to.set(static_cast<int64_t>(i), counts[i]);
    return done();
  };
  return submit(handle, arrays, "cusparseXcoo2csr", 1, time_of(nnz, 2), run);
}

cusparseStatus_t offsets_to_indices(const Handle& handle, const int* offsets, int nnz, int lines,
                                    int* indices, cusparseIndexBase_t base) {
  LIB_TRY(check_sizes({nnz, lines}));
  Arrays arrays;
  arrays.read("csrSortedRowPtr", offsets, int64_t{lines} + 1, sizeof(int));
  arrays.written("cooRowInd", indices, nnz, sizeof(int));
  const auto run = [offsets, nnz, lines, indices, base](uint64_t) {
    const Indices from(offsets, kInt, base);
    const IndexWriter to(indices, kInt, base);
    for (int64_t line = 0; line < lines; ++line) {
      LineRange range;
      KM_TRY_RUN(read_range(from, line, nnz, &range));
      for (int64_t k = range.first; k < range.last; ++k) to.set(k, line);
    }
    return done();
  };
  return submit(handle, arrays, "cusparseXcsr2coo", 1, time_of(nnz, 1), run);
}

cusparseStatus_t fill_identity(const Handle& handle, int size, int* permutation) {
  LIB_TRY(check_sizes({size}));
  Arrays arrays;
  arrays.written("p", permutation, size, sizeof(int));
  return submit(handle, arrays, "cusparseCreateIdentityPermutation", 1, time_of(size, 1),
                [size, permutation](uint64_t) {
                  for (int32_t i = 0; i < size; ++i) write_element<int32_t>(permutation, i, i);
                  return done();
                });
}

cusparseStatus_t sort_coo(const Handle& handle, const char* name, int nnz, int* first, int* second,
                          int* permutation) {
  LIB_TRY(check_sizes({nnz}));
  Arrays arrays;
  arrays.written("the row indices", first, nnz, sizeof(int));
  arrays.written("the column indices", second, nnz, sizeof(int));
  arrays.written("P", permutation, permutation == nullptr ? 0 : nnz, sizeof(int));
  return submit(handle, arrays, name, 1, time_of(nnz, 50), [=](uint64_t) {
    std::vector<Entry> entries;
    for (int64_t k = 0; k < nnz; ++k) {
      entries.push_back({read_element<int32_t>(first, k), read_element<int32_t>(second, k), k});
    }
    sort_entries(entries);
    write_entries(entries, 0, first, second, permutation);
    return done();
  });
}

cusparseStatus_t sort_lines(const Handle& handle, const char* name, int lines, int nnz,
                            cusparseMatDescr_t id, const int* offsets, int* indices,
                            int* permutation) {
  MatDescr settings;
  LIB_TRY(check_sizes({lines, nnz}));
  LIB_TRY(read_settings("descrA", id, &settings));
  Arrays arrays;
  arrays.read("the matrix's offsets", offsets, int64_t{lines} + 1, sizeof(int));
  arrays.written("the matrix's indices", indices, nnz, sizeof(int));
  arrays.written("P", permutation, permutation == nullptr ? 0 : nnz, sizeof(int));
  return submit(handle, arrays, name, 1, time_of(nnz, 30), [=, base = settings.base](uint64_t) {
    const Indices from(offsets, kInt, base);
    std::vector<Entry> entries;
    for (int64_t line = 0; line < lines; ++line) {
      LineRange range;
      KM_TRY_RUN(read_range(from, line, nnz, &range));
      entries.clear();
      for (int64_t k = range.first; k < range.last; ++k) {
        entries.push_back({0, read_element<int32_t>(indices, k), k});
      }
      sort_entries(entries);
      write_entries(entries, range.first, nullptr, indices, permutation);
    }
    return done();
  });
}

cusparseStatus_t check_transpose(const TransposeCall& call) {
  LIB_TRY(check_sizes({call.rows, call.cols, call.nnz}));
  if (call.action != CUSPARSE_ACTION_NUMERIC && call.action != CUSPARSE_ACTION_SYMBOLIC) {
    return invalid("copyValues is %d", static_cast<int>(call.action));
  }
  if (call.base != CUSPARSE_INDEX_BASE_ZERO && call.base != CUSPARSE_INDEX_BASE_ONE) {
    return invalid("idxBase is %d", static_cast<int>(call.base));
  }
  if (bytes_of(call.type) != 0) return CUSPARSE_STATUS_SUCCESS;
  return invalid("valType is %d", static_cast<int>(call.type));
}

cusparseStatus_t transpose(const Handle& handle, const TransposeCall& call) {
  LIB_TRY(check_transpose(call));
  return submit_transpose(handle, "cusparseCsr2cscEx2", call, bytes_of(call.type));
}

cusparseStatus_t transpose_blocks(const Handle& handle, const char* name, const TransposeCall& call,
                                  int row_block, int col_block) {
  LIB_TRY(check_transpose(call));
  if (row_block < 1 || col_block < 1) return invalid("blocks of %d x %d", row_block, col_block);
  const uint64_t bytes =
      bytes_of(call.type) * static_cast<uint64_t>(row_block) * static_cast<uint64_t>(col_block);
  return submit_transpose(handle, name, call, bytes);
}

namespace {

void add_csr(Arrays& arrays, const SpMat& a) {
  arrays.read("csrRowPtr", a.offsets, a.rows + 1, sizeof(int));
  arrays.written("csrColInd", a.indices, a.nnz, sizeof(int));
  arrays.written("csrVal", a.values, a.nnz, bytes_of(a.type));
}

/// Moves entry from[i] to place to[i] for all i.
void move_entries(const SpMat& a, const std::vector<int64_t>& order, bool is_back) {
  const size_t bytes = bytes_of(a.type);
  std::vector<int32_t> indices(order.size());
  std::vector<char> values(order.size() * bytes);
  auto* const own_values = static_cast<char*>(a.values);
  for (size_t i = 0; i < order.size(); ++i) {
    const auto other = static_cast<size_t>(order[i]);
    const size_t from = is_back ? i : other, to = is_back ? other : i;
    indices[to] = read_element<int32_t>(a.indices, static_cast<int64_t>(from));
    std::memcpy(values.data() + to * bytes, own_values + from * bytes, bytes);
  }
  std::memcpy(a.indices, indices.data(), indices.size() * sizeof(int32_t));
  std::memcpy(own_values, values.data(), values.size());
}

}  // namespace

cusparseStatus_t sort_csr(const Handle& handle, const SpMat& a, csru2csrInfo_t info) {
  const auto order = std::make_shared<EntryOrder>();
  LIB_TRY(change_descriptor<OrderInfo>("info", info, [&](OrderInfo& changed) {
    changed.order = order;
    return CUSPARSE_STATUS_SUCCESS;
  }));
  Arrays arrays;
  add_csr(arrays, a);
  return submit(handle, arrays, "cusparseCsru2csr", 1, time_of(a.nnz, 30), [a, order](uint64_t) {
    RowLists lists;
    KM_TRY_RUN(make_row_lists(a, false, &lists));
    sort_rows(lists);
    if (lists.positions.size() != static_cast<size_t>(a.nnz)) {
      return bad_index("number of elements", static_cast<int64_t>(lists.positions.size()), a.nnz);
    }
    move_entries(a, lists.positions, false);
    order->sorted.set(std::make_shared<const std::vector<int64_t>>(std::move(lists.positions)));
    return done();
  });
}

cusparseStatus_t unsort_csr(const Handle& handle, const SpMat& a, csru2csrInfo_t info) {
  OrderInfo found;
  LIB_TRY(read_descriptor("info", info, &found));
  if (found.order == nullptr) return invalid("csru2csr has not sorted the matrix");
  Arrays arrays;
  add_csr(arrays, a);
  return submit(handle, arrays, "cusparseCsr2csru", 1, time_of(a.nnz, 4),
                [a, order = found.order](uint64_t) {
                  const auto sorted = order->sorted.get();
                  if (sorted == nullptr || sorted->size() != static_cast<size_t>(a.nnz)) {
                    return bad_index("number of elements", a.nnz, 0);
                  }
                  move_entries(a, *sorted, true);
                  return done();
                });
}

}  // namespace km::cusparse
