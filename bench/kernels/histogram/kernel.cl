// How often each byte occurs among n words; `bins` is zero when a kernel starts.

__kernel void histogram_shared(__global const uint* words, volatile __global uint* bins, int n) {
  __local uint own[256];
  const int t = get_local_id(0);
  own[t] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
    const uint word = words[i];
    atomic_inc(&own[word & 255]);
    atomic_inc(&own[word >> 8 & 255]);
    atomic_inc(&own[word >> 16 & 255]);
    atomic_inc(&own[word >> 24]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[t], own[t]);
}

__kernel void histogram_global(__global const uint* words, volatile __global uint* bins, int n) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
    const uint word = words[i];
    atomic_inc(&bins[word & 255]);
    atomic_inc(&bins[word >> 8 & 255]);
    atomic_inc(&bins[word >> 16 & 255]);
    atomic_inc(&bins[word >> 24]);
  }
}
