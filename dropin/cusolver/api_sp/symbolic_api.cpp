// Handles of the sparse part, and what is known from the places of elements: orderings,
// permutations and symmetry.
#include "dropin/cusolver/api_sp/exports.h"
#include "dropin/cusolver/sparse/orderings.h"

namespace km::cusolver {

namespace {

template <class Order>
cusolverStatus_t give_ordering(const char* function, cusolverSpHandle_t handle,
                               const CsrArrays& arrays, int* p, Order&& order) {
  return call(function, handle, [&](SpHandle& h) -> cusolverStatus_t {
    Places places(h, true);
    Pattern a;
    LIB_TRY(read_pattern(places, arrays, &a));
    return places.write("p", p, order(a));
  });
}

/// True if for each element (i, j) there is one at (j, i).
bool is_symmetric(const Pattern& a) {
  // Rows of transposes are sorted, with each element once.
  const Pattern columns = transpose(a), rows = transpose(columns);
  const auto same = [](const Pattern& first, const Pattern& second, int i) {
    std::vector<int> left(first.indices.begin() + first.starts[i],
                          first.indices.begin() + first.starts[i + 1]);
    std::vector<int> right(second.indices.begin() + second.starts[i],
                           second.indices.begin() + second.starts[i + 1]);
    left.erase(std::unique(left.begin(), left.end()), left.end());
    right.erase(std::unique(right.begin(), right.end()), right.end());
    return left == right;
  };
  for (int i = 0; i < a.rows; ++i) {
    if (!same(columns, rows, i)) return false;
  }
  return true;
}

/// The pattern of rows that end where a second array says.
cusolverStatus_t read_ended_rows(Places& places, const CsrArrays& arrays, const int* ends,
                                 Pattern* out) {
  if (arrays.rows < 0 || arrays.count < 0) return invalid("a size is below 0");
  int base = 0;
  LIB_TRY(read_base(arrays.description, &base));
  std::vector<int> starts, last, indices;
  LIB_TRY(places.read("csrRowPtrA", arrays.starts, arrays.rows, &starts));
  LIB_TRY(places.read("csrEndPtrA", ends, arrays.rows, &last));
  LIB_TRY(places.read("csrColIndA", arrays.indices, arrays.count, &indices));
  out->rows = out->columns = arrays.rows;
  out->starts.push_back(0);
  for (int i = 0; i < arrays.rows; ++i) {
    const int64_t begin = int64_t{starts[i]} - base, end = int64_t{last[i]} - base;
    if (begin < 0 || begin > end || end > arrays.count) return invalid("row %d is not valid", i);
    for (int64_t k = begin; k < end; ++k) {
      const int column = indices[static_cast<size_t>(k)] - base;
      if (column < 0 || column >= arrays.rows) return invalid("row %d has column %d", i, column);
      out->indices.push_back(column);
    }
    out->starts.push_back(static_cast<int>(out->indices.size()));
  }
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t read_permutation(Places& places, const char* name, const int* from, int count,
                                  std::vector<int>* out) {
  LIB_TRY(places.read(name, from, count, out));
  return is_permutation(*out) ? CUSOLVER_STATUS_SUCCESS : invalid("%s is no permutation", name);
}

cusolverStatus_t permute_in_place(SpHandle& h, const CsrArrays& arrays, int* starts, int* indices,
                                  const int* p, const int* q, int* map) {
  Places places(h, true);
  Pattern a;
  int base = 0;
  LIB_TRY(read_base(arrays.description, &base));
  LIB_TRY(read_pattern(places, arrays, &a));
  std::vector<int> rows, columns, places_of_elements, order;
  LIB_TRY(read_permutation(places, "p", p, arrays.rows, &rows));
  LIB_TRY(read_permutation(places, "q", q, arrays.columns, &columns));
  LIB_TRY(places.read("map", map, arrays.count, &order));
  Pattern b = permute(a, rows, columns, &places_of_elements);
  std::vector<int> moved;
  for (const int place : places_of_elements) moved.push_back(order[static_cast<size_t>(place)]);
  for (int& each : b.starts) each += base;
  for (int& each : b.indices) each += base;
  LIB_TRY(places.write("csrRowPtrA", starts, b.starts));
  LIB_TRY(places.write("csrColIndA", indices, b.indices));
  return places.write("map", map, moved);
}

#define KM_P_ZFD(P, T) KM_P_SQUARE(P, T), P(int*, p), P(int*, numnz)
template <class T>
cusolverStatus_t zfd_host(SpHandle& h, KM_P_ZFD(KM_SIGNATURE, T)) {
  Places places(h, true);
  Csr<Native<T>> a;
  LIB_TRY(read_matrix(places, {m, m, nnz, descrA, csrRowPtr, csrColInd}, csrVal, &a));
  Pattern nonzero;
  nonzero.rows = nonzero.columns = m;
  nonzero.starts.push_back(0);
  for (int i = 0; i < m; ++i) {
    for (int k = a.starts[i]; k < a.starts[i + 1]; ++k) {
      if (a.values[k] != Native<T>(0)) nonzero.indices.push_back(a.indices[k]);
    }
    nonzero.starts.push_back(static_cast<int>(nonzero.indices.size()));
  }
  int matched = 0;
  LIB_TRY(places.write("P", p, zero_free_diagonal(nonzero, &matched)));
  return write_value("numnz", numnz, matched);
}

}  // namespace

KM_EXPORT_SP_ALL(csrzfdHost, KM_P_ZFD, zfd_host)

extern "C" {

cusolverStatus_t cusolverSpCreate(cusolverSpHandle_t* handle) {
  return call(__func__, [&] { return create_handle<SpHandle>(handle); });
}
cusolverStatus_t cusolverSpDestroy(cusolverSpHandle_t handle) {
  return call(__func__, [&] { return end_object<SpHandle>(handle); });
}
cusolverStatus_t cusolverSpSetStream(cusolverSpHandle_t handle, cudaStream_t stream) {
  return call(__func__, handle, [&](SpHandle& h) {
    h.stream = reinterpret_cast<cu::CUstream>(stream);
    return CUSOLVER_STATUS_SUCCESS;
  });
}
cusolverStatus_t cusolverSpGetStream(cusolverSpHandle_t handle, cudaStream_t* stream) {
  return call(__func__, handle, [&](SpHandle& h) {
    return write_value("streamId", stream, reinterpret_cast<cudaStream_t>(h.stream.load()));
  });
}

cusolverStatus_t cusolverSpXcsrissymHost(cusolverSpHandle_t handle, int m, int nnz,
                                         const cusparseMatDescr_t description, const int* starts,
                                         const int* ends, const int* indices, int* is_sym) {
  return call(__func__, handle, [&](SpHandle& h) -> cusolverStatus_t {
    Places places(h, true);
    Pattern a;
    LIB_TRY(read_ended_rows(places, {m, m, nnz, description, starts, indices}, ends, &a));
    return write_value("issym", is_sym, int{is_symmetric(a)});
  });
}

cusolverStatus_t cusolverSpXcsrsymrcmHost(cusolverSpHandle_t handle, int n, int nnz,
                                          const cusparseMatDescr_t description, const int* starts,
                                          const int* indices, int* p) {
  return give_ordering(__func__, handle, {n, n, nnz, description, starts, indices}, p,
                       reverse_cuthill_mckee);
}
cusolverStatus_t cusolverSpXcsrsymmdqHost(cusolverSpHandle_t handle, int n, int nnz,
                                          const cusparseMatDescr_t description, const int* starts,
                                          const int* indices, int* p) {
  return give_ordering(__func__, handle, {n, n, nnz, description, starts, indices}, p,
                       minimum_degree);
}
cusolverStatus_t cusolverSpXcsrsymamdHost(cusolverSpHandle_t handle, int n, int nnz,
                                          const cusparseMatDescr_t description, const int* starts,
                                          const int* indices, int* p) {
  return give_ordering(__func__, handle, {n, n, nnz, description, starts, indices}, p,
                       minimum_degree);
}
/// METIS's options change nothing.
cusolverStatus_t cusolverSpXcsrmetisndHost(cusolverSpHandle_t handle, int n, int nnz,
                                           const cusparseMatDescr_t description, const int* starts,
                                           const int* indices, const int64_t*, int* p) {
  return give_ordering(__func__, handle, {n, n, nnz, description, starts, indices}, p,
                       nested_dissection);
}

cusolverStatus_t cusolverSpXcsrperm_bufferSizeHost(cusolverSpHandle_t handle, int m, int n, int nnz,
                                                   const cusparseMatDescr_t, const int*, const int*,
                                                   const int*, const int*, size_t* bytes) {
  return call(__func__, handle, [&](SpHandle&) -> cusolverStatus_t {
    if (m < 0 || n < 0 || nnz < 0) return invalid("a size is below 0: %d, %d, %d", m, n, nnz);
    return write_value("bufferSizeInBytes", bytes, size_t{kWorkBytes});
  });
}
cusolverStatus_t cusolverSpXcsrpermHost(cusolverSpHandle_t handle, int m, int n, int nnz,
                                        const cusparseMatDescr_t description, int* starts,
                                        int* indices, const int* p, const int* q, int* map, void*) {
  return call(__func__, handle, [&](SpHandle& h) {
    return permute_in_place(h, {m, n, nnz, description, starts, indices}, starts, indices, p, q,
                            map);
  });
}

}  // extern "C"

}  // namespace km::cusolver
