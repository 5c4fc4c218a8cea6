// Addresses that differ by lane: several elements at each, lanes that lie in runs, quotients of
// thread indices, words of shared memory.
#define INDEX() static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned int u32;

// Elements of 8, 16 and 32 bytes at places of each thread's own; those without one stay away.
template <class T>
__device__ void move(T* out, const T* in, const int* places, int n) {
  const int i = INDEX();
  if (i >= n || places[i] < 0) return;
  out[places[i]] = in[places[n - 1 - i] < 0 ? i : places[i] / 2];
}
extern "C" __global__ void move_float2(float2* out, const float2* in, const int* places, int n) {
  move(out, in, places, n);
}
extern "C" __global__ void move_float4(float4* out, const float4* in, const int* places, int n) {
  move(out, in, places, n);
}
extern "C" __global__ void move_double2(double2* out, const double2* in, const int* places, int n) {
  move(out, in, places, n);
}
extern "C" __global__ void move_short4(short4* out, const short4* in, const int* places, int n) {
  move(out, in, places, n);
}

// Neighbours by scalar loads, in every order, and more of them than fit a row.
extern "C" __global__ void neighbours(u32* out, const u32* in, const int* places, int n) {
  const int i = INDEX();
  if (i >= n || places[i] < 0) return;
  const u32* from = in + places[i];
  out[i] = from[2] * 3 + from[0] * 5 + from[3] * 7 + from[1] * 11 + from[4] * 13 + from[6] * 17;
}

// A store between two loads of neighbours may change what the second one reads.
extern "C" __global__ void chained(u32* data, const int* places, int n) {
  const int i = INDEX();
  if (i >= n || places[i] < 0) return;
  u32* own = data + places[i] * 4;
  const u32 first = own[0];
  own[1] += first;
  const u32 second = own[1];
  own[2] += second;
  own[3] += own[2];
}

// A row for 16 or 8 threads.
template <int kThreads>
__device__ void add_rows(u32* out, const int* starts, const u32* values, int rows) {
  const int row = INDEX() / kThreads, lane = INDEX() % kThreads;
  if (row >= rows) return;
  u32 sum = 0;
  for (int k = starts[row] + lane; k < starts[row + 1]; k += kThreads)
    sum += values[k] * (lane + 1);
  out[row * kThreads + lane] = sum;
}
extern "C" __global__ void rows16(u32* out, const int* starts, const u32* values, int rows) {
  add_rows<16>(out, starts, values, rows);
}
extern "C" __global__ void rows8(u32* out, const int* starts, const u32* values, int rows) {
  add_rows<8>(out, starts, values, rows);
}

// A sparse row for several threads, which exchange what they have in every way.
template <int kThreads>
__device__ void exchange_rows(u32* out, const int* starts, const int* columns, const u32* x,
                              int rows, int distance) {
  const int row = INDEX() / kThreads, lane = INDEX() % kThreads;
  if (row >= rows) return;
  u32 sum = lane;
  for (int k = starts[row] + lane; k < starts[row + 1]; k += kThreads) sum += x[columns[k]] * 3;
  u32 all = sum, before = sum;
  for (int d = 1; d < kThreads; d *= 2) {
    all += __shfl_xor_sync(~0u, all, d, kThreads);
    const u32 other = __shfl_up_sync(~0u, before, d, kThreads);
    if (lane >= d) before += other;
  }
  const u32 next = __shfl_down_sync(~0u, sum, 1, kThreads);
  const u32 any = __shfl_sync(~0u, sum, lane * distance + row, kThreads);
  out[row * kThreads + lane] = all + before * 5 + next * 7 + any * 11;
}
#define EXCHANGE(threads)                                                                       \
  extern "C" __global__ void exchange##threads(u32* out, const int* starts, const int* columns, \
                                               const u32* x, int rows, int distance) {          \
    exchange_rows<threads>(out, starts, columns, x, rows, distance);                            \
  }
EXCHANGE(2)
EXCHANGE(4)
EXCHANGE(8)
EXCHANGE(16)
EXCHANGE(32)

// What begins as a run of lanes goes on as anything.
extern "C" __global__ void chase(u32* out, const int* starts, const int* next, int rounds) {
  int k = starts[INDEX() / 16] + INDEX() % 16;
  u32 sum = 0;
  for (int r = 0; r < rounds; ++r) {
    sum = sum * 31 + k;
    k = next[k];
  }
  out[INDEX()] = sum;
}

// Quotients and remainders of indices that may be negative or wrap around.
extern "C" __global__ void quotients(int* out, int shift, int factor) {
  const int i = static_cast<int>(static_cast<u32>(INDEX()) * factor + shift);
  int* own = out + INDEX() * 6;
  own[0] = i / 16;
  own[1] = i % 16;
  own[2] = i / 4;
  own[3] = i % 4 * 1024 + i / 4;
  own[4] = i >> 31;
  own[5] = static_cast<int>(static_cast<u32>(i) >> 4);
}

// Words of shared memory, by all threads or some, with one operand or one each.
extern "C" __global__ void shared_words(u32* out, const u32* in, u32 one, int active) {
  __shared__ u32 words[6][32];
  const u32 t = threadIdx.x, own = in[t];
  if (t < 192) words[t / 32][t % 32] = t / 32 == 2 || t / 32 == 4 ? ~0u : 0;
  __syncthreads();
  if (static_cast<int>(t) < active) {
    atomicAdd(&words[0][own % 32], one);
    atomicAdd(&words[1][own / 32 % 32], own);
    atomicAnd(&words[2][own % 7], own | 0xff);
    atomicOr(&words[3][own % 5], own);
    atomicMin(&words[4][own % 32], own);
    atomicMax(reinterpret_cast<int*>(&words[5][own % 32]), static_cast<int>(own));
  }
  __syncthreads();
  if (t < 192) out[t] = words[t / 32][t % 32];
}

// Strides of the grid's size, as far as the last element.
extern "C" __global__ void strided_sums(u32* sums, const u32* values, int n) {
  u32 sum = 0;
  for (int i = INDEX(); i < n; i += static_cast<int>(gridDim.x * blockDim.x)) sum += values[i];
  sums[INDEX()] = sum;
}

// Elements [first, last), around which nothing may be readable.
extern "C" __global__ void edges(unsigned long long* out, const unsigned long long* longs,
                                 const u32* words, const unsigned short* shorts, int first,
                                 int last) {
  const int i = INDEX();
  unsigned long long sum = i >= first && i < last ? longs[i] : 0;
  if (i >= first && i < last) sum = sum * 3 + words[i] * 5 + shorts[i];
  out[i] = sum;
}

// Rows that a block's threads share: loops whose rounds the block's size decides, or does not.
extern "C" __global__ void rows(u32* out, const u32* in, int pitch, int height) {
  __shared__ u32 tile[32][33];
  const int x = threadIdx.x, y = threadIdx.y, first = blockIdx.x * 32;
  for (int k = y; k < 32; k += blockDim.y) tile[k][x] = in[k * pitch + first + x];
  __syncthreads();
  for (int k = y; k < height && k < 32; k += 8) {
    out[(first + k) * 32 + x] = x < 32 ? tile[x][k] : 0;
  }
}

// Bits of one value and the others of another, where some lanes keep what they have.
extern "C" __global__ void some_bits(u32* low, u32* mixed, float* signs, const u32* in, int n) {
  const int i = INDEX();
  if (i >= n) return;
  u32 a = low[i], b = mixed[i];
  const u32 x = in[i], odd = 0x00ff00f0u + threadIdx.x % 32u;
  float s = signs[i];
  if (x & 1) {
    a = (x & 0x00ffff00u) | (a & ~0x00ffff00u);
    b = (x & odd) | (b & ~odd);
    s = copysignf(s, __uint_as_float(x));
  }
  low[i] = a;
  mixed[i] = b;
  signs[i] = s;
}

// Lists of different lengths, each thread along its own; -1 ends them.
template <class T>
__device__ T sum_of_list(const int* next, const T* weights, int at) {
  T sum = 0;
  while (at >= 0) {
    sum += weights[at];
    at = next[at];
  }
  return sum;
}
extern "C" __global__ void walk_u32(const int* next, const u32* weights, const int* heads, u32* out,
                                    int n) {
  const int i = INDEX();
  if (i < n) out[i] = sum_of_list(next, weights, heads[i]);
}
extern "C" __global__ void walk_f64(const int* next, const double* weights, const int* heads,
                                    double* out, int n) {
  const int i = INDEX();
  if (i < n) out[i] = sum_of_list(next, weights, heads[i]);
}
// In blocks of several rows.
extern "C" __global__ void walk_rows(const int* next, const u32* weights, const int* heads,
                                     u32* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) out[y * n + x] = sum_of_list(next, weights, heads[y * n + x]);
}
