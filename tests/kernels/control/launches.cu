// Kernels that launch kernels, by CUDA's device runtime.

struct Log {
  unsigned count;
  unsigned entries[255];
};

static __device__ void note(Log* log, unsigned what) {
  const unsigned at = atomicAdd(&log->count, 1u);
  if (at < 255) log->entries[at] = what;
}

extern "C" __global__ void doubles(unsigned* values, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= 2;
}

extern "C" __global__ void launch_after_writes(unsigned* values, unsigned n) {
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) values[i] = i;
  __syncthreads();
  if (threadIdx.x == 0) doubles<<<(n + 31) / 32, 32>>>(values, n);
}

extern "C" __global__ void count(unsigned* counter, unsigned by) { atomicAdd(counter, by); }

extern "C" __global__ void launch_from_every_thread(unsigned* counter) {
  count<<<2, 3>>>(counter, blockIdx.x * blockDim.x + threadIdx.x + 1);
}

// Kernels by their addresses, in a variable and in an argument.
typedef void (*Kernel)(unsigned*, unsigned);
extern "C" __global__ void count_twice(unsigned* counter, unsigned by) {
  atomicAdd(counter, 2 * by);
}
__device__ Kernel kernels[] = {count, count_twice};

extern "C" __global__ void launch_by_address(unsigned* counter) {
  kernels[threadIdx.x % 2]<<<1, 1>>>(counter, 10u);
}

extern "C" __global__ void log_one(Log* log, unsigned what) { note(log, what); }

extern "C" __global__ void launch_in_order(Log* log, unsigned n) {
  for (unsigned i = 0; i < n; ++i) log_one<<<1, 1>>>(log, i);
}

extern "C" __global__ void log_with_children(Log* log, unsigned what) {
  log_one<<<1, 1, 0, cudaStreamTailLaunch>>>(log, what + 2);
  log_one<<<1, 1>>>(log, what + 1);
  note(log, what);
}

extern "C" __global__ void launch_tail(Log* log) {
  log_with_children<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 200);
  log_one<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 300);
  log_with_children<<<1, 1>>>(log, 100);
  log_one<<<1, 1, 0, cudaStreamFireAndForget>>>(log, 150);
  note(log, 0);
}

extern "C" __global__ void nest(unsigned* out, unsigned depth) {
  out[0] = depth;
  nest<<<1, 1>>>(out, depth + 1);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) out[1] = error;
}

extern "C" __global__ void relaunch(unsigned* out, unsigned left) {
  out[0] += 1;
  if (left > 0) relaunch<<<1, 1, 0, cudaStreamTailLaunch>>>(out, left - 1);
  if (cudaPeekAtLastError() != cudaSuccess) out[1] = cudaGetLastError();
}

struct Large {
  double values[100];
  signed char tag;
};

extern "C" __global__ void sum_large(Large large, signed char after, double* out) {
  double sum = large.tag + after;
  for (double value : large.values) sum += value;
  *out = sum;
}

extern "C" __global__ void launch_large(double* out) {
  Large large;
  for (int i = 0; i < 100; ++i) large.values[i] = i + threadIdx.x;
  large.tag = 3;
  sum_large<<<1, 1>>>(large, 4, out + threadIdx.x);
}

extern "C" __global__ void launch_wrongly(unsigned* errors, unsigned* counter) {
  unsigned n = 0;
  count<<<1, 2000>>>(counter, 1u);
  errors[n++] = cudaPeekAtLastError();
  errors[n++] = cudaGetLastError();
  errors[n++] = cudaGetLastError();
  count<<<0, 1>>>(counter, 1u);
  errors[n++] = cudaGetLastError();
  count<<<1, 1, 1 << 20>>>(counter, 1u);
  errors[n++] = cudaGetLastError();
  count<<<1, 1, 0, (cudaStream_t)0x77777>>>(counter, 1u);
  errors[n++] = cudaGetLastError();
  cudaStream_t stream;
  errors[n++] = cudaStreamCreateWithFlags(&stream, cudaStreamDefault);
  errors[n++] = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  count<<<1, 1, 0, stream>>>(counter, 10u);
  cudaEvent_t event;
  errors[n++] = cudaEventCreateWithFlags(&event, cudaEventDefault);
  errors[n++] = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  errors[n++] = cudaEventRecord(event, stream);
  errors[n++] = cudaStreamWaitEvent(stream, event, 0);
  errors[n++] = cudaEventDestroy(event);
  errors[n++] = cudaStreamDestroy(stream);
  errors[n++] = cudaStreamDestroy(stream);
  errors[n++] = cudaFree(counter);
  errors[n++] = cudaGetLastError();
}

extern "C" __global__ void launch_many(unsigned* out, unsigned n) {
  for (unsigned i = 0; i < n; ++i) count<<<1, 1>>>(out, 1u);
  out[1] = cudaGetLastError();
}

extern "C" __global__ void sum_and_free(const unsigned* values, unsigned n, unsigned* out) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; ++i) sum += values[i];
  out[0] = sum;
  out[1] = cudaFree((void*)values);
}

extern "C" __global__ void move(unsigned* out, unsigned char* bytes) {
  unsigned* values = nullptr;
  out[2] = cudaMalloc((void**)&values, 64 * sizeof(unsigned));
  cudaMemsetAsync(values, 1, 16 * sizeof(unsigned), 0);
  cudaMemcpyAsync(values + 16, values, 48, cudaMemcpyDeviceToDevice, 0);
  cudaMemset2DAsync(bytes, 16, 7, 3, 4, 0);
  cudaMemcpy2DAsync(bytes + 64, 8, bytes, 16, 4, 4, cudaMemcpyDeviceToDevice, 0);
  cudaMemset3DAsync({bytes + 128, 8, 8, 2}, 9, {5, 2, 3}, 0);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = {bytes + 128, 8, 8, 2};
  copy.srcPos = {1, 1, 1};
  copy.dstPtr = {bytes + 192, 4, 4, 2};
  copy.dstPos = {0, 0, 1};
  copy.extent = {4, 1, 2};
  copy.kind = cudaMemcpyDeviceToDevice;
  out[3] = cudaMemcpy3DAsync(&copy, 0);
  out[4] = cudaMemcpyAsync(values, nullptr, 4, cudaMemcpyDeviceToDevice, 0);
  out[5] = cudaMemset2DAsync(bytes, 2, 7, 3, 4, 0);
  sum_and_free<<<1, 1>>>(values, 28, out);
}

static __device__ unsigned length(const char* text) {
  unsigned n = 0;
  while (text[n] != 0) ++n;
  return n;
}

extern "C" __global__ void ask(unsigned long long* out) {
  int value = 0;
  size_t size = 0;
  unsigned n = 0;
  out[n++] = cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0);
  out[n++] = value;
  out[n++] = cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 77);
  out[n++] = cudaDeviceGetLimit(&size, cudaLimitMallocHeapSize);
  out[n++] = size;
  out[n++] = cudaDeviceGetLimit(&size, cudaLimitMaxL2FetchGranularity);
  out[n++] = cudaGetDevice(&value);
  out[n++] = value;
  out[n++] = cudaGetDeviceCount(&value);
  out[n++] = value > 0;
  out[n++] = cudaRuntimeGetVersion(&value);
  out[n++] = value >= 12000;
  cudaFuncAttributes attributes;
  out[n++] = cudaFuncGetAttributes(&attributes, (const void*)count);
  out[n++] = attributes.maxThreadsPerBlock;
  out[n++] = cudaFuncGetAttributes(&attributes, (const void*)out);
  out[n++] = length(cudaGetErrorName(cudaErrorInvalidConfiguration));
  out[n++] = length(cudaGetErrorString(cudaErrorInvalidConfiguration));
  out[n++] = cudaGetErrorName(cudaErrorLaunchMaxDepthExceeded)[9];
}

static __global__ void with_shared_memory(unsigned* out) {
  __shared__ unsigned values[5000];
  values[threadIdx.x] = out[0];
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x ^ 1];
}

extern "C" __global__ void ask_for_occupancy(int* out) {
  const void* const kernel = (const void*)with_shared_memory;
  unsigned n = 0;
  for (int threads = 32; threads <= 1024; threads *= 2) {
    out[n] = -1;
    out[n + 1] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(out + n, kernel, threads, 0);
    n += 2;
  }
  out[n + 1] = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      out + n, kernel, 64, 20000, cudaOccupancyDisableCachingOverride);
  out[n + 2] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(out + n, kernel, 0, 0);
  out[n + 3] = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out + n, kernel, 1, 0, 7);
  out[n + 4] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(out + n, (const void*)out, 32, 0);
  if (out[0] < 0) with_shared_memory<<<1, 32>>>((unsigned*)out);
}

extern "C" __global__ void writes_at_null(unsigned* at) { *at = 1; }

extern "C" __global__ void launch_fault(unsigned* out) {
  out[0] = 1;
  writes_at_null<<<1, 1>>>(nullptr);
  count<<<1, 1>>>(out, 1u);
}

// Each block's threads meet before and after launches: warps with stacks of their own.
extern "C" __global__ void launch_between_barriers(unsigned* out) {
  __shared__ unsigned sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, threadIdx.x);
  if (threadIdx.x % 2 == 0) {
    asm volatile("bar.sync 1, 32;");
    count<<<1, 1>>>(out, 1u);
  } else {
    asm volatile("bar.sync 1, 32;");
    count<<<1, 1>>>(out + 1, 1u);
  }
  __syncthreads();
  if (threadIdx.x == 0) count<<<1, 1>>>(out + 2, sum);
}
