// Reads of what nothing has written.

KERNEL init_shared_of_later_block(int* a, int* b, int n) {
  __shared__ int s[128];
  if (blockIdx.x == 0) s[T] = a[I] = T;
  __syncthreads();
  b[I] = s[127 - T] * 2;
}
KERNEL sound_init_shared_of_later_block(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = a[I] = T;
  __syncthreads();
  b[I] = s[127 - T] * 2;
}

KERNEL init_shared(int* a, int* b, int n) {
  __shared__ int s[128];
  if (n == 0) s[T] = 0;
  b[I] = s[T] + 1;
}
KERNEL sound_init_shared(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = 0;
  b[I] = s[T] + 1;
}

KERNEL init_half_of_shared(int* a, int* b, int n) {
  __shared__ int s[128];
  if (T < 64) s[T] = T;
  __syncthreads();
  b[I] = s[127 - T] + 1;
}
KERNEL sound_init_half_of_shared(int* a, int* b, int n) {
  __shared__ int s[128];
  if (T < 64) s[T] = T;
  if (T >= 64) s[T] = 0;
  __syncthreads();
  b[I] = s[127 - T] + 1;
}

KERNEL init_atomic(int* a, int* b, int n) {
  __shared__ int count;
  atomicAdd(&count, 1);
  __syncthreads();
  b[I] = count;
}
KERNEL sound_init_atomic(int* a, int* b, int n) {
  __shared__ int count;
  if (T == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);
  __syncthreads();
  b[I] = count;
}

KERNEL init_memory_of_malloc(int* a, int* b, int n) {
  int* const p = static_cast<int*>(malloc(8));
  p[0] = 1;
  b[I] = p[0] + p[1];
  free(p);
}
KERNEL sound_init_memory_of_malloc(int* a, int* b, int n) {
  int* const p = static_cast<int*>(malloc(8));
  p[0] = 1;
  p[1] = 2;
  b[I] = p[0] + p[1];
  free(p);
}

struct Padded {
  char flag;
  int number;
};
KERNEL init_field(int* a, int* b, int n) {
  __shared__ Padded s[128];
  s[T].flag = 1;
  __syncthreads();
  b[I] = s[127 - T].flag + s[127 - T].number;
}
// A copy of a structure reads its padding, which nobody has written.
KERNEL sound_init_field(int* a, int* b, int n) {
  __shared__ Padded s[128], t[128];
  s[T].flag = 1;
  s[T].number = T;
  __syncthreads();
  t[T] = s[127 - T];
  __syncthreads();
  b[I] = t[T].flag + t[T].number;
}

// Local memory: the array has no place in registers, because indices are unknown.
KERNEL init_local(int* a, int* b, int n) {
  int t[8];
  for (int k = 0; k < 7; ++k) t[(k + n) % 8] = a[k];
  b[I] = t[T % 8] + 1;
}
KERNEL sound_init_local(int* a, int* b, int n) {
  int t[8];
  for (int k = 0; k < 8; ++k) t[(k + n) % 8] = a[k];
  b[I] = t[T % 8] + 1;
}

KERNEL init_local_of_later_block(int* a, int* b, int n) {
  int t[8];
  if (blockIdx.x == 0) {
    for (int k = 0; k < 8; ++k) t[(k + n) % 8] = a[k];
  }
  b[I] = t[T % 8] + 1;
}
// A block's first threads have what its last ones have not, and the other way round.
KERNEL init_local_of_some_threads(int* a, int* b, int n) {
  int t[8];
  for (int k = T / 64; k < 7 + T / 64; ++k) t[(k + n) % 8] = a[k];
  __syncthreads();
  b[I] = t[(T / 64 + n) % 8] + t[(7 * (1 - T / 64) + n) % 8];
}
KERNEL sound_init_local_of_some_threads(int* a, int* b, int n) {
  int t[8];
  for (int k = T / 64; k < 7 + T / 64; ++k) t[(k + n) % 8] = a[k];
  __syncthreads();
  b[I] = t[(T / 64 + n) % 8] + t[(6 + T / 64 + n) % 8];
}

// Registers: p holds in the lower half of the block, and only there r is written.
#define BEGIN                                         \
  "{ .reg .pred p, q; .reg .b32 r, s; .reg .b64 d;\n" \
  "setp.lt.u32 p, %1, 64; @p mov.b32 r, 0;\n"
#define ASSEMBLY(text) asm volatile(BEGIN text "}" ::"l"(b + I), "r"(T) : "memory")

KERNEL init_register_is_stored(int* a, int* b, int n) {
  ASSEMBLY("add.u32 r, r, 1;\n st.global.b32 [%0], r;\n");
}
KERNEL sound_init_register_is_stored(int* a, int* b, int n) {
  ASSEMBLY("add.u32 r, r, 1;\n @p st.global.b32 [%0], r;\n");
}
KERNEL init_register_in_an_address(int* a, int* b, int n) {
  ASSEMBLY("cvt.u64.u32 d, r;\n add.u64 d, d, %0;\n st.global.b32 [d], %1;\n");
}
KERNEL sound_init_register_in_an_address(int* a, int* b, int n) {
  ASSEMBLY(
      "add.u32 r, r, 4;\n selp.b32 s, r, 4, p;\n cvt.u64.u32 d, s;\n add.u64 d, d, %0;\n"
      "st.global.b32 [d], %1;\n");
}
KERNEL init_register_in_a_branch(int* a, int* b, int n) {
  ASSEMBLY("setp.eq.u32 q, r, 0;\n @q st.global.b32 [%0], %1;\n");
}
// p is false where r is undefined, and decides then.
KERNEL sound_init_register_in_a_branch(int* a, int* b, int n) {
  ASSEMBLY("setp.eq.u32 q, r, 0;\n and.pred q, p, q;\n @q st.global.b32 [%0], %1;\n");
}
KERNEL init_register_of_a_loop(int* a, int* b, int n) {
  ASSEMBLY(
      "mov.b32 s, 0;\n again: add.u32 r, r, s;\n add.u32 s, s, 1;\n setp.lt.u32 q, s, 4;\n"
      "@q bra again;\n st.global.b32 [%0], r;\n");
}
KERNEL sound_init_register_of_a_loop(int* a, int* b, int n) {
  ASSEMBLY(
      "mov.b32 s, 0;\n again: @!p xor.b32 r, r, r;\n add.u32 r, r, s;\n add.u32 s, s, 1;\n"
      "setp.lt.u32 q, s, 4;\n @q bra again;\n st.global.b32 [%0], r;\n");
}
// The third element is the padding of a structure that is copied.
KERNEL sound_init_register_is_padding(int* a, int* b, int n) {
  if (I >= 256) return;
  asm volatile("{ .reg .b32 r;\n st.global.v4.b32 [%0], {%1, %1, r, %1};\n }" ::"l"(b + 4 * I),
               "r"(n)
               : "memory");
}

// Reads at constant distances, of which the first one's test may do for all.
KERNEL init_one_of_four(int* a, int* b, int n) {
  __shared__ int s[4][128];
  s[0][T] = s[1][T] = s[3][T] = T;
  if (n == 0) s[2][T] = T;
  __syncthreads();
  b[I] = s[0][T] + 2 * s[1][T] + 3 * s[2][T] + 4 * s[3][T];
}
KERNEL sound_init_one_of_four(int* a, int* b, int n) {
  __shared__ int s[4][128];
  s[0][T] = s[1][T] = s[3][T] = T;
  if (n != 0) s[2][T] = T;
  __syncthreads();
  b[I] = s[0][T] + 2 * s[1][T] + 3 * s[2][T] + 4 * s[3][T];
}

KERNEL init_last_of_four_in_later_block(int* a, int* b, int n) {
  __shared__ int s[4][128];
  s[0][T] = s[1][T] = s[2][T] = T;
  if (blockIdx.x < 3) s[3][T] = T;
  __syncthreads();
  const int column = a[I] + 127 - T;
  b[I] = s[0][column] + 2 * s[1][column] + 3 * s[2][column] + 4 * s[3][column];
}
KERNEL sound_init_last_of_four_in_later_block(int* a, int* b, int n) {
  __shared__ int s[4][128];
  s[0][T] = s[1][T] = s[2][T] = T;
  s[3][T] = T;
  __syncthreads();
  const int column = a[I] + 127 - T;
  b[I] = s[0][column] + 2 * s[1][column] + 3 * s[2][column] + 4 * s[3][column];
}
