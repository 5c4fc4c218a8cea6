// Integer arithmetic, bit operations and comparisons, one thread per element.
#define INDEX() (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

extern "C" __global__ void int_arith32(const u32* a, const u32* b, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const u32 x = a[i], y = b[i];
  out[8 * i + 0] = x + y;
  out[8 * i + 1] = x - y;
  out[8 * i + 2] = x * y;
  out[8 * i + 3] = x * y + (x ^ y);
  out[8 * i + 4] = 0u - x;
  out[8 * i + 5] = (u32)max((int)x, (int)y) - min(x, y);
  out[8 * i + 6] = (u32)min((int)x, (int)y) + max(x, y);
  out[8 * i + 7] = __sad((int)x, (int)y, 17u) + __usad(x, y, 5u);
}

extern "C" __global__ void int_arith64(const u64* a, const u64* b, u64* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const u64 x = a[i], y = b[i];
  out[8 * i + 0] = x + y;
  out[8 * i + 1] = x - y;
  out[8 * i + 2] = x * y;
  out[8 * i + 3] = x * y + (x | y);
  out[8 * i + 4] = 0ull - x;
  out[8 * i + 5] = (u64)max((s64)x, (s64)y);
  out[8 * i + 6] = min(x, y);
  out[8 * i + 7] = (u64)llabs((s64)(x >> 1) - (s64)(y >> 1));
}

extern "C" __global__ void int_mulhi(const u64* a, const u64* b, u64* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const u64 x = a[i], y = b[i];
  out[4 * i + 0] = __umulhi((u32)x, (u32)y);
  out[4 * i + 1] = (u64)(s64)__mulhi((int)x, (int)y);
  out[4 * i + 2] = __umul64hi(x, y);
  out[4 * i + 3] = (u64)__mul64hi((s64)x, (s64)y);
}

extern "C" __global__ void int_mulwide(const u32* a, const u32* b, u64* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[4 * i + 0] = (u64)a[i] * b[i];
  out[4 * i + 1] = (u64)((s64)(int)a[i] * (int)b[i]);
  out[4 * i + 2] = (u64)a[i] * b[i] + 0x123456789ABCDEFull;
  out[4 * i + 3] = (u64)((s64)(int)a[i] * (int)b[i] - 42);
}

extern "C" __global__ void int_mul24(const u32* a, const u32* b, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[2 * i + 0] = (u32)__mul24((int)a[i], (int)b[i]);
  out[2 * i + 1] = __umul24(a[i], b[i]);
}

// Divisors are never zero and never -1 with the least dividend.
extern "C" __global__ void int_div32(const u32* a, const u32* b, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[4 * i + 0] = a[i] / b[i];
  out[4 * i + 1] = a[i] % b[i];
  out[4 * i + 2] = (u32)((int)a[i] / (int)b[i]);
  out[4 * i + 3] = (u32)((int)a[i] % (int)b[i]);
}

extern "C" __global__ void int_div64(const u64* a, const u64* b, u64* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[4 * i + 0] = a[i] / b[i];
  out[4 * i + 1] = a[i] % b[i];
  out[4 * i + 2] = (u64)((s64)a[i] / (s64)b[i]);
  out[4 * i + 3] = (u64)((s64)a[i] % (s64)b[i]);
}

extern "C" __global__ void int_div_constant(const u32* a, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[4 * i + 0] = a[i] / 7u;
  out[4 * i + 1] = (u32)((int)a[i] / 10);
  out[4 * i + 2] = (u32)((int)a[i] % 1000);
  out[4 * i + 3] = a[i] % 641u;
}

extern "C" __global__ void int_count_bits(const u64* a, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const u32 x = (u32)a[i];
  out[8 * i + 0] = __popc(x);
  out[8 * i + 1] = __clz((int)x);
  out[8 * i + 2] = __ffs((int)x);
  out[8 * i + 3] = __brev(x);
  out[8 * i + 4] = __popcll(a[i]);
  out[8 * i + 5] = __clzll((s64)a[i]);
  out[8 * i + 6] = __ffsll((s64)a[i]);
  out[8 * i + 7] = (u32)(__brevll(a[i]) >> 32) ^ (u32)__brevll(a[i]);
}

extern "C" __global__ void int_shift(const u64* a, const u32* amount, u64* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const u32 s = amount[i], x = (u32)a[i], y = (u32)(a[i] >> 32);
  out[8 * i + 0] = x << (s & 31);
  out[8 * i + 1] = x >> (s & 31);
  out[8 * i + 2] = (u32)((int)x >> (s & 31));
  out[8 * i + 3] = a[i] << (s & 63);
  out[8 * i + 4] = a[i] >> (s & 63);
  out[8 * i + 5] = (u64)((s64)a[i] >> (s & 63));
  out[8 * i + 6] = ((u64)__funnelshift_l(x, y, s) << 32) | __funnelshift_r(x, y, s);
  out[8 * i + 7] = ((u64)__funnelshift_lc(x, y, s) << 32) | __funnelshift_rc(x, y, s);
}

// PTX clamps shift counts at the width; C++ leaves them undefined, hence the assembly.
extern "C" __global__ void int_shift_clamped(const u64* a, const u32* amount, u64* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const u32 s = amount[i], x = (u32)a[i];
  u32 left, right, arithmetic;
  u64 left64, right64, arithmetic64;
  asm volatile("shl.b32 %0, %1, %2;" : "=r"(left) : "r"(x), "r"(s));
  asm volatile("shr.u32 %0, %1, %2;" : "=r"(right) : "r"(x), "r"(s));
  asm volatile("shr.s32 %0, %1, %2;" : "=r"(arithmetic) : "r"(x), "r"(s));
  asm volatile("shl.b64 %0, %1, %2;" : "=l"(left64) : "l"(a[i]), "r"(s));
  asm volatile("shr.u64 %0, %1, %2;" : "=l"(right64) : "l"(a[i]), "r"(s));
  asm volatile("shr.s64 %0, %1, %2;" : "=l"(arithmetic64) : "l"(a[i]), "r"(s));
  out[6 * i + 0] = left;
  out[6 * i + 1] = right;
  out[6 * i + 2] = arithmetic;
  out[6 * i + 3] = left64;
  out[6 * i + 4] = right64;
  out[6 * i + 5] = arithmetic64;
}

extern "C" __global__ void int_bytes(const u32* a, const u32* b, const u32* selector, u32* out,
                                     u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[4 * i + 0] = __byte_perm(a[i], b[i], selector[i]);
  out[4 * i + 1] = __byte_perm(a[i], b[i], 0x0123);
  out[4 * i + 2] = __byte_perm(a[i], b[i], 0x5410);
  out[4 * i + 3] = __byte_perm(a[i], 0, 0x4321);
}

extern "C" __global__ void int_bitfield(const u32* a, const u32* b, const u32* position,
                                        const u32* length, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  u32 extracted, inserted;
  int signed_extracted;
  asm volatile("bfe.u32 %0, %1, %2, %3;"
               : "=r"(extracted)
               : "r"(a[i]), "r"(position[i]), "r"(length[i]));
  asm volatile("bfe.s32 %0, %1, %2, %3;"
               : "=r"(signed_extracted)
               : "r"(a[i]), "r"(position[i]), "r"(length[i]));
  asm volatile("bfi.b32 %0, %1, %2, %3, %4;"
               : "=r"(inserted)
               : "r"(a[i]), "r"(b[i]), "r"(position[i]), "r"(length[i]));
  out[3 * i + 0] = extracted;
  out[3 * i + 1] = (u32)signed_extracted;
  out[3 * i + 2] = inserted;
}

extern "C" __global__ void int_logic(const u32* a, const u32* b, const u32* c, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const u32 x = a[i], y = b[i], z = c[i];
  out[6 * i + 0] = (x & y) | (~x & z);
  out[6 * i + 1] = (x & y) ^ (x & z) ^ (y & z);
  out[6 * i + 2] = x ^ y ^ z;
  out[6 * i + 3] = ~(x | y) & ~z;
  u32 mixed;
  asm volatile("lop3.b32 %0, %1, %2, %3, 0x6A;" : "=r"(mixed) : "r"(x), "r"(y), "r"(z));
  out[6 * i + 4] = mixed;
  out[6 * i + 5] = (x && y) || !z;
}

extern "C" __global__ void int_small_types(const u16* a, const u16* b, u16* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const short x = (short)a[i], y = (short)b[i];
  const signed char p = (signed char)a[i], q = (signed char)b[i];
  out[8 * i + 0] = (u16)(a[i] + b[i]);
  out[8 * i + 1] = (u16)(x * y);
  out[8 * i + 2] = (u16)(x >> (b[i] & 15));
  out[8 * i + 3] = (u16)(a[i] >> (b[i] & 15));
  out[8 * i + 4] = (u16)(signed char)(p + q);
  out[8 * i + 5] = (u16)(u8)(p * q);
  out[8 * i + 6] = (u16)(x < y ? x : y);
  out[8 * i + 7] = (u16)((p < q) + 2 * ((u8)p < (u8)q) + 4 * (a[i] < b[i]));
}

extern "C" __global__ void int_compare(const u64* a, const u64* b, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const u64 x = a[i], y = b[i];
  const u32 p = (u32)x, q = (u32)y;
  u32 bits = 0;
  bits |= (p == q) << 0 | (p != q) << 1 | (p < q) << 2 | (p <= q) << 3 | (p > q) << 4;
  bits |= (p >= q) << 5 | ((int)p < (int)q) << 6 | ((int)p <= (int)q) << 7;
  bits |= ((int)p > (int)q) << 8 | ((int)p >= (int)q) << 9;
  bits |= (x == y) << 10 | (x != y) << 11 | (x < y) << 12 | (x <= y) << 13 | (x > y) << 14;
  bits |= (x >= y) << 15 | ((s64)x < (s64)y) << 16 | ((s64)x <= (s64)y) << 17;
  bits |= ((s64)x > (s64)y) << 18 | ((s64)x >= (s64)y) << 19;
  out[2 * i + 0] = bits;
  out[2 * i + 1] = p<q ? p : (int)p>(int) q ? q : x > y ? ~p : ~q;
}

extern "C" __global__ void int_dot4(const u32* a, const u32* b, const u32* c, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[2 * i + 0] = (u32)__dp4a((int)a[i], (int)b[i], (int)c[i]);
  out[2 * i + 1] = __dp4a(a[i], b[i], c[i]);
}

// Long dependent chains of xor, multiply and rotate.
extern "C" __global__ void int_murmur3(const u32* data, u32 words, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  u32 h = i;
  for (u32 w = 0; w < words; ++w) {
    u32 k = data[i * words + w] * 0xcc9e2d51u;
    k = (k << 15) | (k >> 17);
    h ^= k * 0x1b873593u;
    h = (h << 13) | (h >> 19);
    h = h * 5 + 0xe6546b64u;
  }
  h ^= words * 4;
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  out[i] = h ^ (h >> 16);
}

// Bytes, a data-dependent branch turned into a mask, and a nested loop.
extern "C" __global__ void int_crc32(const u8* data, u32 bytes, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  u32 crc = 0xFFFFFFFFu;
  for (u32 k = 0; k < bytes; ++k) {
    crc ^= data[i * bytes + k];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  out[i] = ~crc;
}

extern "C" __global__ void int_xorshift128(const u32* seeds, u64* out, u32 steps, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  u32 x = seeds[i], y = 362436069u, z = 521288629u, w = 88675123u;
  u64 sum = 0;
  for (u32 s = 0; s < steps; ++s) {
    const u32 t = x ^ (x << 11);
    x = y;
    y = z;
    z = w;
    w = w ^ (w >> 19) ^ t ^ (t >> 8);
    sum += (u64)w * (s + 1);
  }
  out[i] = sum;
}

// 64 x 64 -> 128 bits in 32-bit limbs, with carries by comparison.
extern "C" __global__ void int_limbs(const u64* a, const u64* b, u64* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const u64 al = (u32)a[i], ah = a[i] >> 32, bl = (u32)b[i], bh = b[i] >> 32;
  const u64 low = al * bl, mid1 = ah * bl, mid2 = al * bh, high = ah * bh;
  const u64 sum = mid1 + mid2;
  const u64 carry = sum < mid1 ? 1ull << 32 : 0;
  const u64 result = low + (sum << 32);
  out[2 * i + 0] = result;
  out[2 * i + 1] = high + (sum >> 32) + carry + (result < low);
}
