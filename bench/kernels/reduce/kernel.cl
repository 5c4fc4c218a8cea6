// Sums of n floats. Groups of 256 work-items; one partial sum per group.

// The local tree that both kernels end with.
float sum_of_group(__local float* tree, int t) {
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int distance = 128; distance > 0; distance /= 2) {
    if (t < distance) tree[t] += tree[t + distance];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return tree[0];
}

// Each group adds 512 neighbours.
__kernel void reduce_tree(__global const float* values, __global float* sums, int n) {
  __local float tree[256];
  const int t = get_local_id(0), i = get_group_id(0) * 512 + t;
  tree[t] = (i < n ? values[i] : 0.0f) + (i + 256 < n ? values[i + 256] : 0.0f);
  const float sum = sum_of_group(tree, t);
  if (t == 0) sums[get_group_id(0)] = sum;
}

// Work-items stride over the whole array. OpenCL 1.2 has no shuffles: local memory serves.
__kernel void reduce_shfl(__global const float* values, __global float* sums, int n) {
  __local float tree[256];
  const int t = get_local_id(0);
  float sum = 0.0f;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) sum += values[i];
  tree[t] = sum;
  sum = sum_of_group(tree, t);
  if (t == 0) sums[get_group_id(0)] = sum;
}
