// Tiles of matrices and grids in shared memory. mutants.h says what the marks mean.
#include <cuda_pipeline.h>
#include "mutants.h"

#define X threadIdx.x
#define Y threadIdx.y

// run: 3,3 16,16 random[1600] zeros[1600] 40
KERNEL transposition(const int* a, int* out, int n) {
  __shared__ int tile[16][17];
  const int x = blockIdx.x * 16, y = blockIdx.y * 16;
  if (x + X < n && y + Y < n) tile[Y][X] = a[(y + Y) * n + x + X];    // mutant: bound
  __syncthreads();                                                    // mutant: barrier
  if (y + X < n && x + Y < n) out[(x + Y) * n + y + X] = tile[X][Y];  // mutant: bound
}

// run: 3,3 16,16 random[1600] random[1600] zeros[1600] 40
KERNEL product(const int* a, const int* b, int* out, int n) {
  __shared__ int s[16][16], t[16][16];
  const int x = blockIdx.x * 16 + X, y = blockIdx.y * 16 + Y;
  int sum = 0;
  for (int k = 0; k < n; k += 16) {
    s[Y][X] = 0;                                           // mutant: initialisation
    t[Y][X] = 0;                                           // mutant: initialisation
    if (y < n && k + X < n) s[Y][X] = a[y * n + k + X];    // mutant: bound
    if (x < n && k + Y < n) t[Y][X] = b[(k + Y) * n + x];  // mutant: bound
    __syncthreads();                                       // mutant: barrier
    for (int i = 0; i < 16; ++i) sum += s[Y][i] * t[i][X];
    __syncthreads();  // mutant: barrier
  }
  if (x < n && y < n) out[y * n + x] = sum;  // mutant: bound
}

// run: 3,3 16,16 random[2304] random[2304] zeros[2304] 48
KERNEL product_with_copies_ahead(const int* a, const int* b, int* out, int n) {
  __shared__ int s[2][16][16], t[2][16][16];
  const int x = blockIdx.x * 16 + X, y = blockIdx.y * 16 + Y;
  __pipeline_memcpy_async(&s[0][Y][X], &a[y * n + X], 4);
  __pipeline_memcpy_async(&t[0][Y][X], &b[Y * n + x], 4);
  __pipeline_commit();
  int sum = 0;
  for (int k = 0; k < n; k += 16) {
    const int now = k / 16 % 2;
    if (k + 16 < n) {
      __pipeline_memcpy_async(&s[1 - now][Y][X], &a[y * n + k + 16 + X], 4);
      __pipeline_memcpy_async(&t[1 - now][Y][X], &b[(k + 16 + Y) * n + x], 4);
    }
    __pipeline_commit();
    __pipeline_wait_prior(1);  // mutant: wait
    __syncthreads();           // mutant: barrier
    for (int i = 0; i < 16; ++i) sum += s[now][Y][i] * t[now][i][X];
    __syncthreads();  // mutant: barrier
  }
  out[y * n + x] = sum;
}

// run: 4 128 random[500] zeros[500] 500
KERNEL blur_of_a_line(const int* a, int* out, int n) {
  __shared__ int s[136];
  if (T < 4) s[T] = I >= 4 ? a[I - 4] : 0;
  s[T + 4] = 0;                // mutant: initialisation
  if (I < n) s[T + 4] = a[I];  // mutant: bound
  if (T >= 124) s[T + 8] = I + 4 < n ? a[I + 4] : 0;
  __syncthreads();  // mutant: barrier
  int sum = 0;
  for (int k = 0; k <= 8; ++k) sum += s[T + k];
  if (I < n) out[I] = sum / 9;  // mutant: bound
}

// run: 2,2 16,16 random[1024] zeros[1024] 32
KERNEL five_points(const int* a, int* out, int n) {
  __shared__ int tile[18][18];
  const int x = blockIdx.x * 16 + X, y = blockIdx.y * 16 + Y;
  for (int k = Y * 16 + X; k < 18 * 18; k += 256) {
    const int fx = static_cast<int>(blockIdx.x) * 16 + k % 18 - 1;
    const int fy = static_cast<int>(blockIdx.y) * 16 + k / 18 - 1;
    int value = 0;
    if (fx >= 0 && fy >= 0 && fx < n && fy < n) value = a[fy * n + fx];  // mutant: bound
    tile[k / 18][k % 18] = value;
  }
  __syncthreads();  // mutant: barrier
  const int* p = &tile[Y + 1][X + 1];
  out[y * n + x] = p[-1] + p[1] + p[-18] + p[18] - 4 * p[0];
}

// run: 4 128 random[512] zeros[512] 512
KERNEL heat_in_place(const int* a, int* out, int n) {
  __shared__ int s[130];
  s[T + 1] = a[I];
  if (T == 0) s[0] = 0;      // mutant: initialisation
  if (T == 127) s[129] = 0;  // mutant: initialisation
  __syncthreads();           // mutant: barrier
  for (int step = 0; step < 5; ++step) {
    const int next = (s[T] + s[T + 1] + s[T + 2]) / 3;
    __syncthreads();  // mutant: barrier
    s[T + 1] = next;
    __syncthreads();  // mutant: barrier
  }
  out[I] = s[T + 1];
}

// run: 4 128 random[500] zeros[500] 500
KERNEL forces_of_all_bodies(const int* a, int* out, int n) {
  __shared__ int s[128];
  int mine = 0, sum = 0;
  if (I < n) mine = a[I];  // mutant: bound
  for (int k = 0; k < n; k += 128) {
    s[T] = 0;                        // mutant: initialisation
    if (k + T < n) s[T] = a[k + T];  // mutant: bound
    __syncthreads();                 // mutant: barrier
    for (int i = 0; i < 128; ++i) sum += s[i] - mine;
    __syncthreads();  // mutant: barrier
  }
  if (I < n) out[I] = sum;  // mutant: bound
}
