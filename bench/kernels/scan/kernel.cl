// Inclusive prefix sums in one pass: each group scans a tile of 1024 elements in local memory and
// one work-item looks back over the tiles before it. `control` has the number of tiles that have
// begun, then a word per tile (what is known of it, and a sum); it is zero when the kernel starts.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define SUM_OF_TILE (1ul << 32)
#define SUM_TO_TILE (2ul << 32)

uint look_back(volatile __global ulong* states, int tile) {
  uint sum = 0;
  for (int other = tile - 1;; --other) {
    ulong word;
    do {
      word = states[other];
    } while (word == 0);
    sum += (uint)word;
    if (word >= SUM_TO_TILE) return sum;
  }
}

__kernel void scan(__global const uint4* values, __global uint4* sums,
                   volatile __global ulong* control) {
  __local uint to[256];
  __local uint before_tile;
  __local int shared_tile;
  const int t = get_local_id(0);
  if (t == 0) shared_tile = (int)atom_add(control, 1ul);
  barrier(CLK_LOCAL_MEM_FENCE);
  const int tile = shared_tile;
  volatile __global ulong* const states = control + 1;

  uint4 own = values[tile * 256 + t];
  own.y += own.x;
  own.z += own.y;
  own.w += own.z;
  to[t] = own.w;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int distance = 1; distance < 256; distance *= 2) {
    const uint before = t >= distance ? to[t - distance] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    to[t] += before;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) {
    const uint of_tile = to[255];
    states[tile] = (tile == 0 ? SUM_TO_TILE : SUM_OF_TILE) | of_tile;
    const uint before = tile == 0 ? 0 : look_back(states, tile);
    states[tile] = SUM_TO_TILE | (before + of_tile);
    before_tile = before;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  sums[tile * 256 + t] = own + (before_tile + to[t] - own.w);
}
