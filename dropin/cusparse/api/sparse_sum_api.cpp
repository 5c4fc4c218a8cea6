// Sums of sparse matrices: csrgeam2 and SpGEAM. They use no workspace.
#include "dropin/cusparse/generic/product.h"
#include "dropin/cusparse/generic/sparse_sum.h"
#include "dropin/cusparse/legacy/exports.h"
#include "dropin/cusparse/legacy/matrices.h"

namespace km::cusparse {
namespace {

/// The object of a descriptor of SpGEAM.
struct SumObject {
  bool is_counted = false;
};

/// A matrix as csrgeam2 has it.
struct CsrArguments {
  cusparseMatDescr_t settings;
  int nnz;
  IntArrays arrays;
};
struct SumArguments {
  int rows, cols;
  CsrArguments a, b, c;
};

cusparseStatus_t read_csr(const char* name, const SumArguments& arguments, const CsrArguments& csr,
                          cudaDataType type, SpMat* out) {
  MatDescr settings;
  LIB_TRY(read_settings(name, csr.settings, &settings));
  LIB_TRY(check_sizes({csr.nnz}));
  *out = csr_of(arguments.rows, arguments.cols, csr.nnz, settings, type, csr.arrays);
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t read_sum(const SumArguments& arguments, cudaDataType type, SparseSum* out) {
  LIB_TRY(check_sizes({arguments.rows, arguments.cols}));
  LIB_TRY(read_csr("descrA", arguments, arguments.a, type, &out->a));
  LIB_TRY(read_csr("descrB", arguments, arguments.b, type, &out->b));
  LIB_TRY(read_csr("descrC", arguments, arguments.c, type, &out->c));
  out->compute = type;
  return check_sum(*out);
}

cusparseStatus_t set_scalars(const Handle& h, const void* alpha, const void* beta, SparseSum& sum,
                             Arrays& arrays) {
  LIB_TRY(sum.alpha.set(h, "alpha", alpha, sum.compute, arrays));
  return sum.beta.set(h, "beta", beta, sum.compute, arrays);
}

uint64_t time_of_sum(const SparseSum& sum) { return time_of(sum.a.nnz + sum.b.nnz, 20); }

cusparseStatus_t add_result(const Handle& h, SparseSum& sum, bool finds_capacity, Arrays& arrays) {
  if (finds_capacity) {
    const IntArrays out = {sum.c.values, nullptr, static_cast<const int*>(sum.c.indices)};
    LIB_TRY(find_capacity(h, out, bytes_of(sum.c.type), &sum.c.nnz));
  }
  add_structure(arrays, sum.c, true);
  arrays.written("the result's values", sum.c.values, sum.c.nnz, bytes_of(sum.c.type));
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t submit_sum(const Handle& h, const char* name, const Arrays& arrays,
                            const SparseSum& sum) {
  return submit(h, arrays, name, 1, time_of_sum(sum), [sum](uint64_t) { return write_sum(sum); });
}

cusparseStatus_t add_csr(cusparseHandle_t handle, cudaDataType type, const SumArguments& arguments,
                         const void* alpha, const void* beta,
                         const char* function = __builtin_FUNCTION()) {
  const auto body = [&](Handle& h) -> cusparseStatus_t {
    SparseSum sum;
    Arrays arrays;
    LIB_TRY(read_sum(arguments, type, &sum));
    LIB_TRY(set_scalars(h, alpha, beta, sum, arrays));
    add_operands(arrays, sum, true);
    LIB_TRY(add_result(h, sum, true, arrays));
    return submit_sum(h, "cusparseCsrgeam2", arrays, sum);
  };
  return call(handle, body, function);
}

/// The arguments of SpGEAM.
struct GeamCall {
  cusparseOperation_t operation_a, operation_b;
  cusparseSpMatDescr_t a, b, c;
  cudaDataType compute;
  cusparseSpGEAMAlg_t alg;
  cusparseSpGEAMDescr_t descriptor;
};

cusparseStatus_t read_geam(const GeamCall& geam, SparseSum* out, SumObject* object) {
  LIB_TRY(check_operation("opA", geam.operation_a));
  LIB_TRY(check_operation("opB", geam.operation_b));
  if (geam.alg != CUSPARSE_SPGEAM_ALG_DEFAULT && geam.alg != CUSPARSE_SPGEAM_ALG1) {
    return invalid("alg is %d", static_cast<int>(geam.alg));
  }
  LIB_TRY(read_descriptor("spgeamDescr", geam.descriptor, object));
  LIB_TRY(read_descriptor("matA", geam.a, &out->a));
  LIB_TRY(read_descriptor("matB", geam.b, &out->b));
  LIB_TRY(read_output("matC", geam.c, &out->c));
  for (const SpMat* const m : {&out->a, &out->b, &out->c}) {
    if (m->format != CUSPARSE_FORMAT_CSR || m->batch_count != 1) {
      return unsupported("sums of matrices that are not in CSR format");
    }
  }
  out->is_a_transposed = !is_plain(geam.operation_a);
  out->is_a_conjugate = geam.operation_a == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
  out->is_b_transposed = !is_plain(geam.operation_b);
  out->is_b_conjugate = geam.operation_b == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
  out->compute = geam.compute;
  return check_sum(*out);
}

/// Counts the entries, writes matC's offsets if it has any, and sets its size.
cusparseStatus_t count_geam(const Handle& h, const GeamCall& geam) {
  SparseSum sum;
  SumObject object;
  Arrays arrays;
  LIB_TRY(read_geam(geam, &sum, &object));
  add_operands(arrays, sum, false);
  if (sum.c.offsets != nullptr) {
    arrays.written("matC's offsets", sum.c.offsets, sum.c.rows + 1,
                   bytes_of_index(sum.c.offsets_type));
  }
  const auto total = std::make_shared<int64_t>(0);
  LIB_TRY(submit_and_wait(h, arrays, "cusparseSpGEAM_nnz", time_of_sum(sum),
                          [sum, total](uint64_t) { return count_sum(sum, total.get()); }));
  LIB_TRY(change_descriptor<SpMat>("matC", geam.c, [&](SpMat& c) {
    c.nnz = *total;
    return CUSPARSE_STATUS_SUCCESS;
  }));
  return change_descriptor<SumObject>("spgeamDescr", geam.descriptor, [](SumObject& changed) {
    changed.is_counted = true;
    return CUSPARSE_STATUS_SUCCESS;
  });
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseXcsrgeam2Nnz(cusparseHandle_t handle, int m, int n,
                                      const cusparseMatDescr_t settings_a, int nnz_a,
                                      const int* offsets_a, const int* indices_a,
                                      const cusparseMatDescr_t settings_b, int nnz_b,
                                      const int* offsets_b, const int* indices_b,
                                      const cusparseMatDescr_t settings_c, int* offsets_c,
                                      int* total, void*) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    SparseSum sum;
    Arrays arrays;
    const SumArguments arguments = {m,
                                    n,
                                    {settings_a, nnz_a, {nullptr, offsets_a, indices_a}},
                                    {settings_b, nnz_b, {nullptr, offsets_b, indices_b}},
                                    {settings_c, 0, {nullptr, offsets_c, nullptr}}};
    LIB_TRY(read_sum(arguments, CUDA_R_32F, &sum));
    add_operands(arrays, sum, false);
    arrays.written("csrSortedRowPtrC", offsets_c, int64_t{m} + 1, sizeof(int));
    return submit_count(h, arrays, "cusparseXcsrgeam2Nnz", time_of_sum(sum), total,
                        [sum](int64_t* count) { return count_sum(sum, count); });
  });
}

#define KM_CSRGEAM2(L, T)                                                                         \
  cusparseStatus_t cusparse##L##csrgeam2_bufferSizeExt(                                           \
      cusparseHandle_t handle, int m, int n, const T*, const cusparseMatDescr_t, int nnz_a,       \
      const T*, const int*, const int*, const T*, const cusparseMatDescr_t, int nnz_b, const T*,  \
      const int*, const int*, const cusparseMatDescr_t, const T*, const int*, const int*,         \
      size_t* size) {                                                                             \
    return call(handle, [&](Handle&) -> cusparseStatus_t {                                        \
      LIB_TRY(check_sizes({m, n, nnz_a, nnz_b}));                                                 \
      return give("pBufferSizeInBytes", size, kNoWorkspace);                                      \
    });                                                                                           \
  }                                                                                               \
  cusparseStatus_t cusparse##L##csrgeam2(                                                         \
      cusparseHandle_t handle, int m, int n, const T* alpha, const cusparseMatDescr_t settings_a, \
      int nnz_a, const T* values_a, const int* offsets_a, const int* indices_a, const T* beta,    \
      const cusparseMatDescr_t settings_b, int nnz_b, const T* values_b, const int* offsets_b,    \
      const int* indices_b, const cusparseMatDescr_t settings_c, T* values_c, int* offsets_c,     \
      int* indices_c, void*) {                                                                    \
    const SumArguments arguments = {m,                                                            \
                                    n,                                                            \
                                    {settings_a, nnz_a, {values_a, offsets_a, indices_a}},        \
                                    {settings_b, nnz_b, {values_b, offsets_b, indices_b}},        \
                                    {settings_c, 0, {values_c, offsets_c, indices_c}}};           \
    return add_csr(handle, kExportType<T>, arguments, alpha, beta);                               \
  }
KM_FOR_ALL_TYPES(KM_CSRGEAM2)

cusparseStatus_t cusparseSpGEAM_createDescr(cusparseSpGEAMDescr_t* descriptor) {
  return call([&] { return give_descriptor(descriptor, SumObject{}, HandleKind::kSparseProduct); });
}
cusparseStatus_t cusparseSpGEAM_destroyDescr(cusparseSpGEAMDescr_t descriptor) {
  return call([&] { return end_object<Shared<SumObject>>(descriptor); });
}
cusparseStatus_t cusparseSpGEAM_bufferSize(cusparseHandle_t handle, cusparseOperation_t op_a,
                                           cusparseOperation_t op_b, const void*,
                                           cusparseSpMatDescr_t a, const void*,
                                           cusparseSpMatDescr_t b, cusparseSpMatDescr_t c,
                                           cudaDataType compute, cusparseSpGEAMAlg_t alg,
                                           cusparseSpGEAMDescr_t descriptor, size_t* size) {
  return call(handle, [&](Handle&) -> cusparseStatus_t {
    SparseSum sum;
    SumObject object;
    LIB_TRY(read_geam({op_a, op_b, a, b, c, compute, alg, descriptor}, &sum, &object));
    return give("bufferSize", size, kNoWorkspace);
  });
}
cusparseStatus_t cusparseSpGEAM_nnz(cusparseHandle_t handle, cusparseOperation_t op_a,
                                    cusparseOperation_t op_b, const void*, cusparseSpMatDescr_t a,
                                    const void*, cusparseSpMatDescr_t b, cusparseSpMatDescr_t c,
                                    cudaDataType compute, cusparseSpGEAMAlg_t alg,
                                    cusparseSpGEAMDescr_t descriptor, void*) {
  return call(handle, [&](Handle& h) {
    return count_geam(h, {op_a, op_b, a, b, c, compute, alg, descriptor});
  });
}
cusparseStatus_t cusparseSpGEAM(cusparseHandle_t handle, cusparseOperation_t op_a,
                                cusparseOperation_t op_b, const void* alpha, cusparseSpMatDescr_t a,
                                const void* beta, cusparseSpMatDescr_t b, cusparseSpMatDescr_t c,
                                cudaDataType compute, cusparseSpGEAMAlg_t alg,
                                cusparseSpGEAMDescr_t descriptor, void*) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    SparseSum sum;
    SumObject object;
    Arrays arrays;
    LIB_TRY(read_geam({op_a, op_b, a, b, c, compute, alg, descriptor}, &sum, &object));
    if (!object.is_counted) return invalid("cusparseSpGEAM_nnz has not counted the elements");
    LIB_TRY(set_scalars(h, alpha, beta, sum, arrays));
    add_operands(arrays, sum, true);
    LIB_TRY(add_result(h, sum, false, arrays));
    return submit_sum(h, "cusparseSpGEAM", arrays, sum);
  });
}

}  // extern "C"

}  // namespace km::cusparse
