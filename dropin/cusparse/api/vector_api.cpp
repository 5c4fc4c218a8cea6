// Descriptors of dense matrices and of dense and sparse vectors.
#include "dropin/cusparse/matrix/creation.h"

namespace km::cusparse {
namespace {

/// Reads a descriptor of type T and calls `body` with it.
template <class T, class Id, class Body>
cusparseStatus_t look(Id id, Body&& body, const char* function = __builtin_FUNCTION()) {
  const auto read = [&]() -> cusparseStatus_t {
    T found;
    LIB_TRY(read_descriptor("the descriptor", id, &found));
    return body(found);
  };
  return call(read, function);
}

/// Gives the values of an object; `wants_variable` refuses constant descriptors.
template <class T, class Id>
cusparseStatus_t give_values(Id id, bool wants_variable, const void** values,
                             const char* function = __builtin_FUNCTION()) {
  return look<T>(
      id,
      [&](const T& found) -> cusparseStatus_t {
        if (wants_variable && found.is_const) return invalid("the descriptor is constant");
        return give<const void*>("values", values, found.values);
      },
      function);
}

template <class T, class Id>
cusparseStatus_t set_values(Id id, void* values, const char* function = __builtin_FUNCTION()) {
  const auto set = [&](T& found) -> cusparseStatus_t {
    if (found.is_const) return invalid("the descriptor is constant");
    found.values = values;
    return CUSPARSE_STATUS_SUCCESS;
  };
  return call([&] { return change_descriptor<T>("the descriptor", id, set); }, function);
}

template <class Id>
cusparseStatus_t create_dense(Id* out, const DnMat& matrix,
                              const char* function = __builtin_FUNCTION()) {
  const auto make = [&]() -> cusparseStatus_t {
    LIB_TRY(check_dense(matrix));
    return give_descriptor(out, matrix, HandleKind::kSparseDense);
  };
  return call(make, function);
}

template <class Id>
cusparseStatus_t create_dense_vector(Id* out, const DnVec& vector,
                                     const char* function = __builtin_FUNCTION()) {
  const auto make = [&]() -> cusparseStatus_t {
    LIB_TRY(check_dense_vector(vector));
    return give_descriptor(out, vector, HandleKind::kSparseDenseVector);
  };
  return call(make, function);
}

template <class Id>
cusparseStatus_t create_sparse_vector(Id* out, const SpVec& vector,
                                      const char* function = __builtin_FUNCTION()) {
  const auto make = [&]() -> cusparseStatus_t {
    LIB_TRY(check_sparse_vector(vector));
    return give_descriptor(out, vector, HandleKind::kSparseVector);
  };
  return call(make, function);
}

cusparseStatus_t give_dense(const DnMat& m, int64_t* rows, int64_t* cols, int64_t* ld,
                            const void** values, cudaDataType* type, cusparseOrder_t* order) {
  LIB_TRY(give("rows", rows, m.rows));
  LIB_TRY(give("cols", cols, m.cols));
  LIB_TRY(give("ld", ld, m.ld));
  LIB_TRY(give<const void*>("values", values, m.values));
  LIB_TRY(give("type", type, m.type));
  return give("order", order, m.order);
}

cusparseStatus_t give_dense_vector(const DnVec& v, int64_t* size, const void** values,
                                   cudaDataType* type) {
  LIB_TRY(give("size", size, v.size));
  LIB_TRY(give<const void*>("values", values, v.values));
  return give("valueType", type, v.type);
}

cusparseStatus_t give_sparse_vector(const SpVec& v, int64_t* size, int64_t* nnz,
                                    const void** indices, const void** values,
                                    cusparseIndexType_t* index_type, cusparseIndexBase_t* base,
                                    cudaDataType* type) {
  LIB_TRY(give("size", size, v.size));
  LIB_TRY(give("nnz", nnz, v.nnz));
  LIB_TRY(give<const void*>("indices", indices, v.indices));
  LIB_TRY(give<const void*>("values", values, v.values));
  LIB_TRY(give("idxType", index_type, v.indices_type));
  LIB_TRY(give("idxBase", base, v.base));
  return give("valueType", type, v.type);
}

cusparseStatus_t set_dense_batch(DnMat& m, int count, int64_t stride) {
  constexpr int64_t kMost = int64_t{1} << 58;
  if (count <= 0 || stride < 0 || stride >= kMost) {
    return invalid("batchCount is %d, batchStride %lld", count, static_cast<long long>(stride));
  }
  m.batch_count = count;
  m.batch_stride = stride;
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* out, int64_t rows, int64_t cols,
                                     int64_t ld, void* values, cudaDataType type,
                                     cusparseOrder_t order) {
  return create_dense(out, {rows, cols, ld, values, type, order, 1, 0, false});
}
cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t* out, int64_t rows,
                                          int64_t cols, int64_t ld, const void* values,
                                          cudaDataType type, cusparseOrder_t order) {
  return create_dense(out, {rows, cols, ld, const_cast<void*>(values), type, order, 1, 0, true});
}
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t id) {
  return call([&] { return end_object<Shared<DnMat>>(id); });
}
cusparseStatus_t cusparseDnMatGet(cusparseDnMatDescr_t id, int64_t* rows, int64_t* cols,
                                  int64_t* ld, void** values, cudaDataType* type,
                                  cusparseOrder_t* order) {
  return look<DnMat>(id, [&](const DnMat& m) -> cusparseStatus_t {
    if (m.is_const) return invalid("the matrix is constant");
    return give_dense(m, rows, cols, ld, const_cast<const void**>(values), type, order);
  });
}
cusparseStatus_t cusparseConstDnMatGet(cusparseConstDnMatDescr_t id, int64_t* rows, int64_t* cols,
                                       int64_t* ld, const void** values, cudaDataType* type,
                                       cusparseOrder_t* order) {
  return look<DnMat>(
      id, [&](const DnMat& m) { return give_dense(m, rows, cols, ld, values, type, order); });
}
cusparseStatus_t cusparseDnMatGetValues(cusparseDnMatDescr_t id, void** values) {
  return give_values<DnMat>(id, true, const_cast<const void**>(values));
}
cusparseStatus_t cusparseConstDnMatGetValues(cusparseConstDnMatDescr_t id, const void** values) {
  return give_values<DnMat>(id, false, values);
}
cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t id, void* values) {
  return set_values<DnMat>(id, values);
}
cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t id, int count, int64_t stride) {
  return call([&] {
    return change_descriptor<DnMat>("dnMatDescr", id,
                                    [&](DnMat& m) { return set_dense_batch(m, count, stride); });
  });
}
cusparseStatus_t cusparseDnMatGetStridedBatch(cusparseConstDnMatDescr_t id, int* count,
                                              int64_t* stride) {
  return look<DnMat>(id, [&](const DnMat& m) -> cusparseStatus_t {
    LIB_TRY(give("batchCount", count, m.batch_count));
    return give("batchStride", stride, m.batch_stride);
  });
}

cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* out, int64_t size, void* values,
                                     cudaDataType type) {
  return create_dense_vector(out, {size, values, type, false});
}
cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t* out, int64_t size,
                                          const void* values, cudaDataType type) {
  return create_dense_vector(out, {size, const_cast<void*>(values), type, true});
}
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t id) {
  return call([&] { return end_object<Shared<DnVec>>(id); });
}
cusparseStatus_t cusparseDnVecGet(cusparseDnVecDescr_t id, int64_t* size, void** values,
                                  cudaDataType* type) {
  return look<DnVec>(id, [&](const DnVec& v) -> cusparseStatus_t {
    if (v.is_const) return invalid("the vector is constant");
    return give_dense_vector(v, size, const_cast<const void**>(values), type);
  });
}
cusparseStatus_t cusparseConstDnVecGet(cusparseConstDnVecDescr_t id, int64_t* size,
                                       const void** values, cudaDataType* type) {
  return look<DnVec>(id, [&](const DnVec& v) { return give_dense_vector(v, size, values, type); });
}
cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t id, void** values) {
  return give_values<DnVec>(id, true, const_cast<const void**>(values));
}
cusparseStatus_t cusparseConstDnVecGetValues(cusparseConstDnVecDescr_t id, const void** values) {
  return give_values<DnVec>(id, false, values);
}
cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t id, void* values) {
  return set_values<DnVec>(id, values);
}

cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t* out, int64_t size, int64_t nnz,
                                     void* indices, void* values, cusparseIndexType_t index_type,
                                     cusparseIndexBase_t base, cudaDataType type) {
  return create_sparse_vector(out, {size, nnz, indices, values, index_type, base, type, false});
}
cusparseStatus_t cusparseCreateConstSpVec(cusparseConstSpVecDescr_t* out, int64_t size, int64_t nnz,
                                          const void* indices, const void* values,
                                          cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                          cudaDataType type) {
  return create_sparse_vector(out, {size, nnz, const_cast<void*>(indices),
                                    const_cast<void*>(values), index_type, base, type, true});
}
cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t id) {
  return call([&] { return end_object<Shared<SpVec>>(id); });
}
cusparseStatus_t cusparseSpVecGet(cusparseSpVecDescr_t id, int64_t* size, int64_t* nnz,
                                  void** indices, void** values, cusparseIndexType_t* index_type,
                                  cusparseIndexBase_t* base, cudaDataType* type) {
  return look<SpVec>(id, [&](const SpVec& v) -> cusparseStatus_t {
    if (v.is_const) return invalid("the vector is constant");
    return give_sparse_vector(v, size, nnz, const_cast<const void**>(indices),
                              const_cast<const void**>(values), index_type, base, type);
  });
}
cusparseStatus_t cusparseConstSpVecGet(cusparseConstSpVecDescr_t id, int64_t* size, int64_t* nnz,
                                       const void** indices, const void** values,
                                       cusparseIndexType_t* index_type, cusparseIndexBase_t* base,
                                       cudaDataType* type) {
  return look<SpVec>(id, [&](const SpVec& v) {
    return give_sparse_vector(v, size, nnz, indices, values, index_type, base, type);
  });
}
cusparseStatus_t cusparseSpVecGetIndexBase(cusparseConstSpVecDescr_t id,
                                           cusparseIndexBase_t* base) {
  return look<SpVec>(id, [&](const SpVec& v) { return give("idxBase", base, v.base); });
}
cusparseStatus_t cusparseSpVecGetValues(cusparseSpVecDescr_t id, void** values) {
  return give_values<SpVec>(id, true, const_cast<const void**>(values));
}
cusparseStatus_t cusparseConstSpVecGetValues(cusparseConstSpVecDescr_t id, const void** values) {
  return give_values<SpVec>(id, false, values);
}
cusparseStatus_t cusparseSpVecSetValues(cusparseSpVecDescr_t id, void* values) {
  return set_values<SpVec>(id, values);
}

}  // extern "C"

}  // namespace km::cusparse
