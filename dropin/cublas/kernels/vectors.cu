// Kernels of level 1: vectors of 16-bit numbers, the least element, complex rotations, indices.
#include "dropin/cublas/kernels/numbers.cuh"
#include "dropin/cublas/kernels/parameters.h"

using namespace km::cublas;

namespace {

__device__ inline double factor(const DeviceScalar& scalar) {
  return scalar.address == 0 ? scalar.value[0] : load_real<double>(scalar.type, scalar.address, 0);
}

/// |re| + |im|, as BLAS compares complex numbers.
__device__ inline double size_at(int type, u64 base, i64 index) {
  if (type != kC32F && type != kC64F) return fabs(load_real<double>(type, base, index));
  const int part = type == kC64F ? kR64F : kR32F;
  return fabs(load_real<double>(part, base, 2 * index)) +
         fabs(load_real<double>(part, base, 2 * index + 1));
}

constexpr int kThreads = 256;

}  // namespace

/// One thread for each element.
extern "C" __global__ void map_vectors(const VectorParameters p) {
  const i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.count) return;
  const i64 ix = i * p.step_x, iy = i * p.step_y;
  const float x = load_real<float>(p.type_x, p.x, ix);
  const float y = p.y == 0 ? 0 : load_real<float>(p.type_y, p.y, iy);
  switch (p.operation) {
    case kVectorAxpy:
      store_real(p.type_y, p.y, iy, float(factor(p.alpha)) * x + y);
      break;
    case kVectorScal:
      store_real(p.type_x, p.x, ix, float(factor(p.alpha)) * x);
      break;
    case kVectorCopy:
      store_real(p.type_y, p.y, iy, x);
      break;
    case kVectorSwap:
      store_real(p.type_x, p.x, ix, y);
      store_real(p.type_y, p.y, iy, x);
      break;
    default: {
      const float c = float(factor(p.alpha)), s = float(factor(p.beta));
      store_real(p.type_x, p.x, ix, c * x + s * y);
      store_real(p.type_y, p.y, iy, c * y - s * x);
    }
  }
}

/// One block.
extern "C" __global__ void reduce_vectors(const VectorParameters p) {
  __shared__ double sums[kThreads];
  double sum = 0;
  for (i64 i = threadIdx.x; i < p.count; i += kThreads) {
    const double x = load_real<double>(p.type_x, p.x, i * p.step_x);
    sum += p.operation == kVectorDot    ? x * load_real<double>(p.type_y, p.y, i * p.step_y)
           : p.operation == kVectorNrm2 ? x * x
                                        : fabs(x);
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int width = kThreads / 2; width > 0; width /= 2) {
    if (threadIdx.x < width) sums[threadIdx.x] += sums[threadIdx.x + width];
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  store_real(p.type_result, p.result, 0, p.operation == kVectorNrm2 ? sqrt(sums[0]) : sums[0]);
}

/// One block: the first of the largest or least elements.
extern "C" __global__ void find_extreme(const VectorParameters p) {
  __shared__ double values[kThreads];
  __shared__ i64 places[kThreads];
  double best = 0;
  i64 place = -1;
  for (i64 i = threadIdx.x; i < p.count; i += kThreads) {
    const double size = size_at(p.type_x, p.x, i * p.step_x);
    if (place >= 0 && !(p.operation == kVectorLeast ? size < best : size > best)) continue;
    best = size;
    place = i;
  }
  values[threadIdx.x] = best;
  places[threadIdx.x] = place;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < kThreads; ++i) {
    if (places[i] < 0) continue;
    const bool is_better = p.operation == kVectorLeast ? values[i] < best : values[i] > best;
    const bool is_first = values[i] == best && places[i] < place;
    if (place >= 0 && !is_better && !is_first) continue;
    best = values[i];
    place = places[i];
  }
  if (p.type_result == 8)
    *(i64*)p.result = place + 1;
  else
    *(int*)p.result = int(place + 1);
}

extern "C" __global__ void count_from_one(const IndexParameters p) {
  const u64 index = *(const u64*)p.source + 1;  // none: 2^64 - 1
  if (p.target_bytes == 8)
    *(u64*)p.target = index;
  else
    *(u32*)p.target = u32(index);
}

/// x = c x + s y, y = c y - conj(s) x, one thread for each element; c is real.
template <class R>
__device__ void rotate(const VectorParameters& p) {
  const i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.count) return;
  Complex<R>* const x = (Complex<R>*)p.x + i * p.step_x;
  Complex<R>* const y = (Complex<R>*)p.y + i * p.step_y;
  const R c = p.alpha.address == 0 ? R(p.alpha.value[0]) : *(const R*)p.alpha.address;
  Complex<R> s = {R(p.beta.value[0]), R(p.beta.value[1])};
  if (p.beta.address != 0) s = *(const Complex<R>*)p.beta.address;
  const Complex<R> a = *x, b = *y;
  *x = {c * a.x + s.x * b.x - s.y * b.y, c * a.y + s.x * b.y + s.y * b.x};
  *y = {c * b.x - s.x * a.x - s.y * a.y, c * b.y - s.x * a.y + s.y * a.x};
}
extern "C" __global__ void rotate_c32(const VectorParameters p) { rotate<float>(p); }
extern "C" __global__ void rotate_c64(const VectorParameters p) { rotate<double>(p); }
