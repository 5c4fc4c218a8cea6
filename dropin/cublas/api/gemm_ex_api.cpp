// GEMM with types as arguments.
#include <vector>

#include "dropin/cublas/frame/exports.h"
#include "dropin/cublas/product/product.h"

namespace km::cublas {

#define KM_P_GEMM_EX(P, Int, T)                                                                  \
  P(cublasOperation_t, transa), P(cublasOperation_t, transb), P(Int, m), P(Int, n), P(Int, k),   \
      P(const void*, alpha), P(const void*, A), P(cudaDataType, Atype), P(Int, lda),             \
      P(const void*, B), P(cudaDataType, Btype), P(Int, ldb), P(const void*, beta), P(void*, C), \
      P(cudaDataType, Ctype), P(Int, ldc), P(cublasComputeType_t, computeType),                  \
      P(cublasGemmAlgo_t, algorithm)
#define KM_P_STRIDED_EX(P, Int, T)                                                                 \
  P(cublasOperation_t, transa), P(cublasOperation_t, transb), P(Int, m), P(Int, n), P(Int, k),     \
      P(const void*, alpha), P(const void*, A), P(cudaDataType, Atype), P(Int, lda),               \
      P(long long, strideA), P(const void*, B), P(cudaDataType, Btype), P(Int, ldb),               \
      P(long long, strideB), P(const void*, beta), P(void*, C), P(cudaDataType, Ctype),            \
      P(Int, ldc), P(long long, strideC), P(Int, batchCount), P(cublasComputeType_t, computeType), \
      P(cublasGemmAlgo_t, algorithm)
#define KM_P_BATCHED_EX(P, Int, T)                                                             \
  P(cublasOperation_t, transa), P(cublasOperation_t, transb), P(Int, m), P(Int, n), P(Int, k), \
      P(const void*, alpha), P(const void* const*, A), P(cudaDataType, Atype), P(Int, lda),    \
      P(const void* const*, B), P(cudaDataType, Btype), P(Int, ldb), P(const void*, beta),     \
      P(void* const*, C), P(cudaDataType, Ctype), P(Int, ldc), P(Int, batchCount),             \
      P(cublasComputeType_t, computeType), P(cublasGemmAlgo_t, algorithm)

namespace {

/// CUDA's numbers of the matrices' types.
struct MatrixTypes {
  int a, b, c;
};

Product product_of(Handle& h, const ComputeTypes& types, const MatrixTypes& matrices,
                   const GemmArguments& arguments) {
  Product product(h, types);
  product.set_types(matrices.a, matrices.b, matrices.c, matrices.c);
  product.set_gemm(arguments);
  return product;
}

cublasStatus_t find_types(cublasComputeType_t compute, cudaDataType type_a, ComputeTypes* out) {
  return find_compute_types(static_cast<int>(compute), static_cast<int>(type_a), out);
}

template <class Int>
cublasStatus_t gemm_ex(Handle& h, KM_P_GEMM_EX(KM_DECLARE, Int, void)) {
  ComputeTypes types;
  LIB_TRY(find_types(computeType, Atype, &types));
  return product_of(h, types, {Atype, Btype, Ctype},
                    {transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc})
      .submit();
}

template <class Int>
cublasStatus_t gemm_strided_batched_ex(Handle& h, KM_P_STRIDED_EX(KM_DECLARE, Int, void)) {
  ComputeTypes types;
  LIB_TRY(find_types(computeType, Atype, &types));
  Product product = product_of(h, types, {Atype, Btype, Ctype},
                               {transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc});
  product.set_batch(batchCount, strideA, strideB, strideC, strideC);
  return product.submit();
}

template <class Int>
cublasStatus_t gemm_batched_ex(Handle& h, KM_P_BATCHED_EX(KM_DECLARE, Int, void)) {
  ComputeTypes types;
  LIB_TRY(find_types(computeType, Atype, &types));
  Product product = product_of(
      h, types, {Atype, Btype, Ctype},
      {transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, const_cast<void**>(C), ldc});
  product.set_pointers(batchCount);
  return product.submit();
}

}  // namespace

#define KM_P_TYPED_EX(P, Int, T)                                                               \
  P(cublasOperation_t, transa), P(cublasOperation_t, transb), P(Int, m), P(Int, n), P(Int, k), \
      P(const T*, alpha), P(const void*, A), P(cudaDataType, Atype), P(Int, lda),              \
      P(const void*, B), P(cudaDataType, Btype), P(Int, ldb), P(const T*, beta), P(void*, C),  \
      P(cudaDataType, Ctype), P(Int, ldc)

namespace {

template <class T, class Int>
cublasStatus_t typed_gemm_ex(Handle& h, KM_P_TYPED_EX(KM_DECLARE, Int, T)) {
  ComputeTypes types;
  LIB_TRY(find_types(CUBLAS_COMPUTE_32F, Atype, &types));
  return product_of(h, types, {Atype, Btype, Ctype},
                    {transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc})
      .submit();
}

}  // namespace

#define KM_P_RANK_EX(P, Int, T)                                                   \
  P(cublasFillMode_t, uplo), P(cublasOperation_t, trans), P(Int, n), P(Int, k),   \
      P(const T*, alpha), P(const void*, A), P(cudaDataType, Atype), P(Int, lda), \
      P(const T*, beta), P(void*, C), P(cudaDataType, Ctype), P(Int, ldc)

namespace {

template <class T, class Int>
cublasStatus_t syrk_ex(Handle& h, KM_P_RANK_EX(KM_DECLARE, Int, T)) {
  if (trans != CUBLAS_OP_N && trans != CUBLAS_OP_T) return invalid("trans is %d", trans);
  Product product(h, ComputeTypes{KM_DATA_TYPE_C32, CUDA_C_32F});
  product.set_types(Atype, Atype, Ctype, Ctype);
  product.set_sizes(n, n, k);
  const bool plain = is_plain(trans);
  product.set_a(A, lda, plain ? CUBLAS_OP_N : CUBLAS_OP_T);
  product.set_b(A, lda, plain ? CUBLAS_OP_T : CUBLAS_OP_N);
  product.set_c(C, ldc);
  product.set_triangle(uplo, false);
  product.set_scalars(alpha, beta);
  return product.submit();
}

}  // namespace

#define KM_P_HERMITIAN_EX(P, Int, T)                                                  \
  P(cublasFillMode_t, uplo), P(cublasOperation_t, trans), P(Int, n), P(Int, k),       \
      P(const float*, alpha), P(const void*, A), P(cudaDataType, Atype), P(Int, lda), \
      P(const float*, beta), P(void*, C), P(cudaDataType, Ctype), P(Int, ldc)

namespace {

/// In this routine both scalars are real.
template <class Int>
cublasStatus_t herk_ex(Handle& h, KM_P_HERMITIAN_EX(KM_DECLARE, Int, void)) {
  if (trans != CUBLAS_OP_N && trans != CUBLAS_OP_C) return invalid("trans is %d", trans);
  if (Atype != CUDA_C_32F || Ctype != CUDA_C_32F) {
    return unsupported("types %d and %d; both are CUDA_C_32F", static_cast<int>(Atype),
                       static_cast<int>(Ctype));
  }
  return Request(h, KMB_BLAS_HERK, KM_DATA_TYPE_C32)
      .triangle(uplo)
      .operation("trans", trans)
      .n(n)
      .k(k)
      .real_alpha(alpha)
      .a(A, lda, is_plain(trans) ? n : k, is_plain(trans) ? k : n)
      .real_beta(beta)
      .c_written(C, ldc, n, n)
      .submit();
}

/// Computes grouped products group by group, each as a batch by arrays of pointers.
template <class Int>
struct Groups {
  const cublasOperation_t *transa, *transb;
  const Int *m, *n, *k;
  const void* alpha;
  const void* const* a;
  const Int* lda;
  const void* const* b;
  const Int* ldb;
  const void* beta;
  void* const* c;
  const Int* ldc;
  Int count;
  const Int* size;
};

/// Reads one group's entries from the arrays for all groups.
template <class Int>
struct Group {
  cublasOperation_t transa, transb;
  Int m, n, k, lda, ldb, ldc, size;
};

template <class Int>
cublasStatus_t read_group(const Groups<Int>& g, Int index, Group<Int>* out) {
  LIB_TRY(read_value("transa_array", g.transa + index, &out->transa));
  LIB_TRY(read_value("transb_array", g.transb + index, &out->transb));
  LIB_TRY(read_value("m_array", g.m + index, &out->m));
  LIB_TRY(read_value("n_array", g.n + index, &out->n));
  LIB_TRY(read_value("k_array", g.k + index, &out->k));
  LIB_TRY(read_value("lda_array", g.lda + index, &out->lda));
  LIB_TRY(read_value("ldb_array", g.ldb + index, &out->ldb));
  LIB_TRY(read_value("ldc_array", g.ldc + index, &out->ldc));
  return read_value("group_size", g.size + index, &out->size);
}

template <class Int>
cublasStatus_t submit_groups(Handle& h, const Groups<Int>& g, const ComputeTypes& types,
                             const MatrixTypes& matrices) {
  if (g.count < 0) return invalid("group_count is %lld", static_cast<long long>(g.count));
  const void* const needed[] = {g.transa, g.transb, g.m,    g.n,   g.k,   g.alpha,
                                g.lda,    g.ldb,    g.beta, g.ldc, g.size};
  for (const void* array : needed) {
    if (array == nullptr && g.count != 0) return invalid("an array of the groups is null");
  }
  const uint32_t scalar_bytes = bytes_of(types.scalars);
  int64_t first = 0;
  for (Int i = 0; i < g.count; ++i) {
    Group<Int> group;
    LIB_TRY(read_group(g, i, &group));
    Product product(h, types);
    product.set_types(matrices.a, matrices.b, matrices.c, matrices.c);
    product.set_sizes(group.m, group.n, group.k);
    product.set_a(g.a + first, group.lda, group.transa);
    product.set_b(g.b + first, group.ldb, group.transb);
    product.set_c(const_cast<void**>(g.c) + first, group.ldc);
    product.set_pointers(group.size);
    product.set_scalars(static_cast<const char*>(g.alpha) + i * scalar_bytes,
                        static_cast<const char*>(g.beta) + i * scalar_bytes);
    LIB_TRY(product.submit());
    first += group.size;
  }
  return CUBLAS_STATUS_SUCCESS;
}

template <class T>
const void* const* untyped(const T* const* pointers) {
  return reinterpret_cast<const void* const*>(pointers);
}

}  // namespace

#define KM_P_GROUPED(P, Int, T)                                                               \
  P(const cublasOperation_t*, transa), P(const cublasOperation_t*, transb), P(const Int*, m), \
      P(const Int*, n), P(const Int*, k), P(const T*, alpha), P(const T* const*, A),          \
      P(const Int*, lda), P(const T* const*, B), P(const Int*, ldb), P(const T*, beta),       \
      P(T* const*, C), P(const Int*, ldc), P(Int, group_count), P(const Int*, group_size)

namespace {

template <class T, class Int>
cublasStatus_t gemm_grouped(Handle& h, KM_P_GROUPED(KM_DECLARE, Int, T)) {
  const Groups<Int> groups{transa,     transb,      m,          n,
                           k,          alpha,       untyped(A), lda,
                           untyped(B), ldb,         beta,       reinterpret_cast<void* const*>(C),
                           ldc,        group_count, group_size};
  const int type = cuda_type_of(kTypeOf<T>);
  return submit_groups(h, groups, ComputeTypes{kTypeOf<T>, type}, {type, type, type});
}

}  // namespace

#define KM_P_GROUPED_EX(P, Int, T)                                                            \
  P(const cublasOperation_t*, transa), P(const cublasOperation_t*, transb), P(const Int*, m), \
      P(const Int*, n), P(const Int*, k), P(const void*, alpha), P(const void* const*, A),    \
      P(cudaDataType_t, Atype), P(const Int*, lda), P(const void* const*, B),                 \
      P(cudaDataType_t, Btype), P(const Int*, ldb), P(const void*, beta), P(void* const*, C), \
      P(cudaDataType_t, Ctype), P(const Int*, ldc), P(Int, group_count),                      \
      P(const Int*, group_size), P(cublasComputeType_t, computeType)

namespace {

template <class Int>
cublasStatus_t gemm_grouped_batched_ex(Handle& h, KM_P_GROUPED_EX(KM_DECLARE, Int, void)) {
  ComputeTypes types;
  LIB_TRY(find_compute_types(static_cast<int>(computeType), static_cast<int>(Atype), &types));
  const Groups<Int> groups{transa, transb, m,    n, k,   alpha,       A,         lda,
                           B,      ldb,    beta, C, ldc, group_count, group_size};
  return submit_groups(h, groups, types, {Atype, Btype, Ctype});
}

}  // namespace

// NVIDIA does not document how its function rounds and saturates, so it is not supported.
extern "C" cublasStatus_t cublasUint8gemmBias(cublasHandle_t handle, cublasOperation_t,
                                              cublasOperation_t, cublasOperation_t, int, int, int,
                                              const unsigned char*, int, int, const unsigned char*,
                                              int, int, unsigned char*, int, int, int, int) {
  return call(__func__, handle, [](Handle&) {
    return unsupported(
        "products of bytes with biases are not there; use cublasGemmEx with CUDA_R_8I and "
        "CUBLAS_COMPUTE_32I, and a kernel for biases and shift");
  });
}

KM_EXPORT(cublasGemmEx, KM_P_GEMM_EX, void, gemm_ex)
KM_EXPORT(cublasGemmStridedBatchedEx, KM_P_STRIDED_EX, void, gemm_strided_batched_ex)
KM_EXPORT(cublasGemmBatchedEx, KM_P_BATCHED_EX, void, gemm_batched_ex)
KM_EXPORT(cublasSgemmEx, KM_P_TYPED_EX, float, typed_gemm_ex)
KM_EXPORT(cublasCgemmEx, KM_P_TYPED_EX, cuComplex, typed_gemm_ex)
KM_EXPORT(cublasCgemm3mEx, KM_P_TYPED_EX, cuComplex, typed_gemm_ex)
KM_EXPORT(cublasCsyrkEx, KM_P_RANK_EX, cuComplex, syrk_ex)
KM_EXPORT(cublasCsyrk3mEx, KM_P_RANK_EX, cuComplex, syrk_ex)
KM_EXPORT(cublasCherkEx, KM_P_HERMITIAN_EX, cuComplex, herk_ex)
KM_EXPORT(cublasCherk3mEx, KM_P_HERMITIAN_EX, cuComplex, herk_ex)
KM_EXPORT_REAL(gemmGroupedBatched, , KM_P_GROUPED, gemm_grouped)
KM_EXPORT(cublasGemmGroupedBatchedEx, KM_P_GROUPED_EX, void, gemm_grouped_batched_ex)

}  // namespace km::cublas
