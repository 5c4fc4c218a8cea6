// Memory operations that CUDA C++ has no plain words for, by inline PTX: atomics on halves, vectors
// and 128 bits, loads and stores of 128 bits, and device malloc.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define INDEX() (blockIdx.x * blockDim.x + threadIdx.x)

// Small integers: their sums are exact in any order. In is f16 and bf16 of the same number.
extern "C" __global__ void half_sums(const u16* f16, const u16* bf16, u16* cells, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const u32 f16x2 = f16[i] | (u32)f16[(i + 1) % n] << 16;
  const u32 bf16x2 = bf16[i] | (u32)bf16[(i + 1) % n] << 16;
  [[maybe_unused]] u16 old;
  [[maybe_unused]] u32 old2;
  asm volatile("red.global.add.noftz.f16 [%0], %1;" ::"l"(cells), "h"(f16[i]) : "memory");
  asm volatile("red.relaxed.gpu.global.add.noftz.bf16 [%0], %1;" ::"l"(cells + 1), "h"(bf16[i])
               : "memory");
  asm volatile("atom.global.add.noftz.f16 %0, [%1], %2;"
               : "=h"(old)
               : "l"(cells + 2), "h"(f16[i])
               : "memory");
  asm volatile("atom.add.noftz.bf16 %0, [%1], %2;"
               : "=h"(old)
               : "l"(cells + 3), "h"(bf16[i])
               : "memory");
  asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(cells + 4), "r"(f16x2) : "memory");
  asm volatile("atom.global.add.noftz.bf16x2 %0, [%1], %2;"
               : "=r"(old2)
               : "l"(cells + 6), "r"(bf16x2)
               : "memory");
}

// Old values of one thread after the other, in shared memory.
extern "C" __global__ void half_tickets(u16* out) {
  __shared__ __align__(4) u16 cell[2];
  const u32 t = threadIdx.x;
  if (t == 0) cell[0] = 0;
  __syncthreads();
  u16 old;
  asm volatile("atom.shared.add.noftz.f16 %0, [%1], %2;"
               : "=h"(old)
               : "r"((u32)__cvta_generic_to_shared(cell)), "h"((u16)0x3C00)
               : "memory");
  out[t] = old;
  __syncthreads();
  if (t == 0) out[blockDim.x] = cell[0];
}

extern "C" __global__ void vectors(float* sums, u16* halves, u32* packed, u32* old, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const float x = (float)i;
  asm volatile("red.global.v2.f32.add [%0], {%1, %2};" ::"l"(sums + 2 * (i % 2)), "f"(x), "f"(-x)
               : "memory");
  float a, b, c, d;
  asm volatile("atom.global.v4.f32.add {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};"
               : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
               : "l"(sums + 4 + 4 * i), "f"(x), "f"(x + 1), "f"(x + 2), "f"(x + 3)
               : "memory");
  old[i] = __float_as_uint(a + b * 2 + c * 4 + d * 8);
  const u16 h = (u16)(0x3C00 + i);  // grows with i
  asm volatile("red.global.v8.f16.max.noftz [%0], {%1, %1, %1, %1, %1, %1, %1, %2};" ::"l"(halves),
               "h"(h), "h"((u16)0xFC00)
               : "memory");
  asm volatile("red.global.v2.bf16x2.min.noftz [%0], {%1, %2};" ::"l"(packed),
               "r"((u32)h | (u32)h << 16), "r"((u32)h << 16 | 0x3F80)
               : "memory");
}

// Subnormal sums: kept in shared memory, flushed in global memory, however they are addressed.
extern "C" __global__ void subnormal_sums(float* cells, u32* out) {
  __shared__ float values[2];
  const u32 t = threadIdx.x;
  const float tiny = __uint_as_float(0x00000011u);
  if (t == 0) values[0] = values[1] = 0.0f;
  __syncthreads();
  if (t == 1) {
    asm volatile("red.shared.add.f32 [%0], %1;" ::"r"((u32)__cvta_generic_to_shared(values)),
                 "f"(tiny)
                 : "memory");
    asm volatile("red.global.add.f32 [%0], %1;" ::"l"(cells), "f"(tiny) : "memory");
  }
  float* generic = t == 2 ? values + 1 : cells + 1;
  if (t == 2 || t == 3) {
    asm volatile("red.add.f32 [%0], %1;" ::"l"(generic), "f"(tiny) : "memory");
  }
  __syncthreads();
  if (t < 2) {
    out[t] = __float_as_uint(values[t]);
    out[2 + t] = __float_as_uint(((volatile float*)cells)[t]);
  }
}

// Both halves change together: the last one to swap sees what the chain of swaps left.
extern "C" __global__ void wide_swaps(u64* cells, u64* seen, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  u64 low, high;
  asm volatile(
      "{ .reg .b128 d, v; mov.b128 v, {%2, %3}; atom.global.exch.b128 d, [%4], v;"
      " mov.b128 {%0, %1}, d; }"
      : "=l"(low), "=l"(high)
      : "l"((u64)i + 1), "l"(~((u64)i + 1)), "l"(cells)
      : "memory");
  seen[2 * i] = low;
  seen[2 * i + 1] = high;
  // Every thread adds to both halves of its group's cell, as often as it takes.
  u64* cell = cells + 2 + 2 * (i % 3);
  u64 old_low = cell[0], old_high = cell[1];
  for (bool done = false; !done;) {
    u64 got_low, got_high;
    asm volatile(
        "{ .reg .b128 d, c, v; mov.b128 c, {%2, %3}; mov.b128 v, {%4, %5};"
        " atom.global.cas.b128 d, [%6], c, v; mov.b128 {%0, %1}, d; }"
        : "=l"(got_low), "=l"(got_high)
        : "l"(old_low), "l"(old_high), "l"(old_low + i), "l"(old_high + 1), "l"(cell)
        : "memory");
    done = got_low == old_low && got_high == old_high;
    old_low = got_low;
    old_high = got_high;
  }
}

extern "C" __global__ void wide_copies(const u64* in, u64* out, u32 n) {
  __shared__ __align__(16) u64 staged[2 * 64];
  const u32 i = INDEX(), t = threadIdx.x;
  if (i >= n) return;
  u64 low, high;
  asm volatile(
      "{ .reg .b128 v; ld.global.b128 v, [%2]; st.shared.b128 [%3], v;"
      " ld.volatile.shared.b128 v, [%3]; mov.b128 {%0, %1}, v; }"
      : "=l"(low), "=l"(high)
      : "l"(in + 2 * i), "r"((u32)__cvta_generic_to_shared(staged + 2 * t))
      : "memory");
  asm volatile("{ .reg .b128 v; mov.b128 v, {%1, %2}; st.global.b128 [%0], v; }" ::"l"(
                   out + 2 * ((i * 7) % n)),
               "l"(low), "l"(high)
               : "memory");
}

// A writer changes both halves at once; whoever reads sees halves that belong together.
extern "C" __global__ void untorn(u64* cell, u32* torn, u32 rounds) {
  const u32 i = INDEX();
  for (u32 r = 0; r < rounds; ++r) {
    const u64 value = (u64)i * rounds + r;
    u64 low, high;
    if (i % 2 == 0) {
      asm volatile(
          "{ .reg .b128 v; mov.b128 v, {%1, %2}; st.relaxed.gpu.global.b128 [%0], v; }" ::"l"(cell),
          "l"(value), "l"(~value)
          : "memory");
    } else {
      asm volatile("{ .reg .b128 v; ld.relaxed.gpu.global.b128 v, [%2]; mov.b128 {%0, %1}, v; }"
                   : "=l"(low), "=l"(high)
                   : "l"(cell)
                   : "memory");
      if (low != ~high) atomicAdd(torn, 1u);
    }
  }
}

// Parameters by address: an index that differs by thread, and a pointer that may lead anywhere.
struct Head {
  u32 values[5];
};
struct Tail {
  u32 values[8];
};

static __device__ __noinline__ u32 first_of(const u32* values) { return values[0]; }

extern "C" __global__ void parameters(Head head, const __grid_constant__ Tail tail,
                                      const u32* elsewhere, u32* out) {
  const u32 t = threadIdx.x;
  const u32* place = elsewhere[t] & 1 ? &tail.values[t % 8] : &elsewhere[t];
  out[3 * t] = head.values[t % 5] * 1000 + tail.values[(t + 3) % 8];
  out[3 * t + 1] = *place;
  out[3 * t + 2] = first_of(&tail.values[t % 4]);
}

// ---- The heap of kernels.

extern "C" __global__ void lists(const u32* lengths, u32** places, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const u32 length = lengths[i];
  u32* list = (u32*)malloc(4 * length);
  for (u32 k = 0; k < length; ++k) list[k] = i * k;
  u32 sum = 0;
  for (u32 k = 0; k < length; ++k) sum += list[k];
  out[i] = sum;
  places[i] = list;
}

extern "C" __global__ void free_lists(const u32* lengths, u32** places, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[i] = lengths[i] ? places[i][lengths[i] - 1] : 0;
  if (i % 4 != 3) free(places[i]);
}

extern "C" __global__ void too_much(u32* out) {
  out[0] = malloc(1ull << 40) == 0;
  void* all = malloc(7 << 20);
  out[1] = all != 0;
  out[2] = malloc(2 << 20) == 0;
  free(all);
  void* again = malloc(2 << 20);
  out[3] = again != 0;
  free(again);
}

extern "C" __global__ void free_wildly(u32* out) { free(out + 1); }
