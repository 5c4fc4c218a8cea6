// Kernels of the extensions: sums and scalings of matrices, triangles, and batches of small systems
// of equations, one block for each matrix.
#include "dropin/cublas/kernels/numbers.cuh"
#include "dropin/cublas/kernels/parameters.h"

using namespace km::cublas;

// Unrolled loops would make the text several times as long, and nothing quicker here.
#define KM_LOOP _Pragma("unroll 1")

namespace {

__device__ inline float conj(float a) { return a; }
__device__ inline double conj(double a) { return a; }
template <class R>
__device__ Complex<R> conj(Complex<R> a) {
  return {a.x, -a.y};
}
template <class R>
__device__ Complex<R> operator*(Complex<R> a, Complex<R> b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
template <class R>
__device__ Complex<R> operator+(Complex<R> a, Complex<R> b) {
  return {a.x + b.x, a.y + b.y};
}
template <class R>
__device__ Complex<R> operator-(Complex<R> a, Complex<R> b) {
  return {a.x - b.x, a.y - b.y};
}
/// Smith's way: no square overflows.
template <class R>
__device__ __noinline__ Complex<R> operator/(Complex<R> a, Complex<R> b) {
  if (fabs(b.x) >= fabs(b.y)) {
    const R ratio = b.y / b.x, divisor = b.x + b.y * ratio;
    return {(a.x + a.y * ratio) / divisor, (a.y - a.x * ratio) / divisor};
  }
  const R ratio = b.x / b.y, divisor = b.x * ratio + b.y;
  return {(a.x * ratio + a.y) / divisor, (a.y * ratio - a.x) / divisor};
}

template <class T>
struct Parts {
  using R = T;
  static __device__ T make(double x, double) { return T(x); }
  static __device__ R real(T a) { return a; }
  static __device__ R imaginary(T) { return 0; }
  static __device__ R size(T a) { return fabs(a); }
};
template <class P>
struct Parts<Complex<P>> {
  using R = P;
  static __device__ Complex<P> make(double x, double y) { return {P(x), P(y)}; }
  static __device__ R real(Complex<P> a) { return a.x; }
  static __device__ R imaginary(Complex<P> a) { return a.y; }
  static __device__ R size(Complex<P> a) { return fabs(a.x) + fabs(a.y); }
};

template <class T>
__device__ T factor(const DeviceScalar& scalar) {
  if (scalar.address != 0) return *(const T*)scalar.address;
  return Parts<T>::make(scalar.value[0], scalar.value[1]);
}
template <class T>
__device__ bool is_zero(T a) {
  return Parts<T>::real(a) == 0 && Parts<T>::imaginary(a) == 0;
}

template <class T>
__device__ T& at(const StridedMatrix& matrix, i64 row, i64 column) {
  return ((T*)matrix.address)[row * matrix.row_step + column * matrix.column_step];
}

template <class T>
__device__ void add_matrices(const AddParameters& p) {
  const i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.rows * p.columns) return;
  const i64 row = i % p.rows, column = i / p.rows;
  const T alpha = factor<T>(p.alpha), beta = factor<T>(p.beta);
  T sum = Parts<T>::make(0, 0);
  if (!is_zero(alpha)) {
    const T a = at<T>(p.a, row, column);
    sum = sum + alpha * (p.is_a_conjugated ? conj(a) : a);
  }
  if (!is_zero(beta)) {
    const T b = at<T>(p.b, row, column);
    sum = sum + beta * (p.is_b_conjugated ? conj(b) : b);
  }
  at<T>(p.c, row, column) = sum;
}

/// b is the diagonal: its steps say along which side it lies.
template <class T>
__device__ void scale_matrix(const AddParameters& p) {
  const i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.rows * p.columns) return;
  const i64 row = i % p.rows, column = i / p.rows;
  at<T>(p.c, row, column) = at<T>(p.a, row, column) * at<T>(p.b, row, column);
}

template <class T>
__device__ void move_triangle(const TriangleParameters& p) {
  const i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.order * p.order) return;
  const i64 row = i % p.order, column = i / p.order;
  if (p.is_upper ? row > column : row < column) return;
  const i64 packed =
      p.is_upper ? row + column * (column + 1) / 2 : row + (2 * p.order - column - 1) * column / 2;
  T& in_whole = ((T*)p.whole)[row + column * p.leading];
  T& in_packed = ((T*)p.packed)[packed];
  if (p.to_packed)
    in_packed = in_whole;
  else
    in_whole = in_packed;
}

/// LU with partial pivoting in place, by all threads of the block. The number of the first zero
/// pivot, from 1; 0: none.
template <class T>
__device__ __noinline__ int factorize(T* a, i64 n, i64 leading, int* pivots) {
  __shared__ i64 pivot_row;
  int info = 0;
  KM_LOOP for (i64 k = 0; k < n; ++k) {
    if (threadIdx.x == 0) {
      i64 best = k;
      if (pivots != nullptr) {
        KM_LOOP for (i64 i = k + 1; i < n; ++i) {
          if (Parts<T>::size(a[i + k * leading]) > Parts<T>::size(a[best + k * leading])) best = i;
        }
        pivots[k] = int(best + 1);
      }
      pivot_row = best;
    }
    __syncthreads();
    const i64 best = pivot_row;
    if (best != k) {
      KM_LOOP for (i64 j = threadIdx.x; j < n; j += blockDim.x) {
        const T kept = a[k + j * leading];
        a[k + j * leading] = a[best + j * leading];
        a[best + j * leading] = kept;
      }
    }
    __syncthreads();
    const T pivot = a[k + k * leading];
    if (is_zero(pivot)) {
      if (info == 0) info = int(k + 1);
      __syncthreads();
      continue;
    }
    KM_LOOP for (i64 i = k + 1 + threadIdx.x; i < n; i += blockDim.x) {
      a[i + k * leading] = a[i + k * leading] / pivot;
    }
    __syncthreads();
    KM_LOOP for (i64 j = k + 1 + threadIdx.x; j < n; j += blockDim.x) {
      const T top = a[k + j * leading];
      KM_LOOP for (i64 i = k + 1; i < n; ++i) {
        a[i + j * leading] = a[i + j * leading] - a[i + k * leading] * top;
      }
    }
    __syncthreads();
  }
  return info;
}

template <class T>
__device__ T** pointers(u64 address) {
  return (T**)address;
}

template <class T>
__device__ void getrf(const DenseParameters& p) {
  const i64 batch = blockIdx.x;
  int* const pivots = p.pivots == 0 ? nullptr : (int*)p.pivots + batch * p.order;
  const int info = factorize(pointers<T>(p.a)[batch], p.order, p.leading_a, pivots);
  if (threadIdx.x == 0) ((int*)p.info)[batch] = info;
}

/// Solves op(M) x = x in place for a triangle of M, x with a step.
template <class T>
__device__ __noinline__ void solve_triangle(const T* a, i64 leading, i64 n, bool is_upper,
                                            bool is_unit, int transposition, T* x, i64 step) {
  const bool goes_down = is_upper == (transposition != 0);
  KM_LOOP for (i64 done = 0; done < n; ++done) {
    const i64 i = goes_down ? done : n - 1 - done;
    T sum = x[i * step];
    KM_LOOP for (i64 other = 0; other < done; ++other) {
      const i64 j = goes_down ? other : n - 1 - other;
      T entry = transposition != 0 ? a[j + i * leading] : a[i + j * leading];
      if (transposition == 2) entry = conj(entry);
      sum = sum - entry * x[j * step];
    }
    T diagonal = a[i + i * leading];
    if (transposition == 2) diagonal = conj(diagonal);
    x[i * step] = is_unit ? sum : sum / diagonal;
  }
}

/// Rows of x in the order of the pivots, or back.
template <class T>
__device__ __noinline__ void permute(const int* pivots, i64 n, bool is_forward, T* x) {
  if (pivots == nullptr) return;
  KM_LOOP for (i64 done = 0; done < n; ++done) {
    const i64 i = is_forward ? done : n - 1 - done, other = pivots[i] - 1;
    const T kept = x[i];
    x[i] = x[other];
    x[other] = kept;
  }
}

template <class T>
__device__ __noinline__ void solve_factorized(const T* a, i64 leading, i64 n, const int* pivots,
                                              int transposition, T* x) {
  if (transposition == 0) {
    permute(pivots, n, true, x);
    solve_triangle(a, leading, n, false, true, 0, x, 1);
    solve_triangle(a, leading, n, true, false, 0, x, 1);
    return;
  }
  solve_triangle(a, leading, n, true, false, transposition, x, 1);
  solve_triangle(a, leading, n, false, true, transposition, x, 1);
  permute(pivots, n, false, x);
}

template <class T>
__device__ int zero_pivot(const T* a, i64 leading, i64 n) {
  KM_LOOP for (i64 i = 0; i < n; ++i) {
    if (is_zero(a[i + i * leading])) return int(i + 1);
  }
  return 0;
}

template <class T>
__device__ void getrs(const DenseParameters& p) {
  const i64 batch = blockIdx.x;
  const int* const pivots = p.pivots == 0 ? nullptr : (const int*)p.pivots + batch * p.order;
  const T* const a = pointers<T>(p.a)[batch];
  T* const b = pointers<T>(p.b)[batch];
  KM_LOOP for (i64 j = threadIdx.x; j < p.columns; j += blockDim.x) {
    solve_factorized(a, p.leading_a, p.order, pivots, p.transposition, b + j * p.leading_b);
  }
}

/// A singular matrix gets infinities and NaN, so that nothing takes old numbers for its inverse.
template <class T>
__device__ void invert(const T* a, i64 leading, i64 n, const int* pivots, T* inverse,
                       i64 leading_inverse) {
  KM_LOOP for (i64 j = threadIdx.x; j < n; j += blockDim.x) {
    T* const x = inverse + j * leading_inverse;
    KM_LOOP for (i64 i = 0; i < n; ++i) x[i] = Parts<T>::make(i == j ? 1 : 0, 0);
    solve_factorized(a, leading, n, pivots, 0, x);
  }
}

template <class T>
__device__ void getri(const DenseParameters& p) {
  const i64 batch = blockIdx.x;
  const int* const pivots = p.pivots == 0 ? nullptr : (const int*)p.pivots + batch * p.order;
  const T* const a = pointers<T>(p.a)[batch];
  const int info = zero_pivot(a, p.leading_a, p.order);
  if (threadIdx.x == 0) ((int*)p.info)[batch] = info;
  invert(a, p.leading_a, p.order, pivots, pointers<T>(p.b)[batch], p.leading_b);
}

constexpr int kMostInverted = 32;

template <class T>
__device__ void matinv(const DenseParameters& p) {
  __shared__ T a[kMostInverted * kMostInverted];
  __shared__ int pivots[kMostInverted];
  const i64 batch = blockIdx.x, n = p.order;
  const T* const source = pointers<T>(p.a)[batch];
  KM_LOOP for (i64 i = threadIdx.x; i < n * n; i += blockDim.x) {
    a[i] = source[i % n + i / n * p.leading_a];
  }
  __syncthreads();
  const int info = factorize(a, n, n, pivots);
  if (threadIdx.x == 0) ((int*)p.info)[batch] = info;
  invert(a, n, n, pivots, pointers<T>(p.b)[batch], p.leading_b);
}

/// Each thread solves for columns of B, or for rows when A stands on the right.
template <class T>
__device__ void trsm(const DenseParameters& p) {
  const i64 batch = blockIdx.x;
  const T* const a = pointers<T>(p.a)[batch];
  T* const b = pointers<T>(p.b)[batch];
  const T alpha = factor<T>(p.alpha);
  const i64 systems = p.is_right ? p.rows : p.columns;
  KM_LOOP for (i64 j = threadIdx.x; j < systems; j += blockDim.x) {
    T* const x = p.is_right ? b + j : b + j * p.leading_b;
    const i64 step = p.is_right ? p.leading_b : 1;
    KM_LOOP for (i64 i = 0; i < p.order; ++i) {
      x[i * step] = is_zero(alpha) ? Parts<T>::make(0, 0) : alpha * x[i * step];
    }
    if (is_zero(alpha)) continue;
    if (!p.is_right) {
      solve_triangle(a, p.leading_a, p.order, p.is_upper, p.is_unit, p.transposition, x, step);
      continue;
    }
    // x op(A) = b is op(A)^T x^T = b^T; the conjugate one is solved for conj(x).
    const bool is_conjugate = p.transposition == 2;
    KM_LOOP for (i64 i = 0; is_conjugate && i < p.order; ++i) x[i * step] = conj(x[i * step]);
    solve_triangle(a, p.leading_a, p.order, p.is_upper, p.is_unit, p.transposition == 0, x, step);
    KM_LOOP for (i64 i = 0; is_conjugate && i < p.order; ++i) x[i * step] = conj(x[i * step]);
  }
}

/// The Householder reflection that turns column k below row k into (beta, 0): its vector lies below
/// the diagonal, with a 1 on it, and beta on the diagonal. By one thread.
template <class T>
__device__ __noinline__ T reflection(T* column, i64 k, i64 rows) {
  using P = Parts<T>;
  using R = typename P::R;
  R largest = 0;
  KM_LOOP for (i64 i = k; i < rows; ++i) largest = fmax(largest, P::size(column[i]));
  R rest = 0;
  if (largest > 0) {
    KM_LOOP for (i64 i = k + 1; i < rows; ++i) {
      const R x = P::real(column[i]) / largest, y = P::imaginary(column[i]) / largest;
      rest += x * x + y * y;
    }
  }
  const R x = P::real(column[k]), y = P::imaginary(column[k]);
  if (rest == 0 && y == 0) return P::make(0, 0);
  const R sx = x / largest, sy = y / largest;
  const R norm = largest * sqrt(sx * sx + sy * sy + rest);
  const R beta = x > 0 ? -norm : norm;
  const T divisor = column[k] - P::make(beta, 0);
  KM_LOOP for (i64 i = k + 1; i < rows; ++i) column[i] = column[i] / divisor;
  column[k] = P::make(beta, 0);
  return P::make((beta - x) / beta, -y / beta);
}

/// x = (1 - conj(tau) v v^H) x for the reflection of column k.
template <class T>
__device__ __noinline__ void reflect(const T* v, T tau, i64 k, i64 rows, T* x) {
  T sum = x[k];
  KM_LOOP for (i64 i = k + 1; i < rows; ++i) sum = sum + conj(v[i]) * x[i];
  sum = conj(tau) * sum;
  x[k] = x[k] - sum;
  KM_LOOP for (i64 i = k + 1; i < rows; ++i) x[i] = x[i] - v[i] * sum;
}

template <class T>
__device__ __noinline__ void geqrf_matrix(T* a, i64 rows, i64 columns, i64 leading, T* tau) {
  const i64 steps = rows < columns ? rows : columns;
  KM_LOOP for (i64 k = 0; k < steps; ++k) {
    if (threadIdx.x == 0) tau[k] = reflection(a + k * leading, k, rows);
    __syncthreads();
    KM_LOOP for (i64 j = k + 1 + threadIdx.x; j < columns; j += blockDim.x) {
      reflect(a + k * leading, tau[k], k, rows, a + j * leading);
    }
    __syncthreads();
  }
}

template <class T>
__device__ void geqrf(const DenseParameters& p) {
  const i64 batch = blockIdx.x;
  geqrf_matrix(pointers<T>(p.a)[batch], p.rows, p.columns, p.leading_a, pointers<T>(p.tau)[batch]);
}

/// tau: scratch memory, `order` numbers for each matrix.
template <class T>
__device__ void gels(const DenseParameters& p) {
  const i64 batch = blockIdx.x;
  T* const a = pointers<T>(p.a)[batch];
  T* const b = pointers<T>(p.b)[batch];
  T* const tau = (T*)p.tau + batch * p.order;
  geqrf_matrix(a, p.rows, p.order, p.leading_a, tau);
  const int info = zero_pivot(a, p.leading_a, p.order);
  if (threadIdx.x == 0 && p.info != 0) ((int*)p.info)[batch] = info;
  if (info != 0) return;
  KM_LOOP for (i64 j = threadIdx.x; j < p.columns; j += blockDim.x) {
    T* const x = b + j * p.leading_b;
    KM_LOOP for (i64 k = 0; k < p.order; ++k) reflect(a + k * p.leading_a, tau[k], k, p.rows, x);
    solve_triangle(a, p.leading_a, p.order, true, false, 0, x, 1);
  }
}

}  // namespace

#define KM_KERNEL(name, suffix, T, Parameters) \
  extern "C" __global__ void name##_##suffix(const Parameters p) { name<T>(p); }
#define KM_KERNELS(name, Parameters)               \
  KM_KERNEL(name, f32, float, Parameters)          \
  KM_KERNEL(name, f64, double, Parameters)         \
  KM_KERNEL(name, c32, Complex<float>, Parameters) \
  KM_KERNEL(name, c64, Complex<double>, Parameters)
KM_KERNELS(add_matrices, AddParameters)
KM_KERNELS(scale_matrix, AddParameters)
KM_KERNELS(move_triangle, TriangleParameters)
KM_KERNELS(getrf, DenseParameters)
KM_KERNELS(getrs, DenseParameters)
KM_KERNELS(getri, DenseParameters)
KM_KERNELS(matinv, DenseParameters)
KM_KERNELS(trsm, DenseParameters)
KM_KERNELS(geqrf, DenseParameters)
KM_KERNELS(gels, DenseParameters)
