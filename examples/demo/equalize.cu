// Histogram equalisation of the brightness, in three kernels.
constexpr int kBins = 256;
constexpr int kWarps = kBins / 32;
constexpr unsigned kAllLanes = 0xffffffffu;

__device__ int brightness(const unsigned char* pixel) {
  return (77 * pixel[0] + 150 * pixel[1] + 29 * pixel[2]) >> 8;
}

// Counts into shared memory first: one global atomic per bin and block. Block (256); bins zeroed.
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int pixel_count) {
  __shared__ unsigned counts[kBins];
  counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * kBins + threadIdx.x; i < pixel_count; i += gridDim.x * kBins) {
    atomicAdd(&counts[brightness(in + 3 * i)], 1u);
  }
  __syncthreads();
  if (counts[threadIdx.x] != 0) atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

// Sums of each lane and all lanes before it.
__device__ unsigned scan_warp(unsigned value, int lane) {
  for (int distance = 1; distance < 32; distance *= 2) {
    const unsigned before = __shfl_up_sync(kAllLanes, value, distance);
    if (lane >= distance) value += before;
  }
  return value;
}

// From counts to the new brightness of each old one. One block (256): a thread per bin.
extern "C" __global__ void equalize_table(const unsigned* bins, unsigned char* table) {
  __shared__ unsigned warp_sums[kWarps];
  __shared__ unsigned darkest_sum;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const unsigned count = bins[threadIdx.x];
  unsigned sum = scan_warp(count, lane);
  if (lane == 31) warp_sums[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    const unsigned warp_sum = lane < kWarps ? warp_sums[lane] : 0;
    const unsigned scanned = scan_warp(warp_sum, lane);
    if (lane < kWarps) warp_sums[lane] = scanned;
  }
  __syncthreads();
  if (warp > 0) sum += warp_sums[warp - 1];
  if (count != 0 && sum == count) darkest_sum = sum;  // the first bin that is not empty
  __syncthreads();
  const unsigned darkest = darkest_sum;
  const unsigned range = max(warp_sums[kWarps - 1] - darkest, 1u);
  const float share = static_cast<float>(max(sum, darkest) - darkest) / static_cast<float>(range);
  table[threadIdx.x] = static_cast<unsigned char>(fmaf(share, 255.0f, 0.5f));
}

// Scales each pixel's colour to its new brightness.
extern "C" __global__ void equalize(const unsigned char* in, unsigned char* out,
                                    const unsigned char* table, int pixel_count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pixel_count) return;
  const int old_brightness = brightness(in + 3 * i);
  const float scale =
      static_cast<float>(table[old_brightness]) / static_cast<float>(max(old_brightness, 1));
  for (int channel = 0; channel < 3; ++channel) {
    const float value = fmaf(static_cast<float>(in[3 * i + channel]), scale, 0.5f);
    out[3 * i + channel] = static_cast<unsigned char>(fminf(value, 255.0f));
  }
}
