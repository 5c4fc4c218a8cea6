// Accelerations of n bodies (x, y, z, mass); a tile of 256 bodies in shared memory at a time.
template <class InverseRoot>
__device__ void accelerate(const float4* bodies, float4* accelerations, int n,
                           InverseRoot inverse_root) {
  __shared__ float4 tile[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 own = bodies[i];
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int start = 0; start < n; start += 256) {
    tile[threadIdx.x] = bodies[start + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 256; ++k) {
      const float4 other = tile[k];
      const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
      const float inverse = inverse_root(dx * dx + dy * dy + dz * dz + 1e-3f);
      const float scale = other.w * inverse * inverse * inverse;
      ax += dx * scale;
      ay += dy * scale;
      az += dz * scale;
    }
    __syncthreads();
  }
  accelerations[i] = make_float4(ax, ay, az, 0.0f);
}

struct Exact {
  __device__ float operator()(float x) const { return 1.0f / sqrtf(x); }
};
struct Approximate {
  __device__ float operator()(float x) const { return rsqrtf(x); }
};

extern "C" __global__ void nbody(const float4* bodies, float4* accelerations, int n) {
  accelerate(bodies, accelerations, n, Exact());
}
extern "C" __global__ void nbody_rsqrt(const float4* bodies, float4* accelerations, int n) {
  accelerate(bodies, accelerations, n, Approximate());
}
