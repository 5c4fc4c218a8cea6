#include "dropin/cusparse/legacy/selection.h"

#include <cmath>

namespace km::cusparse {
namespace {

/// The magnitude of an element of any type.
double magnitude_at(cudaDataType type, const void* array, int64_t index) {
  return magnitude(load<C64>(type, array, index));
}

DnMat dense_of(int rows, int cols, int lda, const void* a, cudaDataType type) {
  DnMat m;
  m.rows = rows, m.cols = cols, m.ld = lda;
  m.values = const_cast<void*>(a), m.type = type;
  return m;
}

cusparseStatus_t check_leading(int lda, int rows) {
  return lda >= std::max(rows, 1) ? CUSPARSE_STATUS_SUCCESS : invalid("lda is %d", lda);
}

cusparseStatus_t read_compressed(const Handle& handle, cudaDataType type, const CompressCall& call,
                                 SpMat* out) {
  MatDescr settings;
  LIB_TRY(read_settings("descrA", call.settings, &settings));
  LIB_TRY(check_sizes({call.rows, call.cols}));
  int64_t nnz = call.nnz;
  if (nnz < 0) {
    LIB_TRY(find_capacity(handle, "csrSortedValA", call.a.values, bytes_of(type), &nnz));
  }
  *out = csr_of(call.rows, call.cols, nnz, settings, type, call.a);
  return CUSPARSE_STATUS_SUCCESS;
}

/// Calls f(row, position) for the entries that count.
template <class F>
cu::CUresult for_large(const SpMat& a, double limit, F&& f) {
  const Indices offsets = offsets_of(a);
  for (int64_t row = 0; row < a.rows; ++row) {
    LineRange range;
    KM_TRY_RUN(read_range(offsets, row, a.nnz, &range));
    for (int64_t k = range.first; k < range.last; ++k) {
      if (magnitude_at(a.type, a.values, k) > limit) f(row, k);
    }
  }
  return cu::CUDA_SUCCESS;
}

double limit_of(const CompressCall& call, cudaDataType type) {
  return with_compute(type, 0.0, [&](auto tag) {
    return widen<double>(call.limit.get<typename decltype(tag)::Type>());
  });
}

void add_offsets_and_values(Arrays& arrays, const SpMat& a) {
  arrays.read("csrSortedRowPtrA", a.offsets, a.rows + 1, sizeof(int));
  arrays.read("csrSortedValA", a.values, a.nnz, bytes_of(a.type));
}

/// The arrays of a result in CSR format, as long as their allocations.
struct Result {
  IntArrays arrays;
  cusparseIndexBase_t base;
  cudaDataType type;
  int64_t capacity;

  IndexWriter offsets() const {
    return {const_cast<int*>(arrays.offsets), CUSPARSE_INDEX_32I, base};
  }
  /// Copies an entry.
  void set(int64_t k, int64_t col, const void* value) const {
    const int64_t bytes = bytes_of(type);
    IndexWriter(const_cast<int*>(arrays.indices), CUSPARSE_INDEX_32I, base).set(k, col);
    std::memcpy(static_cast<char*>(const_cast<void*>(arrays.values)) + k * bytes, value,
                static_cast<size_t>(bytes));
  }
  cusparseStatus_t add_to(const Handle& handle, Arrays& list) {
    LIB_TRY(find_capacity(handle, arrays, bytes_of(type), &capacity));
    list.written("the result's indices", arrays.indices, capacity, sizeof(int));
    list.written("the result's values", arrays.values, capacity, bytes_of(type));
    return CUSPARSE_STATUS_SUCCESS;
  }
};

const char* element(const void* array, cudaDataType type, int64_t index) {
  return static_cast<const char*>(array) + index * static_cast<int64_t>(bytes_of(type));
}

}  // namespace

cusparseStatus_t count_dense(const Handle& handle, cudaDataType type, const CountCall& call) {
  MatDescr settings;
  LIB_TRY(read_settings("descrA", call.settings, &settings));
  LIB_TRY(check_direction(call.direction));
  LIB_TRY(check_sizes({call.rows, call.cols}));
  LIB_TRY(check_leading(call.lda, call.rows));
  const bool is_by_rows = call.direction == CUSPARSE_DIRECTION_ROW;
  const DnMat a = dense_of(call.rows, call.cols, call.lda, call.a, type);
  const int64_t lines = is_by_rows ? a.rows : a.cols;
  Arrays arrays;
  add_matrix(arrays, "A", a, false);
  arrays.written("nnzPerRowCol", call.counts, lines, sizeof(int));
  const auto run = [a, call, lines, is_by_rows](int64_t* total) {
    std::vector<int32_t> counts(static_cast<size_t>(lines), 0);
    for (int64_t col = 0; col < a.cols; ++col) {
      for (int64_t row = 0; row < a.rows; ++row) {
        const bool is_zero = load<C64>(a.type, a.values, col * a.ld + row) == C64(0);
        if (is_zero) continue;
        ++counts[static_cast<size_t>(is_by_rows ? row : col)];
        ++*total;
      }
    }
    std::memcpy(call.counts, counts.data(), counts.size() * sizeof(int32_t));
    return cu::CUresult{cu::CUDA_SUCCESS};
  };
  return submit_count(handle, arrays, "cusparseNnz", time_of(a.rows * a.cols, 2), call.total, run);
}

cusparseStatus_t count_compressed(const Handle& handle, cudaDataType type, const CompressCall& call,
                                  int* counts, int* total) {
  SpMat a;
  LIB_TRY(read_compressed(handle, type, call, &a));
  Arrays arrays;
  add_offsets_and_values(arrays, a);
  arrays.written("nnzPerRow", counts, a.rows, sizeof(int));
  const auto run = [a, counts, limit = limit_of(call, type)](int64_t* found) {
    for (int64_t row = 0; row < a.rows; ++row) write_element<int32_t>(counts, row, 0);
    return for_large(a, limit, [&](int64_t row, int64_t) {
      write_element<int32_t>(counts, row, read_element<int32_t>(counts, row) + 1);
      ++*found;
    });
  };
  return submit_count(handle, arrays, "cusparseNnz_compress", time_of(a.rows, 16), total, run);
}

cusparseStatus_t compress(const Handle& handle, cudaDataType type, const CompressCall& call,
                          const int* counts, const IntArrays& out) {
  SpMat a;
  LIB_TRY(read_compressed(handle, type, call, &a));
  Arrays arrays;
  add_offsets_and_values(arrays, a);
  arrays.read("csrSortedColIndA", a.indices, a.nnz, sizeof(int));
  arrays.read("nnzPerRow", counts, a.rows, sizeof(int));
  arrays.written("csrSortedRowPtrC", out.offsets, a.rows + 1, sizeof(int));
  Result result = {out, a.base, type, 0};
  LIB_TRY(result.add_to(handle, arrays));
  const auto run = [a, counts, result, limit = limit_of(call, type)](uint64_t) {
    int64_t count = 0;
    result.offsets().set(0, 0);
    for (int64_t row = 0; row < a.rows; ++row) {
      count += read_element<int32_t>(counts, row);
      result.offsets().set(row + 1, count);
    }
    const Indices indices = indices_of(a);
    int64_t k = 0;
    KM_TRY_RUN(for_large(a, limit, [&](int64_t, int64_t at) {
      if (k < result.capacity) result.set(k, indices[at], element(a.values, a.type, at));
      ++k;
    }));
    if (k > result.capacity) return bad_index("number of elements", k, result.capacity + 1);
    return cu::CUresult{cu::CUDA_SUCCESS};
  };
  return submit(handle, arrays, "cusparseCsr2csr_compress", 1, time_of(a.nnz), run);
}

namespace {

/// The matrix that is pruned.
struct Pruning {
  bool is_dense = false;
  DnMat dense;
  SpMat sparse;
  cudaDataType type = CUDA_R_32F;
  bool is_by_percentage = false;
  double percentage = 0;
  Scalar threshold;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
  int64_t rows = 0;

  int64_t size() const { return is_dense ? dense.rows * dense.cols : sparse.nnz; }
};

/// Calls f(row, column, address of the value) row by row.
template <class F>
cu::CUresult for_candidates(const Pruning& p, F&& f) {
  if (!p.is_dense) {
    return for_all_entries(p.sparse, [&](int64_t row, int64_t col, int64_t k) {
      f(row, col, element(p.sparse.values, p.type, k));
    });
  }
  for (int64_t row = 0; row < p.dense.rows; ++row) {
    for (int64_t col = 0; col < p.dense.cols; ++col) {
      f(row, col, element(p.dense.values, p.type, col * p.dense.ld + row));
    }
  }
  return cu::CUDA_SUCCESS;
}

/// The threshold that the percentage of the elements does not exceed.
cu::CUresult find_threshold(const Pruning& p, double* out) {
  if (!p.is_by_percentage) {
    *out = with_storage(p.type, 0.0, [&](auto tag) {
      return widen<double>(p.threshold.get<typename decltype(tag)::Type>());
    });
    return cu::CUDA_SUCCESS;
  }
  std::vector<double> sizes;
  KM_TRY_RUN(for_candidates(p, [&](int64_t, int64_t, const char* value) {
    sizes.push_back(magnitude_at(p.type, value, 0));
  }));
  if (sizes.empty()) return cu::CUDA_SUCCESS;
  const double place = std::ceil(static_cast<double>(sizes.size()) * p.percentage / 100) - 1;
  const auto last = static_cast<double>(sizes.size() - 1);
  const auto at = static_cast<int64_t>(std::clamp(place, 0.0, last));
  std::nth_element(sizes.begin(), sizes.begin() + at, sizes.end());
  *out = sizes[static_cast<size_t>(at)];
  return cu::CUDA_SUCCESS;
}

/// Calls f(row, column, address of the value) for what stays.
template <class F>
cu::CUresult for_kept(const Pruning& p, F&& f) {
  double threshold = 0;
  KM_TRY_RUN(find_threshold(p, &threshold));
  return for_candidates(p, [&](int64_t row, int64_t col, const char* value) {
    if (magnitude_at(p.type, value, 0) > threshold) f(row, col, value);
  });
}

cusparseStatus_t read_pruning(const Handle& handle, cudaDataType type, const PruneCall& call,
                              Pruning* out, Arrays& arrays) {
  Pruning& p = *out;
  MatDescr settings;
  LIB_TRY(read_settings("descrC", call.result_settings, &settings));
  LIB_TRY(check_sizes({call.rows, call.cols, call.nnz}));
  p.base = settings.base;
  p.is_dense = call.is_dense;
  p.type = type;
  p.rows = call.rows;
  if (p.is_dense) {
    LIB_TRY(check_leading(call.lda, call.rows));
    p.dense = dense_of(call.rows, call.cols, call.lda, call.a, type);
    add_matrix(arrays, "A", p.dense, false);
  } else {
    LIB_TRY(read_settings("descrA", call.settings, &settings));
    p.sparse = csr_of(call.rows, call.cols, call.nnz, settings, type, call.sparse);
    add_matrix(arrays, p.sparse, false);
  }
  p.is_by_percentage = call.is_by_percentage;
  p.percentage = static_cast<double>(call.percentage);
  if (!p.is_by_percentage)
    return p.threshold.set(handle, "threshold", call.threshold, type, arrays);
  if (p.percentage >= 0 && p.percentage <= 100) return CUSPARSE_STATUS_SUCCESS;
  return invalid("percentage is %g", p.percentage);
}

}  // namespace

cusparseStatus_t count_pruned(const Handle& handle, cudaDataType type, const PruneCall& call,
                              int* offsets, int* total) {
  Pruning p;
  Arrays arrays;
  LIB_TRY(read_pruning(handle, type, call, &p, arrays));
  arrays.written("csrRowPtrC", offsets, p.rows + 1, sizeof(int));
  const auto run = [p, offsets](int64_t* count) {
    std::vector<int64_t> counts(static_cast<size_t>(p.rows), 0);
    KM_TRY_RUN(for_kept(
        p, [&](int64_t row, int64_t, const char*) { ++counts[static_cast<size_t>(row)]; }));
    const IndexWriter to(offsets, CUSPARSE_INDEX_32I, p.base);
    to.set(0, 0);
    for (int64_t row = 0; row < p.rows; ++row) {
      *count += counts[static_cast<size_t>(row)];
      to.set(row + 1, *count);
    }
    return cu::CUresult{cu::CUDA_SUCCESS};
  };
  return submit_count(handle, arrays, "cusparsePruneNnz", time_of(p.size(), 10), total, run);
}

cusparseStatus_t prune(const Handle& handle, cudaDataType type, const PruneCall& call,
                       const IntArrays& out) {
  Pruning p;
  Arrays arrays;
  LIB_TRY(read_pruning(handle, type, call, &p, arrays));
  Result result = {out, p.base, type, 0};
  LIB_TRY(result.add_to(handle, arrays));
  const auto run = [p, result](uint64_t) {
    int64_t k = 0;
    KM_TRY_RUN(for_kept(p, [&](int64_t, int64_t col, const char* value) {
      if (k < result.capacity) result.set(k, col, value);
      ++k;
    }));
    if (k > result.capacity) return bad_index("number of elements", k, result.capacity + 1);
    return cu::CUresult{cu::CUDA_SUCCESS};
  };
  return submit(handle, arrays, "cusparsePrune", 1, time_of(p.size(), 10), run);
}

}  // namespace km::cusparse
