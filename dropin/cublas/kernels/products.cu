// Kernels around the products of km_blas: operands of any type and place become matrices that it
// takes, and its result becomes what cuBLAS promises.
#include "dropin/cublas/kernels/numbers.cuh"
#include "dropin/cublas/kernels/parameters.h"

using namespace km::cublas;

namespace {

template <class V>
struct Numbers;  // of the type that sums have

template <>
struct Numbers<float> {
  using R = float;
  static __device__ float load(int type, u64 base, i64 index) {
    return load_real<float>(type, base, index);
  }
  static __device__ void store(int type, u64 base, i64 index, float v) {
    store_real(type, base, index, v);
  }
  static __device__ float make(double x, double) { return float(x); }
  static __device__ float conjugate(float v) { return v; }
  static __device__ float multiply(float a, float b) { return a * b; }
  static __device__ float add(float a, float b) { return a + b; }
  static __device__ float real_only(float v) { return v; }
};
template <>
struct Numbers<double> {
  using R = double;
  static __device__ double load(int type, u64 base, i64 index) {
    return load_real<double>(type, base, index);
  }
  static __device__ void store(int type, u64 base, i64 index, double v) {
    store_real(type, base, index, v);
  }
  static __device__ double make(double x, double) { return x; }
  static __device__ double conjugate(double v) { return v; }
  static __device__ double multiply(double a, double b) { return a * b; }
  static __device__ double add(double a, double b) { return a + b; }
  static __device__ double real_only(double v) { return v; }
};
template <class Part>
struct Numbers<Complex<Part>> {
  using R = Part;
  using V = Complex<Part>;
  static __device__ V load(int type, u64 base, i64 index) {
    const int part = type == kC64F || type == kR64F ? kR64F : kR32F;
    if (type == kR32F || type == kR64F) return {load_real<Part>(part, base, index), Part(0)};
    return {load_real<Part>(part, base, 2 * index), load_real<Part>(part, base, 2 * index + 1)};
  }
  static __device__ void store(int type, u64 base, i64 index, V v) {
    const int part = type == kC64F ? kR64F : kR32F;
    store_real(part, base, 2 * index, v.x);
    store_real(part, base, 2 * index + 1, v.y);
  }
  static __device__ V make(double x, double y) { return {Part(x), Part(y)}; }
  static __device__ V conjugate(V v) { return {v.x, -v.y}; }
  static __device__ V multiply(V a, V b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
  static __device__ V add(V a, V b) { return {a.x + b.x, a.y + b.y}; }
  static __device__ V real_only(V v) { return {v.x, Part(0)}; }
};

__device__ inline i64 element_of_thread() { return i64(blockIdx.x) * blockDim.x + threadIdx.x; }

/// The address at which the elements of one matrix of a batch begin.
__device__ inline u64 base_of(const StridedMatrix& matrix, i64 batch) {
  return matrix.is_pointers ? ((const u64*)matrix.address)[batch] : matrix.address;
}
__device__ inline i64 index_of(const StridedMatrix& matrix, i64 row, i64 column, i64 batch) {
  return row * matrix.row_step + column * matrix.column_step +
         (matrix.is_pointers ? 0 : batch * matrix.batch_step);
}

template <class V>
__device__ void pack(const PackParameters& p) {
  using N = Numbers<V>;
  const i64 i = element_of_thread();
  if (i >= p.rows * p.columns) return;
  const i64 batch = blockIdx.y, row = i % p.rows, column = i / p.rows;
  const V value =
      N::load(p.source.type, base_of(p.source, batch), index_of(p.source, row, column, batch));
  ((V*)p.target)[batch * p.rows * p.columns + i] = p.is_conjugated ? N::conjugate(value) : value;
}

template <class V>
__device__ V factor(const DeviceScalar& scalar, i64 row, i64 batch) {
  using N = Numbers<V>;
  if (scalar.address == 0) return N::make(scalar.value[0], scalar.value[1]);
  return N::load(scalar.type, scalar.address, row * scalar.row_step + batch * scalar.batch_step);
}

__device__ inline float scale_at(u64 address) {
  return address == 0 ? 1.0f : *(const float*)address;
}

enum {  // bits of cublasLtEpilogue_t
  kRelu = 2,
  kBias = 4,
  kReluGradient = 8,
  kGelu = 32,
  kGeluGradient = 64,
  kAux = 128
};

template <class R>
__device__ R gelu(R x) {
  const R inner = R(0.7978845608028654) * (x + R(0.044715) * x * x * x);
  return R(0.5) * x * (R(1) + tanh(inner));
}
template <class R>
__device__ R gelu_gradient(R x) {
  const R inner = R(0.7978845608028654) * (x + R(0.044715) * x * x * x);
  const R t = tanh(inner);
  const R slope = R(0.7978845608028654) * (R(1) + R(3 * 0.044715) * x * x);
  return R(0.5) * (R(1) + t) + R(0.5) * x * (R(1) - t * t) * slope;
}

/// One bit of a mask; other threads set theirs in the same word.
__device__ inline void set_bit(u64 base, i64 index, bool value) {
  u32* const word = (u32*)base + index / 32;
  const u32 bit = 1u << (index % 32);
  if (value)
    atomicOr(word, bit);
  else
    atomicAnd(word, ~bit);
}
__device__ inline bool has_bit(u64 base, i64 index) {
  return (((const u32*)base)[index / 32] >> (index % 32)) & 1;
}

template <class R>
__device__ R activated(const FinishParameters& p, R value, i64 row, i64 column, i64 batch) {
  const u64 aux = base_of(p.aux, batch);
  const i64 at = index_of(p.aux, row, column, batch);
  if (p.epilogue & kReluGradient) return has_bit(aux, at) ? value : R(0);
  if (p.epilogue & kGeluGradient) return value * gelu_gradient(load_real<R>(p.aux.type, aux, at));
  if (p.epilogue & kRelu) {
    if (p.epilogue & kAux) set_bit(aux, at, value > R(0));
    return value > R(0) ? value : value != value ? value : R(0);
  }
  if (p.epilogue & kGelu) {
    if (p.epilogue & kAux) store_real(p.aux.type, aux, at, value);
    return gelu(value);
  }
  return value;
}
template <class R>
__device__ Complex<R> activated(const FinishParameters&, Complex<R> value, i64, i64, i64) {
  return value;
}

__device__ inline void note_largest(u64 address, float value) {
  if (address != 0) atomicMax((int*)address, __float_as_int(fabsf(value)));
}
__device__ inline float size_of_number(float v) { return v; }
__device__ inline float size_of_number(double v) { return float(v); }
template <class R>
__device__ float size_of_number(Complex<R> v) {
  return float(v.x);
}

template <class V>
__device__ void finish(const FinishParameters& p) {
  using N = Numbers<V>;
  const i64 i = element_of_thread();
  if (i >= p.rows * p.columns) return;
  const i64 batch = blockIdx.y, row = i % p.rows, column = i / p.rows;
  if ((p.triangle == 1 && row < column) || (p.triangle == 2 && row > column)) return;
  const V sum = ((const V*)p.product)[batch * p.rows * p.columns + i];
  const float scale = scale_at(p.scales[0]) * scale_at(p.scales[1]);
  V value = N::multiply(factor<V>(p.alpha, row, batch), sum);
  if (scale != 1.0f) value = N::multiply(value, N::make(scale, 0));
  const V beta = factor<V>(p.beta, row, batch);
  const bool has_beta =
      !(size_of_number(beta) == 0 && size_of_number(N::multiply(beta, N::make(0, -1))) == 0);
  if (p.c.address != 0 && has_beta) {
    const V c = N::load(p.c.type, base_of(p.c, batch), index_of(p.c, row, column, batch));
    const V scaled = p.scales[2] == 0 ? c : N::multiply(c, N::make(scale_at(p.scales[2]), 0));
    value = N::add(value, N::multiply(beta, scaled));
  }
  if (p.bias != 0 && (p.epilogue & kBias)) {
    value = N::add(value, N::load(p.bias_type, p.bias, row + batch * p.bias_batch_step));
  }
  value = activated(p, value, row, column, batch);
  if (p.is_hermitian && row == column) value = N::real_only(value);
  note_largest(p.largest, size_of_number(value));
  if (p.scales[3] != 0) value = N::multiply(value, N::make(scale_at(p.scales[3]), 0));
  N::store(p.d.type, base_of(p.d, batch), index_of(p.d, row, column, batch), value);
}

}  // namespace

#define KM_KERNELS(name, V)                                                      \
  extern "C" __global__ void pack_##name(const PackParameters p) { pack<V>(p); } \
  extern "C" __global__ void finish_##name(const FinishParameters p) { finish<V>(p); }
KM_KERNELS(f32, float)
KM_KERNELS(f64, double)
KM_KERNELS(c32, Complex<float>)
KM_KERNELS(c64, Complex<double>)

/// One thread for each row.
extern "C" __global__ void sum_rows(const SumParameters p) {
  const i64 row = element_of_thread(), batch = blockIdx.y;
  if (row >= p.rows) return;
  double sum = 0;
  const u64 base = base_of(p.source, batch);
  for (i64 column = 0; column < p.columns; ++column) {
    sum += load_real<double>(p.source.type, base, index_of(p.source, row, column, batch));
  }
  store_real(p.target_type, p.target, row + batch * p.target_batch_step, sum);
}
