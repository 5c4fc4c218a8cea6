// Level 1 routines with types as arguments. Vectors of one of BLAS's four types use the typed
// routines; real 16-bit types and mixed types use kernels that compute in f32.
#include <initializer_list>

#include "dropin/cublas/frame/exports.h"
#include "dropin/cublas/product/product.h"
#include "dropin/cublas/vectors/reduction.h"
#include "dropin/cublas/vectors/rotation.h"
#include "dropin/cublas/vectors/vectors.h"

namespace km::cublas {

namespace {

bool is_half(int type) { return type == CUDA_R_16F || type == CUDA_R_16BF; }
bool is_small_real(int type) { return is_half(type) || type == CUDA_R_32F; }

/// BLAS's type that all arguments have; KM_DATA_TYPE_INVALID if they differ or if it is not one of
/// BLAS's.
km_data_type common_type(std::initializer_list<int> types) {
  const int first = *types.begin();
  for (const int type : types) {
    if (type != first) return KM_DATA_TYPE_INVALID;
  }
  return is_half(first) ? KM_DATA_TYPE_INVALID : km_type_of(first);
}

/// Norms of complex vectors are real.
int real_type(int type) {
  return type == CUDA_C_32F ? CUDA_R_32F : type == CUDA_C_64F ? CUDA_R_64F : type;
}

cublasStatus_t no_such_types(std::initializer_list<int> types) {
  for (const int type : types) {
    if (is_small_real(type)) continue;
    return unsupported("the type %d beside the others; give all of one type", type);
  }
  return CUBLAS_STATUS_SUCCESS;
}

struct VectorPair {
  int64_t n;
  const void* x;
  int type_x;
  int64_t incx;
  const void* y;
  int type_y;
  int64_t incy;
};

/// Launches an elementwise kernel on one or two vectors.
cublasStatus_t map_pair(Handle& h, VectorOperation operation, const VectorPair& v,
                        const void* alpha, const void* beta, int scalar_type) {
  LIB_TRY(no_such_types({v.type_x, v.type_y, scalar_type}));
  if (v.n <= 0) return CUBLAS_STATUS_SUCCESS;
  VectorCall call(h, operation);
  LIB_TRY(call.set_x(v.x, v.type_x, v.n, v.incx));
  if (v.y != nullptr) LIB_TRY(call.set_y(v.y, v.type_y, v.incy));
  if (alpha != nullptr) LIB_TRY(call.set_alpha("alpha", alpha, scalar_type));
  if (beta != nullptr) LIB_TRY(call.set_beta("beta", beta, scalar_type));
  return call.map("map_vectors");
}

cublasStatus_t reduce_pair(Handle& h, VectorOperation operation, const VectorPair& v, void* result,
                           int result_type) {
  LIB_TRY(no_such_types({v.type_x, v.type_y, result_type}));
  VectorCall call(h, operation);
  LIB_TRY(call.set_x(v.x, v.type_x, v.n, v.incx));
  if (v.y != nullptr) LIB_TRY(call.set_y(v.y, v.type_y, v.incy));
  return call.reduce("reduce_vectors", result, result_type, bytes_of(result_type));
}

cublasStatus_t norm(Handle& h, kmb_blas_routine routine, VectorOperation operation, int64_t n,
                    const void* x, int type, int64_t incx, void* result, int result_type) {
  const km_data_type known = common_type({type});
  if (known != KM_DATA_TYPE_INVALID) {
    if (result_type != real_type(type)) {
      return unsupported("a result of type %d; that of x is %d", result_type, real_type(type));
    }
    return reduce(h, Reduction{routine, known, bytes_of(result_type)}, n, x, incx, nullptr, 0,
                  result);
  }
  if (n <= 0 || incx <= 0) {
    return reduce(h, Reduction{routine, KM_DATA_TYPE_F32, bytes_of(result_type)}, 0, x, incx,
                  nullptr, 0, result);
  }
  return reduce_pair(h, operation, {n, x, type, incx, nullptr, CUDA_R_32F, 1}, result, result_type);
}

cublasStatus_t product(Handle& h, kmb_blas_routine routine, const VectorPair& v, void* result,
                       int result_type) {
  const km_data_type known = common_type({v.type_x, v.type_y, result_type});
  if (known != KM_DATA_TYPE_INVALID || v.n <= 0) {
    return reduce(h, Reduction{routine, known, bytes_of(result_type)}, v.n, v.x, v.incx, v.y,
                  v.incy, result);
  }
  LIB_REQUIRE(v.y);
  return reduce_pair(h, kVectorDot, v, result, result_type);
}

}  // namespace

#define KM_P_NORM_EX(P, Int, T)                                                         \
  P(Int, n), P(const void*, x), P(cudaDataType, xType), P(Int, incx), P(void*, result), \
      P(cudaDataType, resultType), P(cudaDataType, algorithm)

namespace {

template <class Int>
cublasStatus_t nrm2_ex(Handle& h, KM_P_NORM_EX(KM_DECLARE, Int, void)) {
  return norm(h, KMB_BLAS_NRM2, kVectorNrm2, n, x, xType, incx, result, resultType);
}

template <class Int>
cublasStatus_t asum_ex(Handle& h, KM_P_NORM_EX(KM_DECLARE, Int, void)) {
  return norm(h, KMB_BLAS_ASUM, kVectorAsum, n, x, xType, incx, result, resultType);
}

}  // namespace

#define KM_P_DOT_EX(P, Int, T)                                                             \
  P(Int, n), P(const void*, x), P(cudaDataType, xType), P(Int, incx), P(const void*, y),   \
      P(cudaDataType, yType), P(Int, incy), P(void*, result), P(cudaDataType, resultType), \
      P(cudaDataType, algorithm)

namespace {

template <class Int>
cublasStatus_t dot_ex(Handle& h, KM_P_DOT_EX(KM_DECLARE, Int, void)) {
  return product(h, KMB_BLAS_DOT, {n, x, xType, incx, y, yType, incy}, result, resultType);
}

template <class Int>
cublasStatus_t dotc_ex(Handle& h, KM_P_DOT_EX(KM_DECLARE, Int, void)) {
  return product(h, KMB_BLAS_DOTC, {n, x, xType, incx, y, yType, incy}, result, resultType);
}

}  // namespace

#define KM_P_SCAL_EX(P, Int, T)                                              \
  P(Int, n), P(const void*, alpha), P(cudaDataType, alphaType), P(void*, x), \
      P(cudaDataType, xType), P(Int, incx), P(cudaDataType, algorithm)

namespace {

template <class Int>
cublasStatus_t scal_ex(Handle& h, KM_P_SCAL_EX(KM_DECLARE, Int, void)) {
  if (n <= 0 || incx <= 0) return CUBLAS_STATUS_SUCCESS;
  const km_data_type known = common_type({alphaType, xType});
  if (known != KM_DATA_TYPE_INVALID) {
    return Request(h, KMB_BLAS_SCAL, known).n(n).alpha(alpha).x(x, incx, n, true).submit();
  }
  LIB_REQUIRE(alpha);
  return map_pair(h, kVectorScal, {n, x, xType, incx, nullptr, CUDA_R_32F, 1}, alpha, nullptr,
                  alphaType);
}

}  // namespace

#define KM_P_AXPY_EX(P, Int, T)                                                                \
  P(Int, n), P(const void*, alpha), P(cudaDataType, alphaType), P(const void*, x),             \
      P(cudaDataType, xType), P(Int, incx), P(void*, y), P(cudaDataType, yType), P(Int, incy), \
      P(cudaDataType, algorithm)

namespace {

template <class Int>
cublasStatus_t axpy_ex(Handle& h, KM_P_AXPY_EX(KM_DECLARE, Int, void)) {
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  const km_data_type known = common_type({alphaType, xType, yType});
  if (known != KM_DATA_TYPE_INVALID) {
    return Request(h, KMB_BLAS_AXPY, known)
        .n(n)
        .alpha(alpha)
        .x(x, incx, n)
        .y(y, incy, n, true)
        .submit();
  }
  LIB_REQUIRE(alpha);
  LIB_REQUIRE(y);
  return map_pair(h, kVectorAxpy, {n, x, xType, incx, y, yType, incy}, alpha, nullptr, alphaType);
}

}  // namespace

#define KM_P_COPY_EX(P, Int, T)                                                    \
  P(Int, n), P(const void*, x), P(cudaDataType, xType), P(Int, incx), P(void*, y), \
      P(cudaDataType, yType), P(Int, incy)
#define KM_P_SWAP_EX(P, Int, T)                                              \
  P(Int, n), P(void*, x), P(cudaDataType, xType), P(Int, incx), P(void*, y), \
      P(cudaDataType, yType), P(Int, incy)

namespace {

/// Only swap writes to x.
template <kmb_blas_routine kRoutine, VectorOperation kOperation, class Vector, class Int>
cublasStatus_t move_ex(Handle& h, Int n, Vector* x, cudaDataType xType, Int incx, void* y,
                       cudaDataType yType, Int incy) {
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  const km_data_type known = common_type({xType, yType});
  if (known != KM_DATA_TYPE_INVALID) {
    return Request(h, kRoutine, known)
        .n(n)
        .x(x, incx, n, kRoutine == KMB_BLAS_SWAP)
        .y(y, incy, n, true)
        .submit();
  }
  LIB_REQUIRE(y);
  return map_pair(h, kOperation, {n, x, xType, incx, y, yType, incy}, nullptr, nullptr, CUDA_R_32F);
}

}  // namespace

#define KM_P_INDEX_EX(P, Int, T) \
  P(Int, n), P(const void*, x), P(cudaDataType, xType), P(Int, incx), P(Int*, result)

namespace {

template <bool kIsLeast, VectorOperation kOperation, class Int>
cublasStatus_t index_ex(Handle& h, KM_P_INDEX_EX(KM_DECLARE, Int, void)) {
  const km_data_type known = common_type({xType});
  if (known != KM_DATA_TYPE_INVALID || n <= 0 || incx <= 0) {
    return find_index(h, known, kIsLeast, n, x, incx, result, sizeof *result);
  }
  VectorCall vectors(h, kOperation);
  LIB_TRY(no_such_types({xType}));
  LIB_TRY(vectors.set_x(x, xType, n, incx));
  return vectors.reduce("find_extreme", result, sizeof *result, sizeof *result);
}

}  // namespace

#define KM_P_ROT_EX(P, Int, T)                                                    \
  P(Int, n), P(void*, x), P(cudaDataType, xType), P(Int, incx), P(void*, y),      \
      P(cudaDataType, yType), P(Int, incy), P(const void*, c), P(const void*, s), \
      P(cudaDataType, csType), P(cudaDataType, algorithm)

namespace {

template <class Int>
cublasStatus_t rot_ex(Handle& h, KM_P_ROT_EX(KM_DECLARE, Int, void)) {
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  const km_data_type known = common_type({xType, yType});
  if (known == KM_DATA_TYPE_INVALID) {
    LIB_REQUIRE(y);
    LIB_REQUIRE(c);
    LIB_REQUIRE(s);
    return map_pair(h, kVectorRot, {n, x, xType, incx, y, yType, incy}, c, s, csType);
  }
  if (is_complex(known) && csType == xType) {
    return rotate_complex(h, known, n, x, incx, y, incy, c, s);
  }
  if (csType != real_type(xType)) {
    return unsupported("c and s of type %d; those of x have %d", csType, real_type(xType));
  }
  return Request(h, KMB_BLAS_ROT, known)
      .n(n)
      .x(x, incx, n, true)
      .y(y, incy, n, true)
      .rotation("c", c, 0, 1)
      .rotation("s", s, 1, 1)
      .submit();
}

}  // namespace

#define KM_P_ROTM_EX(P, Int, T)                                                                \
  P(Int, n), P(void*, x), P(cudaDataType, xType), P(Int, incx), P(void*, y),                   \
      P(cudaDataType, yType), P(Int, incy), P(const void*, param), P(cudaDataType, paramType), \
      P(cudaDataType, algorithm)

namespace {

template <class Int>
cublasStatus_t rotm_ex(Handle& h, KM_P_ROTM_EX(KM_DECLARE, Int, void)) {
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  const km_data_type known = common_type({xType, yType, paramType});
  if (known != KM_DATA_TYPE_F32 && known != KM_DATA_TYPE_F64) {
    return unsupported("types %d, %d and %d; all are CUDA_R_32F or all CUDA_R_64F", xType, yType,
                       paramType);
  }
  return Request(h, KMB_BLAS_ROTM, known)
      .n(n)
      .x(x, incx, n, true)
      .y(y, incy, n, true)
      .rotation("param", param, 0, 5)
      .submit();
}

}  // namespace

extern "C" {

cublasStatus_t cublasRotgEx(cublasHandle_t handle, void* a, void* b, cudaDataType abType, void* c,
                            void* s, cudaDataType csType, cudaDataType) {
  return call(__func__, handle, [&](Handle& h) -> cublasStatus_t {
    const km_data_type known = common_type({abType});
    const bool fits =
        is_complex(known) ? csType == abType || csType == real_type(abType) : csType == abType;
    if (known == KM_DATA_TYPE_INVALID || !fits) {
      return unsupported("types %d and %d; c has that of a, or of its parts", abType, csType);
    }
    return make_rotation(h, known, a, b, c, s);
  });
}

cublasStatus_t cublasRotmgEx(cublasHandle_t handle, void* d1, cudaDataType d1Type, void* d2,
                             cudaDataType d2Type, void* x1, cudaDataType x1Type, const void* y1,
                             cudaDataType y1Type, void* param, cudaDataType paramType,
                             cudaDataType) {
  return call(__func__, handle, [&](Handle& h) -> cublasStatus_t {
    const km_data_type known = common_type({d1Type, d2Type, x1Type, y1Type, paramType});
    if (known != KM_DATA_TYPE_F32 && known != KM_DATA_TYPE_F64) {
      return unsupported("types %d to %d; all are CUDA_R_32F or all CUDA_R_64F", d1Type, paramType);
    }
    return make_modified_rotation(h, known, d1, d2, x1, y1, param);
  });
}

}  // extern "C"

KM_EXPORT(cublasNrm2Ex, KM_P_NORM_EX, void, nrm2_ex)
KM_EXPORT(cublasAsumEx, KM_P_NORM_EX, void, asum_ex)
KM_EXPORT(cublasDotEx, KM_P_DOT_EX, void, dot_ex)
KM_EXPORT(cublasDotcEx, KM_P_DOT_EX, void, dotc_ex)
KM_EXPORT(cublasScalEx, KM_P_SCAL_EX, void, scal_ex)
KM_EXPORT(cublasAxpyEx, KM_P_AXPY_EX, void, axpy_ex)
KM_EXPORT(cublasCopyEx, KM_P_COPY_EX, void, move_ex<KMB_BLAS_COPY, kVectorCopy>)
KM_EXPORT(cublasSwapEx, KM_P_SWAP_EX, void, move_ex<KMB_BLAS_SWAP, kVectorSwap>)
KM_EXPORT(cublasIamaxEx, KM_P_INDEX_EX, void, index_ex<false, kVectorLargest>)
KM_EXPORT(cublasIaminEx, KM_P_INDEX_EX, void, index_ex<true, kVectorLeast>)
KM_EXPORT(cublasRotEx, KM_P_ROT_EX, void, rot_ex)
KM_EXPORT(cublasRotmEx, KM_P_ROTM_EX, void, rotm_ex)

}  // namespace km::cublas
