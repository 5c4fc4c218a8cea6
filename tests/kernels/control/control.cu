// Divergent control flow: loops, breaks, switches, calls, recursion.
#define INDEX() (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned int u32;
typedef unsigned long long u64;

extern "C" __global__ void collatz(const u32* start, u32* steps, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  u64 x = start[i];
  u32 count = 0;
  while (x > 1) {
    x = x & 1 ? 3 * x + 1 : x >> 1;
    ++count;
  }
  steps[i] = count;
}

extern "C" __global__ void mandelbrot(u32* out, u32 width, u32 height, u32 limit) {
  const u32 px = blockIdx.x * blockDim.x + threadIdx.x;
  const u32 py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  const float cx = -2.0f + 3.0f * (float)px / (float)width;
  const float cy = -1.2f + 2.4f * (float)py / (float)height;
  float x = 0.0f, y = 0.0f;
  u32 k = 0;
  for (; k < limit && x * x + y * y <= 4.0f; ++k) {
    const float next = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next;
  }
  out[py * width + px] = k;
}

extern "C" __global__ void gcd(const u32* a, const u32* b, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  u32 x = a[i], y = b[i];
  while (y != 0) {
    const u32 rest = x % y;
    x = y;
    y = rest;
  }
  out[i] = x;
}

// Both loops have trip counts of their own in each thread; inner break, outer continue.
extern "C" __global__ void nested_loops(const u32* in, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  u32 sum = 0;
  for (u32 a = 0; a < (in[i] & 15); ++a) {
    if ((a ^ i) % 5 == 0) continue;
    for (u32 b = a; b < (in[i] >> 4 & 31); ++b) {
      if ((a * b + i) % 7 == 6) break;
      sum = sum * 3 + a + b;
    }
    if (sum > 0x80000000u) break;
    sum += 11;
  }
  out[i] = sum;
}

extern "C" __global__ void switches(const u32* in, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  u32 x = in[i];
  for (int step = 0; step < 8; ++step) {
    switch (x % 11) {
      case 0:
        x = x / 11 + 3;
        break;
      case 1:
        x += 7;  // falls through
      case 2:
        x ^= 0x55;
        break;
      case 3:
        x = x * 5 + 1;
        break;
      case 4:
      case 5:
        x >>= 1;
        break;
      case 7:
        step += 2;
        x += 100;
        break;
      case 9:
        out[i] = x;
        return;
      default:
        x = ~x;
    }
  }
  out[i] = x + 1;
}

extern "C" __global__ void returns_from_loops(const int* data, int width, int needle, int* found,
                                              u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  found[i] = -1;
  for (int k = 0; k < width; ++k) {
    if (data[i * width + k] == needle) {
      found[i] = k;
      return;
    }
  }
  if (i % 2 == 0) found[i] = -2;
}

extern "C" __global__ void do_while(const u32* in, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  u32 x = in[i], digits = 0, sum = 0;
  do {
    sum += x % 10;
    x /= 10;
    ++digits;
  } while (x != 0);
  out[2 * i + 0] = digits;
  out[2 * i + 1] = sum;
}

extern "C" __global__ void short_circuit(const int* in, const int* limit, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  u32 result = 0;
  // in[] may only be read while the index is in bounds: && must not be evaluated eagerly.
  const int at = limit[i];
  if (at >= 0 && at < (int)n && in[at] > 0 && 1000 / in[at] > 10) result |= 1;
  if (at < 0 || at >= (int)n || in[at] <= 0) result |= 2;
  const int pick = (at >= 0 && at < (int)n) ? in[at] : -7;
  out[i] = result | (u32)(pick & 0xFF) << 8;
}

__device__ __noinline__ float polynomial(float x, int degree) {
  float sum = 1.0f;
  for (int k = 0; k < degree; ++k) sum = sum * x + 0.5f;
  return sum;
}

// A call under a divergent mask, twice, from different places.
extern "C" __global__ void divergent_calls(const float* in, float* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  float x = in[i];
  if (x > 0.0f) {
    x = polynomial(x, 3 + (int)(i & 3));
    if (i & 1) x = -x;
  } else if (i % 3 == 0) {
    x = polynomial(-x, 2) + 1.0f;
  }
  out[i] = x;
}

struct Pair {
  float quotient;
  int count;
  double total;
};

__device__ __noinline__ Pair make_pair(float a, int b, Pair previous) {
  previous.quotient += a / (float)b;
  previous.count += b;
  previous.total += (double)previous.quotient * previous.count;
  return previous;
}

extern "C" __global__ void structure_results(const float* in, double* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  Pair p = {0.5f, 1, 0.0};
  for (int k = 1; k < 5; ++k) p = make_pair(in[i], k + (int)(i & 7), p);
  out[i] = p.total + p.count;
}

// Newton's method until it converges, which takes a different number of steps everywhere.
extern "C" __global__ void newton(const float* in, float* root, u32* steps, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const float a = in[i];
  float x = a > 1.0f ? a : 1.0f;
  u32 count = 0;
  while (true) {
    const float next = 0.5f * (x + a / x);
    if (next >= x || ++count > 60) break;
    x = next;
  }
  root[i] = x;
  steps[i] = count;
}

extern "C" __global__ void eight_queens(u32* solutions, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  u32 rows[8];
  int depth = 1;
  rows[0] = i & 7;
  rows[1] = 0;
  u32 count = 0;
  while (depth > 0) {
    if (rows[depth] > 7) {
      if (--depth > 0) ++rows[depth];
      continue;
    }
    bool free = true;
    for (int k = 0; k < depth; ++k) {
      const int gap = depth - k, shift = (int)rows[depth] - (int)rows[k];
      if (shift == 0 || shift == gap || shift == -gap) {
        free = false;
        break;
      }
    }
    if (!free) {
      ++rows[depth];
    } else if (depth == 7) {
      ++count;
      ++rows[depth];
    } else {
      rows[++depth] = 0;
    }
  }
  solutions[i] = count;
}

// A little byte-code machine: every thread runs its own program.
extern "C" __global__ void interpreter(const unsigned char* programs, int length, int* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const unsigned char* code = programs + i * (u32)length;
  int stack[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  int top = 0, pc = 0, fuel = 200;
  while (pc < length && fuel-- > 0) {
    const int op = code[pc] & 7, operand = code[pc] >> 3;
    ++pc;
    if (op == 0) {
      top = (top + 1) & 7;
      stack[top] = operand;
    } else if (op == 1) {
      stack[top] += stack[(top + 7) & 7];
    } else if (op == 2) {
      stack[top] *= operand + 1;
    } else if (op == 3) {
      top = (top + 7) & 7;
    } else if (op == 4) {
      if ((stack[top] & 1) != 0) pc = (pc + operand) % length;
    } else if (op == 5) {
      stack[(top + operand) & 7] ^= stack[top] + pc;
    } else if (op == 6 && operand > 28) {
      break;
    } else {
      stack[top] -= operand;
    }
  }
  int sum = pc;
  for (int k = 0; k < 8; ++k) sum = sum * 31 + stack[k];
  out[i] = sum;
}

// Loops that only some warps, or single lanes, enter at all; the others must not pay or be changed.
extern "C" __global__ void sparse_work(const u32* in, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  u32 x = in[i];
  if ((i & 31) == 17) {
    for (u32 k = 0; k < 100; ++k) x = x * 69069u + 1u;
  }
  if ((i / 32) % 3 == 1) {
    for (u32 k = 0; k < 3; ++k) x ^= x << 5;
    if (i % 64 == 40) x /= (i & 7) + 1;
  }
  out[i] = x;
}

// How far threads come is told by stores that are the same for all of them.
extern "C" __global__ void farthest(const u32* in, u32* marks, u32 rounds, u32 odd) {
  const u32 own = in[threadIdx.x];
#pragma unroll 1
  for (u32 k = 0; k < rounds; ++k) {
    for (u32 bit = odd & k; bit != 0; bit >>= 1) marks[2 * rounds + bit] = bit;
    if (own <= k) break;
    for (u32 bit = odd & k; bit != 0; bit >>= 1) marks[rounds + k] = bit;
    marks[k] = k + 1;
  }
}
