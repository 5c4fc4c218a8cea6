#include "dropin/cusparse/generic/format_conversion.h"

#include <algorithm>
#include <vector>

#include "dropin/cusparse/generic/product.h"
#include "dropin/cusparse/matrix/entries.h"

namespace km::cusparse {
namespace {

/// A conversion of op(from).
struct Conversion {
  SpMat from, to;
  bool is_transposed = false, is_conjugated = false, has_values = true;

  uint64_t estimated_ns() const { return static_cast<uint64_t>(from.nnz) * 20; }
};

/// An entry of the source at its place in the result: lines are those of the result's offsets.
struct Entry {
  int64_t line, index;
  int64_t position;  // of the value, in the source
  int64_t inner;     // of the value, in its block
};

bool is_block_format(const SpMat& m) { return m.format == CUSPARSE_FORMAT_BSR; }

cusparseStatus_t read_conversion(const FormatConversionCall& call, Conversion* c) {
  LIB_TRY(check_operation("opA", call.operation));
  LIB_TRY(read_descriptor("sourceDescr", call.from, &c->from));
  LIB_TRY(read_output("targetDescr", call.to, &c->to));
  if (call.action != CUSPARSE_ACTION_SYMBOLIC && call.action != CUSPARSE_ACTION_NUMERIC) {
    return invalid("copyValues is %d", static_cast<int>(call.action));
  }
  c->is_transposed = !is_plain(call.operation);
  c->is_conjugated = call.operation == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
  c->has_values = call.action == CUSPARSE_ACTION_NUMERIC;
  const int64_t rows = c->is_transposed ? c->from.cols : c->from.rows;
  const int64_t cols = c->is_transposed ? c->from.rows : c->from.cols;
  if (rows != c->to.rows || cols != c->to.cols) {
    return invalid("matrices of %lld x %lld and %lld x %lld", static_cast<long long>(rows),
                   static_cast<long long>(cols), static_cast<long long>(c->to.rows),
                   static_cast<long long>(c->to.cols));
  }
  if (c->from.batch_count != 1 || c->to.batch_count != 1) {
    return unsupported("conversions of batches");
  }
  if (c->to.format == CUSPARSE_FORMAT_BLOCKED_ELL ||
      c->to.format == CUSPARSE_FORMAT_SLICED_ELLPACK) {
    return unsupported("matrices become CSR, CSC, COO or BSR, not format %d",
                       static_cast<int>(c->to.format));
  }
  if (!c->has_values || c->from.type == c->to.type) return CUSPARSE_STATUS_SUCCESS;
  return unsupported("matrices of types %d and %d", static_cast<int>(c->from.type),
                     static_cast<int>(c->to.type));
}

/// The place of an element in the result.
Entry place_in(const SpMat& to, int64_t row, int64_t col, int64_t position) {
  if (to.format == CUSPARSE_FORMAT_CSC) return {col, row, position, 0};
  if (!is_block_format(to)) return {row, col, position, 0};
  const int64_t i = row % to.row_block, j = col % to.col_block;
  const bool is_row = to.order == CUSPARSE_ORDER_ROW;
  const int64_t inner = is_row ? i * to.col_block + j : j * to.row_block + i;
  return {row / to.row_block, col / to.col_block, position, inner};
}

/// The source's entries in the result's order.
cu::CUresult collect(const Conversion& c, std::vector<Entry>* out) {
  out->reserve(static_cast<size_t>(c.from.nnz));
  KM_TRY_RUN(for_all_entries(c.from, [&](int64_t row, int64_t col, int64_t position) {
    if (c.is_transposed) std::swap(row, col);
    out->push_back(place_in(c.to, row, col, position));
  }));
  std::stable_sort(out->begin(), out->end(), [](const Entry& a, const Entry& b) {
    return a.line != b.line ? a.line < b.line : a.index < b.index;
  });
  return cu::CUDA_SUCCESS;
}

/// Calls f(number, entry) for the entries; all of a block have the block's number. Returns the
/// number of entries, or of blocks.
template <class F>
int64_t number_entries(const Conversion& c, const std::vector<Entry>& entries, F&& f) {
  const bool joins = is_block_format(c.to);
  int64_t count = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    const bool is_same = joins && i != 0 && entries[i].line == entries[i - 1].line &&
                         entries[i].index == entries[i - 1].index;
    if (!is_same) ++count;
    f(count - 1, entries[i]);
  }
  return count;
}

bool has_offsets(const SpMat& m) { return m.format != CUSPARSE_FORMAT_COO; }

/// Counts entries or blocks, and writes offsets if the result has them.
int64_t count(const Conversion& c, const std::vector<Entry>& entries) {
  const bool writes = has_offsets(c.to) && c.to.offsets != nullptr;
  const IndexWriter offsets(c.to.offsets, c.to.offsets_type, c.to.base);
  int64_t next_line = 0;
  const auto begin_lines = [&](int64_t end, int64_t found) {
    for (; writes && next_line < end; ++next_line) offsets.set(next_line, found);
  };
  const int64_t found = number_entries(
      c, entries, [&](int64_t number, const Entry& entry) { begin_lines(entry.line + 1, number); });
  begin_lines(has_offsets(c.to) ? c.to.lines() + 1 : 0, found);
  return found;
}

/// Stores the value of an entry, or its conjugate.
void copy_value(const Conversion& c, int64_t from, int64_t to) {
  const auto bytes = static_cast<int64_t>(bytes_of(c.to.type));
  char* const target = static_cast<char*>(c.to.values) + to * bytes;
  std::memcpy(target, static_cast<const char*>(c.from.values) + from * bytes,
              static_cast<size_t>(bytes));
  if (!c.is_conjugated) return;
  with_storage(c.to.type, 0, [&](auto tag) {
    using S = typename decltype(tag)::Type;
    if constexpr (kIsComplex<S>) target[bytes - 1] = static_cast<char>(target[bytes - 1] ^ 0x80);
    return 0;
  });
}

/// Writes indices and values; no more than the arrays have room for.
cu::CUresult fill(const Conversion& c) {
  std::vector<Entry> entries;
  KM_TRY_RUN(collect(c, &entries));
  const SpMat& to = c.to;
  const int64_t block = is_block_format(to) ? to.row_block * to.col_block : 1;
  const int64_t found = count(c, entries) * block;
  if (found > to.nnz) return bad_index("number of elements", found, to.nnz + 1);
  if (block != 1 && c.has_values) {
    std::memset(to.values, 0, static_cast<size_t>(found) * bytes_of(to.type));
  }
  const IndexWriter rows(to.offsets, to.offsets_type, to.base);
  const IndexWriter indices(to.indices, to.indices_type, to.base);
  number_entries(c, entries, [&](int64_t number, const Entry& entry) {
    if (!has_offsets(to)) rows.set(number, entry.line);
    indices.set(number, entry.index);
    if (c.has_values) copy_value(c, entry.position, number * block + entry.inner);
  });
  return cu::CUDA_SUCCESS;
}

}  // namespace

cusparseStatus_t check_conversion(const FormatConversionCall& call) {
  Conversion c;
  return read_conversion(call, &c);
}

cusparseStatus_t count_converted(const Handle& handle, const FormatConversionCall& call) {
  Conversion c;
  LIB_TRY(read_conversion(call, &c));
  Arrays arrays;
  add_structure(arrays, c.from, false);
  if (has_offsets(c.to) && c.to.offsets != nullptr) {
    arrays.written("the result's offsets", c.to.offsets, c.to.offsets_size(),
                   bytes_of_index(c.to.offsets_type));
  }
  const auto total = std::make_shared<int64_t>(0);
  LIB_TRY(submit_and_wait(handle, arrays, "cusparseSpMatConvert_analysis", c.estimated_ns(),
                          [c, total](uint64_t) -> cu::CUresult {
                            std::vector<Entry> entries;
                            KM_TRY_RUN(collect(c, &entries));
                            *total = count(c, entries);
                            return cu::CUDA_SUCCESS;
                          }));
  return change_descriptor<SpMat>("targetDescr", call.to, [&](SpMat& m) {
    m.nnz = *total * (is_block_format(m) ? m.row_block * m.col_block : 1);
    return CUSPARSE_STATUS_SUCCESS;
  });
}

cusparseStatus_t convert(const Handle& handle, const FormatConversionCall& call) {
  Conversion c;
  LIB_TRY(read_conversion(call, &c));
  Arrays arrays;
  add_structure(arrays, c.from, false);
  add_structure(arrays, c.to, true);
  if (c.has_values) {
    const auto bytes = bytes_of(c.to.type);
    arrays.read("the source's values", c.from.values, c.from.values_size(), bytes);
    arrays.written("the result's values", c.to.values, c.to.values_size(), bytes);
  }
  return submit(handle, arrays, "cusparseSpMatConvert", 1, c.estimated_ns(),
                [c](uint64_t) { return fill(c); });
}

}  // namespace km::cusparse
