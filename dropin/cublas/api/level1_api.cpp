// BLAS level 1: vector routines.
#include "dropin/cublas/frame/exports.h"
#include "dropin/cublas/vectors/reduction.h"
#include "dropin/cublas/vectors/rotation.h"

namespace km::cublas {

namespace {

#define KM_P_TWO(P, Int, T) P(Int, n), P(const T*, x), P(Int, incx), P(T*, y), P(Int, incy)
#define KM_P_SWAP(P, Int, T) P(Int, n), P(T*, x), P(Int, incx), P(T*, y), P(Int, incy)
#define KM_P_AXPY(P, Int, T) \
  P(Int, n), P(const T*, alpha), P(const T*, x), P(Int, incx), P(T*, y), P(Int, incy)
#define KM_P_SCAL(P, Int, T) P(Int, n), P(const T*, alpha), P(T*, x), P(Int, incx)
#define KM_P_REAL_SCAL(P, Int, T) P(Int, n), P(const Real<T>*, alpha), P(T*, x), P(Int, incx)
#define KM_P_DOT(P, Int, T) \
  P(Int, n), P(const T*, x), P(Int, incx), P(const T*, y), P(Int, incy), P(T*, result)
#define KM_P_NORM(P, Int, T) P(Int, n), P(const T*, x), P(Int, incx), P(Real<T>*, result)
#define KM_P_INDEX(P, Int, T) P(Int, n), P(const T*, x), P(Int, incx), P(Int*, result)
#define KM_P_ROT(P, Int, T)                                                        \
  P(Int, n), P(T*, x), P(Int, incx), P(T*, y), P(Int, incy), P(const Real<T>*, c), \
      P(const Real<T>*, s)
#define KM_P_COMPLEX_ROT(P, Int, T) \
  P(Int, n), P(T*, x), P(Int, incx), P(T*, y), P(Int, incy), P(const Real<T>*, c), P(const T*, s)
#define KM_P_ROTM(P, Int, T) \
  P(Int, n), P(T*, x), P(Int, incx), P(T*, y), P(Int, incy), P(const T*, param)

/// BLAS does nothing for empty vectors.
template <class Int>
bool is_nothing(Int n) {
  return n <= 0;
}

template <class T, class Int>
cublasStatus_t copy(Handle& h, KM_P_TWO(KM_DECLARE, Int, T)) {
  if (is_nothing(n)) return CUBLAS_STATUS_SUCCESS;
  return Request(h, KMB_BLAS_COPY, kTypeOf<T>).n(n).x(x, incx, n).y(y, incy, n, true).submit();
}

template <class T, class Int>
cublasStatus_t swap(Handle& h, KM_P_SWAP(KM_DECLARE, Int, T)) {
  if (is_nothing(n)) return CUBLAS_STATUS_SUCCESS;
  return Request(h, KMB_BLAS_SWAP, kTypeOf<T>)
      .n(n)
      .x(x, incx, n, true)
      .y(y, incy, n, true)
      .submit();
}

template <class T, class Int>
cublasStatus_t axpy(Handle& h, KM_P_AXPY(KM_DECLARE, Int, T)) {
  if (is_nothing(n)) return CUBLAS_STATUS_SUCCESS;
  return Request(h, KMB_BLAS_AXPY, kTypeOf<T>)
      .n(n)
      .alpha(alpha)
      .x(x, incx, n)
      .y(y, incy, n, true)
      .submit();
}

template <class T, class Int>
cublasStatus_t scal(Handle& h, KM_P_SCAL(KM_DECLARE, Int, T)) {
  if (is_nothing(n) || incx <= 0) return CUBLAS_STATUS_SUCCESS;
  return Request(h, KMB_BLAS_SCAL, kTypeOf<T>).n(n).alpha(alpha).x(x, incx, n, true).submit();
}

template <class T, class Int>
cublasStatus_t scal_by_real(Handle& h, KM_P_REAL_SCAL(KM_DECLARE, Int, T)) {
  if (is_nothing(n) || incx <= 0) return CUBLAS_STATUS_SUCCESS;
  return Request(h, KMB_BLAS_SCAL, kTypeOf<T>).n(n).real_alpha(alpha).x(x, incx, n, true).submit();
}

template <kmb_blas_routine kRoutine, class T, class Int>
cublasStatus_t dot(Handle& h, KM_P_DOT(KM_DECLARE, Int, T)) {
  return reduce(h, Reduction{kRoutine, kTypeOf<T>, sizeof(T)}, n, x, incx, y, incy, result);
}

template <kmb_blas_routine kRoutine, class T, class Int>
cublasStatus_t norm(Handle& h, KM_P_NORM(KM_DECLARE, Int, T)) {
  return reduce(h, Reduction{kRoutine, kTypeOf<T>, sizeof(Real<T>)}, n, x, incx, nullptr, 0,
                result);
}

template <bool kIsLeast, class T, class Int>
cublasStatus_t index(Handle& h, KM_P_INDEX(KM_DECLARE, Int, T)) {
  return find_index(h, kTypeOf<T>, kIsLeast, n, x, incx, result, sizeof *result);
}

template <class T, class Int>
cublasStatus_t rot(Handle& h, KM_P_ROT(KM_DECLARE, Int, T)) {
  if (is_nothing(n)) return CUBLAS_STATUS_SUCCESS;
  return Request(h, KMB_BLAS_ROT, kTypeOf<T>)
      .n(n)
      .x(x, incx, n, true)
      .y(y, incy, n, true)
      .rotation("c", c, 0, 1)
      .rotation("s", s, 1, 1)
      .submit();
}

template <class T, class Int>
cublasStatus_t rot_by_complex(Handle& h, KM_P_COMPLEX_ROT(KM_DECLARE, Int, T)) {
  return rotate_complex(h, kTypeOf<T>, n, x, incx, y, incy, c, s);
}

template <class T, class Int>
cublasStatus_t rotm(Handle& h, KM_P_ROTM(KM_DECLARE, Int, T)) {
  if (is_nothing(n)) return CUBLAS_STATUS_SUCCESS;
  return Request(h, KMB_BLAS_ROTM, kTypeOf<T>)
      .n(n)
      .x(x, incx, n, true)
      .y(y, incy, n, true)
      .rotation("param", param, 0, 5)
      .submit();
}

}  // namespace

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

KM_EXPORT_ALL(copy, _v2, KM_P_TWO, copy)
KM_EXPORT_ALL(swap, _v2, KM_P_SWAP, swap)
KM_EXPORT_ALL(axpy, _v2, KM_P_AXPY, axpy)
KM_EXPORT_ALL(scal, _v2, KM_P_SCAL, scal)
KM_EXPORT(cublasCsscal_v2, KM_P_REAL_SCAL, cuComplex, scal_by_real)
KM_EXPORT(cublasZdscal_v2, KM_P_REAL_SCAL, cuDoubleComplex, scal_by_real)
KM_EXPORT_REAL(dot, _v2, KM_P_DOT, dot<KMB_BLAS_DOT>)
KM_EXPORT_COMPLEX(dotu, _v2, KM_P_DOT, dot<KMB_BLAS_DOT>)
KM_EXPORT_COMPLEX(dotc, _v2, KM_P_DOT, dot<KMB_BLAS_DOTC>)
KM_EXPORT_REAL(nrm2, _v2, KM_P_NORM, norm<KMB_BLAS_NRM2>)
KM_EXPORT(cublasScnrm2_v2, KM_P_NORM, cuComplex, norm<KMB_BLAS_NRM2>)
KM_EXPORT(cublasDznrm2_v2, KM_P_NORM, cuDoubleComplex, norm<KMB_BLAS_NRM2>)
KM_EXPORT_REAL(asum, _v2, KM_P_NORM, norm<KMB_BLAS_ASUM>)
KM_EXPORT(cublasScasum_v2, KM_P_NORM, cuComplex, norm<KMB_BLAS_ASUM>)
KM_EXPORT(cublasDzasum_v2, KM_P_NORM, cuDoubleComplex, norm<KMB_BLAS_ASUM>)
KM_EXPORT(cublasIsamax_v2, KM_P_INDEX, float, index<false>)
KM_EXPORT(cublasIdamax_v2, KM_P_INDEX, double, index<false>)
KM_EXPORT(cublasIcamax_v2, KM_P_INDEX, cuComplex, index<false>)
KM_EXPORT(cublasIzamax_v2, KM_P_INDEX, cuDoubleComplex, index<false>)
KM_EXPORT(cublasIsamin_v2, KM_P_INDEX, float, index<true>)
KM_EXPORT(cublasIdamin_v2, KM_P_INDEX, double, index<true>)
KM_EXPORT(cublasIcamin_v2, KM_P_INDEX, cuComplex, index<true>)
KM_EXPORT(cublasIzamin_v2, KM_P_INDEX, cuDoubleComplex, index<true>)
KM_EXPORT_REAL(rot, _v2, KM_P_ROT, rot)
KM_EXPORT(cublasCsrot_v2, KM_P_ROT, cuComplex, rot)
KM_EXPORT(cublasZdrot_v2, KM_P_ROT, cuDoubleComplex, rot)
KM_EXPORT_COMPLEX(rot, _v2, KM_P_COMPLEX_ROT, rot_by_complex)
KM_EXPORT_REAL(rotm, _v2, KM_P_ROTM, rotm)

}  // namespace km::cublas
