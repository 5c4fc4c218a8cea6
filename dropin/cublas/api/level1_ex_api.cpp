// Routines of level 1 whose types are arguments. Vectors of one of the four types of BLAS go where
// the typed routines go; real ones of 16 bits, or of two types, to kernels that compute in f32.
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

/// The type of BLAS that all arguments have; KM_DATA_TYPE_INVALID: they differ, or it is none.
km_data_type common_type(std::initializer_list<int> types) {
  const int first = *types.begin();
  for (const int type : types) {
    if (type != first) return KM_DATA_TYPE_INVALID;
  }
  return is_half(first) ? KM_DATA_TYPE_INVALID : km_type_of(first);
}

/// Results of norms of complex vectors are real.
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

/// One or two vectors and a kernel with one thread for each element.
cublasStatus_t map_pair(Handle& h, VectorOperation operation, const VectorPair& v,
                        const void* alpha, const void* beta, int scalar_type) {
  BLAS_TRY(no_such_types({v.type_x, v.type_y, scalar_type}));
  if (v.n <= 0) return CUBLAS_STATUS_SUCCESS;
  VectorCall call(h, operation);
  BLAS_TRY(call.set_x(v.x, v.type_x, v.n, v.incx));
  if (v.y != nullptr) BLAS_TRY(call.set_y(v.y, v.type_y, v.incy));
  if (alpha != nullptr) BLAS_TRY(call.set_alpha("alpha", alpha, scalar_type));
  if (beta != nullptr) BLAS_TRY(call.set_beta("beta", beta, scalar_type));
  return call.map("map_vectors");
}

cublasStatus_t reduce_pair(Handle& h, VectorOperation operation, const VectorPair& v, void* result,
                           int result_type) {
  BLAS_TRY(no_such_types({v.type_x, v.type_y, result_type}));
  VectorCall call(h, operation);
  BLAS_TRY(call.set_x(v.x, v.type_x, v.n, v.incx));
  if (v.y != nullptr) BLAS_TRY(call.set_y(v.y, v.type_y, v.incy));
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
  BLAS_REQUIRE(v.y);
  return reduce_pair(h, kVectorDot, v, result, result_type);
}

}  // namespace

#define KM_P_NORM_EX(Int, T)                                                               \
  cublasHandle_t handle, Int n, const void *x, cudaDataType xType, Int incx, void *result, \
      cudaDataType resultType, cudaDataType
KM_CUBLAS_ONE(cublasNrm2Ex, KM_P_NORM_EX, void, {
  return norm(h, KMB_BLAS_NRM2, kVectorNrm2, n, x, xType, incx, result, resultType);
})
KM_CUBLAS_ONE(cublasAsumEx, KM_P_NORM_EX, void, {
  return norm(h, KMB_BLAS_ASUM, kVectorAsum, n, x, xType, incx, result, resultType);
})

#define KM_P_DOT_EX(Int, T)                                                                 \
  cublasHandle_t handle, Int n, const void *x, cudaDataType xType, Int incx, const void *y, \
      cudaDataType yType, Int incy, void *result, cudaDataType resultType, cudaDataType
KM_CUBLAS_ONE(cublasDotEx, KM_P_DOT_EX, void, {
  return product(h, KMB_BLAS_DOT, {n, x, xType, incx, y, yType, incy}, result, resultType);
})
KM_CUBLAS_ONE(cublasDotcEx, KM_P_DOT_EX, void, {
  return product(h, KMB_BLAS_DOTC, {n, x, xType, incx, y, yType, incy}, result, resultType);
})

#define KM_P_SCAL_EX(Int, T)                                                        \
  cublasHandle_t handle, Int n, const void *alpha, cudaDataType alphaType, void *x, \
      cudaDataType xType, Int incx, cudaDataType
KM_CUBLAS_ONE(cublasScalEx, KM_P_SCAL_EX, void, {
  if (n <= 0 || incx <= 0) return CUBLAS_STATUS_SUCCESS;
  const km_data_type known = common_type({alphaType, xType});
  if (known != KM_DATA_TYPE_INVALID) {
    return Request(h, KMB_BLAS_SCAL, known).n(n).alpha(alpha).x(x, incx, n, true).submit();
  }
  BLAS_REQUIRE(alpha);
  return map_pair(h, kVectorScal, {n, x, xType, incx, nullptr, CUDA_R_32F, 1}, alpha, nullptr,
                  alphaType);
})

#define KM_P_AXPY_EX(Int, T)                                                              \
  cublasHandle_t handle, Int n, const void *alpha, cudaDataType alphaType, const void *x, \
      cudaDataType xType, Int incx, void *y, cudaDataType yType, Int incy, cudaDataType
KM_CUBLAS_ONE(cublasAxpyEx, KM_P_AXPY_EX, void, {
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
  BLAS_REQUIRE(alpha);
  BLAS_REQUIRE(y);
  return map_pair(h, kVectorAxpy, {n, x, xType, incx, y, yType, incy}, alpha, nullptr, alphaType);
})

#define KM_P_COPY_EX(Int, T)                                                          \
  cublasHandle_t handle, Int n, const void *x, cudaDataType xType, Int incx, void *y, \
      cudaDataType yType, Int incy
#define KM_P_SWAP_EX(Int, T)                                                    \
  cublasHandle_t handle, Int n, void *x, cudaDataType xType, Int incx, void *y, \
      cudaDataType yType, Int incy
#define KM_MOVE_BODY(routine, operation, x_is_written)                                   \
  {                                                                                      \
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;                                            \
    const km_data_type known = common_type({xType, yType});                              \
    if (known != KM_DATA_TYPE_INVALID) {                                                 \
      return Request(h, routine, known)                                                  \
          .n(n)                                                                          \
          .x(x, incx, n, x_is_written)                                                   \
          .y(y, incy, n, true)                                                           \
          .submit();                                                                     \
    }                                                                                    \
    BLAS_REQUIRE(y);                                                                     \
    return map_pair(h, operation, {n, x, xType, incx, y, yType, incy}, nullptr, nullptr, \
                    CUDA_R_32F);                                                         \
  }
KM_CUBLAS_ONE(cublasCopyEx, KM_P_COPY_EX, void, KM_MOVE_BODY(KMB_BLAS_COPY, kVectorCopy, false))
KM_CUBLAS_ONE(cublasSwapEx, KM_P_SWAP_EX, void, KM_MOVE_BODY(KMB_BLAS_SWAP, kVectorSwap, true))

#define KM_P_INDEX_EX(Int, T) \
  cublasHandle_t handle, Int n, const void *x, cudaDataType xType, Int incx, Int *result
#define KM_INDEX_EX_BODY(is_least, operation)                                      \
  {                                                                                \
    const km_data_type known = common_type({xType});                               \
    if (known != KM_DATA_TYPE_INVALID || n <= 0 || incx <= 0) {                    \
      return find_index(h, known, is_least, n, x, incx, result, sizeof *result);   \
    }                                                                              \
    VectorCall vectors(h, operation);                                              \
    BLAS_TRY(no_such_types({xType}));                                              \
    BLAS_TRY(vectors.set_x(x, xType, n, incx));                                    \
    return vectors.reduce("find_extreme", result, sizeof *result, sizeof *result); \
  }
KM_CUBLAS_ONE(cublasIamaxEx, KM_P_INDEX_EX, void, KM_INDEX_EX_BODY(false, kVectorLargest))
KM_CUBLAS_ONE(cublasIaminEx, KM_P_INDEX_EX, void, KM_INDEX_EX_BODY(true, kVectorLeast))

#define KM_P_ROT_EX(Int, T)                                                            \
  cublasHandle_t handle, Int n, void *x, cudaDataType xType, Int incx, void *y,        \
      cudaDataType yType, Int incy, const void *c, const void *s, cudaDataType csType, \
      cudaDataType
KM_CUBLAS_ONE(cublasRotEx, KM_P_ROT_EX, void, {
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  const km_data_type known = common_type({xType, yType});
  if (known == KM_DATA_TYPE_INVALID) {
    BLAS_REQUIRE(y);
    BLAS_REQUIRE(c);
    BLAS_REQUIRE(s);
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
})

#define KM_P_ROTM_EX(Int, T)                                                    \
  cublasHandle_t handle, Int n, void *x, cudaDataType xType, Int incx, void *y, \
      cudaDataType yType, Int incy, const void *param, cudaDataType paramType, cudaDataType
KM_CUBLAS_ONE(cublasRotmEx, KM_P_ROTM_EX, void, {
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
})

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

}  // namespace km::cublas
