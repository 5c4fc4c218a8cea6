// Two translation units: this one has the kernels, the other one what they call. Built with and
// without relocatable code (then KM_ONE_UNIT), and with one default stream for each thread.
#include <cstdio>
#ifdef KM_ONE_UNIT
#include "helper.cu"
#else
#include "helper.h"
#endif

__constant__ float factor;
__device__ int counter = 5;
__managed__ int total = 1;

template <class T>
__global__ void scale(const T* in, T* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  out[i] = static_cast<T>(factor) * twice(in[i]) + offset;
  atomicAdd(&counter, 1);
  if (i == 0) total += 41;
}

__global__ void sum(const float* in, float* out) {
  extern __shared__ float kept[];
  kept[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) kept[threadIdx.x] += kept[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = kept[0];
}

#define CHECK(call)                                                                           \
  do {                                                                                        \
    const cudaError_t error = (call);                                                         \
    if (error != cudaSuccess) {                                                               \
      std::printf("%s: %s: %s\n", #call, cudaGetErrorName(error), cudaGetErrorString(error)); \
      return 1;                                                                               \
    }                                                                                         \
  } while (0)

int main() {
  constexpr int kCount = 1000, kThreads = 256;
  float host[kCount], *in = nullptr, *out = nullptr, one_sum = 0;
  const float three = 3;
  int count = 0, wrong = 0;
  for (int i = 0; i < kCount; ++i) host[i] = static_cast<float>(i);
  CHECK(cudaMalloc(&in, sizeof host));
  CHECK(cudaMalloc(&out, sizeof host));
  CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyToSymbol(factor, &three, sizeof three));
  scale<float><<<(kCount + kThreads - 1) / kThreads, kThreads>>>(in, out, kCount);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  for (int i = 0; i < kCount; ++i) wrong += host[i] != 6.0f * i + 7.0f;
  sum<<<1, kThreads, kThreads * sizeof(float)>>>(in, out);
  CHECK(cudaMemcpy(&one_sum, out, sizeof one_sum, cudaMemcpyDeviceToHost));
  sum<<<1, 4096>>>(in, out);
  const bool is_refused = cudaGetLastError() == cudaErrorInvalidConfiguration;
  std::printf("wrong %d counter %d total %d sum %g refused %d\n", wrong, count, total, one_sum,
              is_refused);
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return 0;
}
