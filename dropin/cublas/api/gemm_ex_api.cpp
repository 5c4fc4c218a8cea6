// Products whose types are arguments.
#include <vector>

#include "dropin/cublas/frame/exports.h"
#include "dropin/cublas/product/product.h"

namespace km::cublas {

#define KM_P_GEMM_EX(Int, T)                                                                      \
  cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Int m, Int n, Int k, \
      const void *alpha, const void *A, cudaDataType Atype, Int lda, const void *B,               \
      cudaDataType Btype, Int ldb, const void *beta, void *C, cudaDataType Ctype, Int ldc,        \
      cublasComputeType_t computeType, cublasGemmAlgo_t
#define KM_P_STRIDED_EX(Int, T)                                                                   \
  cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Int m, Int n, Int k, \
      const void *alpha, const void *A, cudaDataType Atype, Int lda, long long strideA,           \
      const void *B, cudaDataType Btype, Int ldb, long long strideB, const void *beta, void *C,   \
      cudaDataType Ctype, Int ldc, long long strideC, Int batchCount,                             \
      cublasComputeType_t computeType, cublasGemmAlgo_t
#define KM_P_BATCHED_EX(Int, T)                                                                   \
  cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Int m, Int n, Int k, \
      const void *alpha, const void *const A[], cudaDataType Atype, Int lda,                      \
      const void *const B[], cudaDataType Btype, Int ldb, const void *beta, void *const C[],      \
      cudaDataType Ctype, Int ldc, Int batchCount, cublasComputeType_t computeType,               \
      cublasGemmAlgo_t

#define KM_EX_PRODUCT                                                                           \
  ComputeTypes types;                                                                           \
  BLAS_TRY(find_compute_types(static_cast<int>(computeType), static_cast<int>(Atype), &types)); \
  Product product(h, types);                                                                    \
  product.set_types(Atype, Btype, Ctype, Ctype);                                                \
  product.set_sizes(m, n, k);                                                                   \
  product.set_a(A, lda, transa);                                                                \
  product.set_b(B, ldb, transb);                                                                \
  product.set_scalars(alpha, beta)

KM_CUBLAS_ONE(cublasGemmEx, KM_P_GEMM_EX, void, {
  KM_EX_PRODUCT;
  product.set_c(C, ldc);
  return product.submit();
})
KM_CUBLAS_ONE(cublasGemmStridedBatchedEx, KM_P_STRIDED_EX, void, {
  KM_EX_PRODUCT;
  product.set_c(C, ldc);
  product.set_batch(batchCount, strideA, strideB, strideC, strideC);
  return product.submit();
})
KM_CUBLAS_ONE(cublasGemmBatchedEx, KM_P_BATCHED_EX, void, {
  KM_EX_PRODUCT;
  product.set_c(const_cast<void**>(C), ldc);
  product.set_pointers(batchCount);
  return product.submit();
})

#define KM_P_TYPED_EX(Int, T)                                                                     \
  cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Int m, Int n, Int k, \
      const T *alpha, const void *A, cudaDataType Atype, Int lda, const void *B,                  \
      cudaDataType Btype, Int ldb, const T *beta, void *C, cudaDataType Ctype, Int ldc
#define KM_TYPED_EX_BODY                             \
  {                                                  \
    constexpr auto computeType = CUBLAS_COMPUTE_32F; \
    KM_EX_PRODUCT;                                   \
    product.set_c(C, ldc);                           \
    return product.submit();                         \
  }
KM_CUBLAS_ONE(cublasSgemmEx, KM_P_TYPED_EX, float, KM_TYPED_EX_BODY)
KM_CUBLAS_ONE(cublasCgemmEx, KM_P_TYPED_EX, cuComplex, KM_TYPED_EX_BODY)
KM_CUBLAS_ONE(cublasCgemm3mEx, KM_P_TYPED_EX, cuComplex, KM_TYPED_EX_BODY)

#define KM_P_RANK_EX(Int, T)                                                              \
  cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, Int n, Int k,    \
      const T *alpha, const void *A, cudaDataType Atype, Int lda, const T *beta, void *C, \
      cudaDataType Ctype, Int ldc
#define KM_RANK_EX_BODY(conjugation, is_hermitian)                                          \
  {                                                                                         \
    if (trans != CUBLAS_OP_N && trans != conjugation) return invalid("trans is %d", trans); \
    Product product(h, ComputeTypes{KM_DATA_TYPE_C32, CUDA_C_32F});                         \
    product.set_types(Atype, Atype, Ctype, Ctype);                                          \
    product.set_sizes(n, n, k);                                                             \
    const bool plain = is_plain(trans);                                                     \
    product.set_a(A, lda, plain ? CUBLAS_OP_N : conjugation);                               \
    product.set_b(A, lda, plain ? conjugation : CUBLAS_OP_N);                               \
    product.set_c(C, ldc);                                                                  \
    product.set_triangle(uplo, is_hermitian);                                               \
    product.set_scalars(alpha, beta, is_hermitian);                                         \
    return product.submit();                                                                \
  }
KM_CUBLAS_ONE(cublasCsyrkEx, KM_P_RANK_EX, cuComplex, KM_RANK_EX_BODY(CUBLAS_OP_T, false))
KM_CUBLAS_ONE(cublasCsyrk3mEx, KM_P_RANK_EX, cuComplex, KM_RANK_EX_BODY(CUBLAS_OP_T, false))

#define KM_P_HERMITIAN_EX(Int, T)                                                                 \
  cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, Int n, Int k,            \
      const float *alpha, const void *A, cudaDataType Atype, Int lda, const float *beta, void *C, \
      cudaDataType Ctype, Int ldc
// Here both scalars are real.
#define KM_HERK_EX_BODY                                                                     \
  {                                                                                         \
    if (trans != CUBLAS_OP_N && trans != CUBLAS_OP_C) return invalid("trans is %d", trans); \
    if (Atype != CUDA_C_32F || Ctype != CUDA_C_32F) {                                       \
      return unsupported("types %d and %d; both are CUDA_C_32F", static_cast<int>(Atype),   \
                         static_cast<int>(Ctype));                                          \
    }                                                                                       \
    return Request(h, KMB_BLAS_HERK, KM_DATA_TYPE_C32)                                      \
        .triangle(uplo)                                                                     \
        .operation("trans", trans)                                                          \
        .n(n)                                                                               \
        .k(k)                                                                               \
        .real_alpha(alpha)                                                                  \
        .a(A, lda, is_plain(trans) ? n : k, is_plain(trans) ? k : n)                        \
        .real_beta(beta)                                                                    \
        .c_written(C, ldc, n, n)                                                            \
        .submit();                                                                          \
  }
KM_CUBLAS_ONE(cublasCherkEx, KM_P_HERMITIAN_EX, cuComplex, KM_HERK_EX_BODY)
KM_CUBLAS_ONE(cublasCherk3mEx, KM_P_HERMITIAN_EX, cuComplex, KM_HERK_EX_BODY)

namespace {

/// The products of one group after the other, each a batch by pointers.
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

/// One group, read from the arrays of all.
template <class Int>
struct Group {
  cublasOperation_t transa, transb;
  Int m, n, k, lda, ldb, ldc, size;
};

template <class Int>
cublasStatus_t read_group(const Groups<Int>& g, Int index, Group<Int>* out) {
  BLAS_TRY(read_value("transa_array", g.transa + index, &out->transa));
  BLAS_TRY(read_value("transb_array", g.transb + index, &out->transb));
  BLAS_TRY(read_value("m_array", g.m + index, &out->m));
  BLAS_TRY(read_value("n_array", g.n + index, &out->n));
  BLAS_TRY(read_value("k_array", g.k + index, &out->k));
  BLAS_TRY(read_value("lda_array", g.lda + index, &out->lda));
  BLAS_TRY(read_value("ldb_array", g.ldb + index, &out->ldb));
  BLAS_TRY(read_value("ldc_array", g.ldc + index, &out->ldc));
  return read_value("group_size", g.size + index, &out->size);
}

template <class Int>
cublasStatus_t submit_groups(Handle& h, const Groups<Int>& g, const ComputeTypes& types,
                             const int (&of)[3]) {
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
    BLAS_TRY(read_group(g, i, &group));
    Product product(h, types);
    product.set_types(of[0], of[1], of[2], of[2]);
    product.set_sizes(group.m, group.n, group.k);
    product.set_a(g.a + first, group.lda, group.transa);
    product.set_b(g.b + first, group.ldb, group.transb);
    product.set_c(const_cast<void**>(g.c) + first, group.ldc);
    product.set_pointers(group.size);
    product.set_scalars(static_cast<const char*>(g.alpha) + i * scalar_bytes,
                        static_cast<const char*>(g.beta) + i * scalar_bytes);
    BLAS_TRY(product.submit());
    first += group.size;
  }
  return CUBLAS_STATUS_SUCCESS;
}

template <class T>
const void* const* untyped(const T* const* pointers) {
  return reinterpret_cast<const void* const*>(pointers);
}

}  // namespace

#define KM_P_GROUPED(Int, T)                                                                 \
  cublasHandle_t handle, const cublasOperation_t transa[], const cublasOperation_t transb[], \
      const Int m[], const Int n[], const Int k[], const T alpha[], const T *const A[],      \
      const Int lda[], const T *const B[], const Int ldb[], const T beta[], T *const C[],    \
      const Int ldc[], Int group_count, const Int group_size[]
#define KM_GROUPED_BODY                                                                    \
  {                                                                                        \
    using Size = decltype(group_count);                                                    \
    const Groups<Size> groups{                                                             \
        transa,     transb,      m,          n,   k,    alpha,                             \
        untyped(A), lda,         untyped(B), ldb, beta, reinterpret_cast<void* const*>(C), \
        ldc,        group_count, group_size};                                              \
    const int type = cuda_type_of(kTypeOf<T>);                                             \
    return submit_groups(h, groups, ComputeTypes{kTypeOf<T>, type}, {type, type, type});   \
  }
KM_CUBLAS_REAL(gemmGroupedBatched, , KM_P_GROUPED, KM_GROUPED_BODY)

#define KM_P_GROUPED_EX(Int, T)                                                                  \
  cublasHandle_t handle, const cublasOperation_t transa[], const cublasOperation_t transb[],     \
      const Int m[], const Int n[], const Int k[], const void *alpha, const void *const A[],     \
      cudaDataType_t Atype, const Int lda[], const void *const B[], cudaDataType_t Btype,        \
      const Int ldb[], const void *beta, void *const C[], cudaDataType_t Ctype, const Int ldc[], \
      Int group_count, const Int group_size[], cublasComputeType_t computeType
KM_CUBLAS_ONE(cublasGemmGroupedBatchedEx, KM_P_GROUPED_EX, void, {
  using Size = decltype(group_count);
  ComputeTypes types;
  BLAS_TRY(find_compute_types(static_cast<int>(computeType), static_cast<int>(Atype), &types));
  const Groups<Size> groups{transa, transb, m,    n, k,   alpha,       A,         lda,
                            B,      ldb,    beta, C, ldc, group_count, group_size};
  return submit_groups(h, groups, types, {Atype, Btype, Ctype});
})

// How the library of NVIDIA rounds and saturates here is not documented.
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

}  // namespace km::cublas
