// Accelerations of n bodies (x, y, z, mass); a tile of 256 bodies in local memory at a time.
#pragma OPENCL FP_CONTRACT ON
#define EXACT(x) (1.0f / sqrt(x))

#define NBODY(name, inverse_root)                                                                 \
  __kernel void name(__global const float4* bodies, __global float4* accelerations, int n) {      \
    __local float4 tile[256];                                                                     \
    const int i = get_global_id(0), t = get_local_id(0);                                          \
    const float4 own = bodies[i];                                                                 \
    float ax = 0.0f, ay = 0.0f, az = 0.0f;                                                        \
    for (int start = 0; start < n; start += 256) {                                                \
      tile[t] = bodies[start + t];                                                                \
      barrier(CLK_LOCAL_MEM_FENCE);                                                               \
      for (int k = 0; k < 256; ++k) {                                                             \
        const float4 other = tile[k];                                                             \
        const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;             \
        const float inverse = inverse_root(dx * dx + dy * dy + dz * dz + 1e-3f);                  \
        const float scale = other.w * inverse * inverse * inverse;                                \
        ax += dx * scale;                                                                         \
        ay += dy * scale;                                                                         \
        az += dz * scale;                                                                         \
      }                                                                                           \
      barrier(CLK_LOCAL_MEM_FENCE);                                                               \
    }                                                                                             \
    accelerations[i] = (float4)(ax, ay, az, 0.0f);                                                \
  }

NBODY(nbody, EXACT)
NBODY(nbody_rsqrt, rsqrt)
