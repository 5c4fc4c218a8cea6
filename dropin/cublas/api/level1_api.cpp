// BLAS of level 1: vectors.
#include "dropin/cublas/frame/exports.h"
#include "dropin/cublas/vectors/reduction.h"
#include "dropin/cublas/vectors/rotation.h"

namespace km::cublas {

namespace {

#define KM_P_TWO(Int, T) cublasHandle_t handle, Int n, const T *x, Int incx, T *y, Int incy
#define KM_P_SWAP(Int, T) cublasHandle_t handle, Int n, T *x, Int incx, T *y, Int incy
#define KM_P_AXPY(Int, T) \
  cublasHandle_t handle, Int n, const T *alpha, const T *x, Int incx, T *y, Int incy
#define KM_P_SCAL(Int, T) cublasHandle_t handle, Int n, const T *alpha, T *x, Int incx
#define KM_P_REAL_SCAL(Int, T) cublasHandle_t handle, Int n, const Real<T>*alpha, T *x, Int incx
#define KM_P_DOT(Int, T) \
  cublasHandle_t handle, Int n, const T *x, Int incx, const T *y, Int incy, T *result
#define KM_P_NORM(Int, T) cublasHandle_t handle, Int n, const T *x, Int incx, Real<T>*result
#define KM_P_INDEX(Int, T) cublasHandle_t handle, Int n, const T *x, Int incx, Int *result
#define KM_P_ROT(Int, T) \
  cublasHandle_t handle, Int n, T *x, Int incx, T *y, Int incy, const Real<T>*c, const Real<T>*s
#define KM_P_COMPLEX_ROT(Int, T) \
  cublasHandle_t handle, Int n, T *x, Int incx, T *y, Int incy, const Real<T>*c, const T *s
#define KM_P_ROTM(Int, T) \
  cublasHandle_t handle, Int n, T *x, Int incx, T *y, Int incy, const T *param

/// BLAS does nothing for vectors without elements.
template <class Int>
bool is_nothing(Int n) {
  return n <= 0;
}

}  // namespace

KM_CUBLAS_ALL(copy, _v2, KM_P_TWO, {
  if (is_nothing(n)) return CUBLAS_STATUS_SUCCESS;
  return Request(h, KMB_BLAS_COPY, kTypeOf<T>).n(n).x(x, incx, n).y(y, incy, n, true).submit();
})

KM_CUBLAS_ALL(swap, _v2, KM_P_SWAP, {
  if (is_nothing(n)) return CUBLAS_STATUS_SUCCESS;
  return Request(h, KMB_BLAS_SWAP, kTypeOf<T>)
      .n(n)
      .x(x, incx, n, true)
      .y(y, incy, n, true)
      .submit();
})

KM_CUBLAS_ALL(axpy, _v2, KM_P_AXPY, {
  if (is_nothing(n)) return CUBLAS_STATUS_SUCCESS;
  return Request(h, KMB_BLAS_AXPY, kTypeOf<T>)
      .n(n)
      .alpha(alpha)
      .x(x, incx, n)
      .y(y, incy, n, true)
      .submit();
})

KM_CUBLAS_ALL(scal, _v2, KM_P_SCAL, {
  if (is_nothing(n) || incx <= 0) return CUBLAS_STATUS_SUCCESS;
  return Request(h, KMB_BLAS_SCAL, kTypeOf<T>).n(n).alpha(alpha).x(x, incx, n, true).submit();
})
KM_CUBLAS_ONE(cublasCsscal_v2, KM_P_REAL_SCAL, cuComplex, {
  if (is_nothing(n) || incx <= 0) return CUBLAS_STATUS_SUCCESS;
  return Request(h, KMB_BLAS_SCAL, kTypeOf<T>).n(n).real_alpha(alpha).x(x, incx, n, true).submit();
})
KM_CUBLAS_ONE(cublasZdscal_v2, KM_P_REAL_SCAL, cuDoubleComplex, {
  if (is_nothing(n) || incx <= 0) return CUBLAS_STATUS_SUCCESS;
  return Request(h, KMB_BLAS_SCAL, kTypeOf<T>).n(n).real_alpha(alpha).x(x, incx, n, true).submit();
})

#define KM_DOT_BODY(routine)                                                                  \
  {                                                                                           \
    return reduce(h, Reduction{routine, kTypeOf<T>, sizeof(T)}, n, x, incx, y, incy, result); \
  }
KM_CUBLAS_REAL(dot, _v2, KM_P_DOT, KM_DOT_BODY(KMB_BLAS_DOT))
KM_CUBLAS_COMPLEX(dotu, _v2, KM_P_DOT, KM_DOT_BODY(KMB_BLAS_DOT))
KM_CUBLAS_COMPLEX(dotc, _v2, KM_P_DOT, KM_DOT_BODY(KMB_BLAS_DOTC))

#define KM_NORM_BODY(routine)                                                                 \
  {                                                                                           \
    return reduce(h, Reduction{routine, kTypeOf<T>, sizeof(Real<T>)}, n, x, incx, nullptr, 0, \
                  result);                                                                    \
  }
KM_CUBLAS_REAL(nrm2, _v2, KM_P_NORM, KM_NORM_BODY(KMB_BLAS_NRM2))
KM_CUBLAS_ONE(cublasScnrm2_v2, KM_P_NORM, cuComplex, KM_NORM_BODY(KMB_BLAS_NRM2))
KM_CUBLAS_ONE(cublasDznrm2_v2, KM_P_NORM, cuDoubleComplex, KM_NORM_BODY(KMB_BLAS_NRM2))
KM_CUBLAS_REAL(asum, _v2, KM_P_NORM, KM_NORM_BODY(KMB_BLAS_ASUM))
KM_CUBLAS_ONE(cublasScasum_v2, KM_P_NORM, cuComplex, KM_NORM_BODY(KMB_BLAS_ASUM))
KM_CUBLAS_ONE(cublasDzasum_v2, KM_P_NORM, cuDoubleComplex, KM_NORM_BODY(KMB_BLAS_ASUM))

#define KM_INDEX_BODY(is_least)                                                     \
  {                                                                                 \
    return find_index(h, kTypeOf<T>, is_least, n, x, incx, result, sizeof *result); \
  }
KM_CUBLAS_ONE(cublasIsamax_v2, KM_P_INDEX, float, KM_INDEX_BODY(false))
KM_CUBLAS_ONE(cublasIdamax_v2, KM_P_INDEX, double, KM_INDEX_BODY(false))
KM_CUBLAS_ONE(cublasIcamax_v2, KM_P_INDEX, cuComplex, KM_INDEX_BODY(false))
KM_CUBLAS_ONE(cublasIzamax_v2, KM_P_INDEX, cuDoubleComplex, KM_INDEX_BODY(false))
KM_CUBLAS_ONE(cublasIsamin_v2, KM_P_INDEX, float, KM_INDEX_BODY(true))
KM_CUBLAS_ONE(cublasIdamin_v2, KM_P_INDEX, double, KM_INDEX_BODY(true))
KM_CUBLAS_ONE(cublasIcamin_v2, KM_P_INDEX, cuComplex, KM_INDEX_BODY(true))
KM_CUBLAS_ONE(cublasIzamin_v2, KM_P_INDEX, cuDoubleComplex, KM_INDEX_BODY(true))

#define KM_ROT_BODY                                  \
  {                                                  \
    if (is_nothing(n)) return CUBLAS_STATUS_SUCCESS; \
    return Request(h, KMB_BLAS_ROT, kTypeOf<T>)      \
        .n(n)                                        \
        .x(x, incx, n, true)                         \
        .y(y, incy, n, true)                         \
        .rotation("c", c, 0, 1)                      \
        .rotation("s", s, 1, 1)                      \
        .submit();                                   \
  }
KM_CUBLAS_REAL(rot, _v2, KM_P_ROT, KM_ROT_BODY)
KM_CUBLAS_ONE(cublasCsrot_v2, KM_P_ROT, cuComplex, KM_ROT_BODY)
KM_CUBLAS_ONE(cublasZdrot_v2, KM_P_ROT, cuDoubleComplex, KM_ROT_BODY)
KM_CUBLAS_COMPLEX(rot, _v2, KM_P_COMPLEX_ROT,
                  { return rotate_complex(h, kTypeOf<T>, n, x, incx, y, incy, c, s); })

KM_CUBLAS_REAL(rotm, _v2, KM_P_ROTM, {
  if (is_nothing(n)) return CUBLAS_STATUS_SUCCESS;
  return Request(h, KMB_BLAS_ROTM, kTypeOf<T>)
      .n(n)
      .x(x, incx, n, true)
      .y(y, incy, n, true)
      .rotation("param", param, 0, 5)
      .submit();
})

extern "C" {

#define KM_ROTG(symbol, T, R)                                                         \
  cublasStatus_t symbol(cublasHandle_t handle, T* a, T* b, R* c, T* s) {              \
    return call(#symbol, handle,                                                      \
                [&](Handle& h) { return make_rotation(h, kTypeOf<T>, a, b, c, s); }); \
  }
KM_ROTG(cublasSrotg_v2, float, float)
KM_ROTG(cublasDrotg_v2, double, double)
KM_ROTG(cublasCrotg_v2, cuComplex, float)
KM_ROTG(cublasZrotg_v2, cuDoubleComplex, double)

#define KM_ROTMG(symbol, T)                                                                  \
  cublasStatus_t symbol(cublasHandle_t handle, T* d1, T* d2, T* x1, const T* y1, T* param) { \
    return call(#symbol, handle, [&](Handle& h) {                                            \
      return make_modified_rotation(h, kTypeOf<T>, d1, d2, x1, y1, param);                   \
    });                                                                                      \
  }
KM_ROTMG(cublasSrotmg_v2, float)
KM_ROTMG(cublasDrotmg_v2, double)

}  // extern "C"

}  // namespace km::cublas
