// The kernels of the tests.
__constant__ float factors[4];
__device__ int counter;

struct Pair {
  float scale;
  int offset;
};

extern "C" __global__ void empty() {}

extern "C" __global__ void scale(float* data, float factor, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] *= factor;
}

extern "C" __global__ void apply(const int* in, double* out, Pair pair, bool negate) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const double value = in[i] * double(pair.scale) + pair.offset;
  out[i] = negate ? -value : value;
}

extern "C" __global__ void weigh(float* out) {
  out[threadIdx.x] = factors[threadIdx.x];
  atomicAdd(&counter, 1);
}

extern "C" __global__ void crash(int* address) { *address = 1; }

template <typename T>
__global__ void increment(T* data) {
  data[threadIdx.x] += T(1);
}

// Each block says how many there are in its cluster.
extern "C" __global__ void rank(unsigned* out) {
  unsigned size;
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(size));
  out[blockIdx.x] = size;
}

extern "C" __global__ void speak(int value) { printf("value %d\n", value); }
