// Random numbers: one thread for each of the sequences of a generator. Number n is the next one of
// sequence n modulo 4096.
#include "dropin/curand/kernels/parameters.h"

using namespace km::curand;

namespace {

typedef unsigned int u32;
typedef unsigned long long u64;

constexpr float kInverse32 = 2.3283064e-10f;
constexpr double kInverse53 = 1.1102230246251565e-16;
constexpr double kMrgScale = 2.3283065498378288e-10;

/// Marsaglia's generator; the sixth word is a Weyl sequence.
struct Xorwow {
  u32 v[5], d;
  __device__ void load(const GenerateParameters& p, int sequence) {
    const u32* const from = (const u32*)p.states + sequence * kStateWords;
    for (int i = 0; i < 5; ++i) v[i] = from[i];
    d = from[5];
  }
  __device__ void save(const GenerateParameters& p, int sequence) const {
    u32* const to = (u32*)p.states + sequence * kStateWords;
    for (int i = 0; i < 5; ++i) to[i] = v[i];
    to[5] = d;
  }
  __device__ u32 bits() {
    const u32 t = v[0] ^ (v[0] >> 2);
    v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = v[4];
    v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
    d += 362437;
    return v[4] + d;
  }
  __device__ float angle() {
    constexpr float kScale = kInverse32 * 6.2831855f;
    return float(bits()) * kScale + kScale / 2;
  }
  __device__ float uniform() { return float(bits()) * kInverse32 + kInverse32 / 2.0f; }
  __device__ double uniform_double() {
    const u32 x = bits(), y = bits();
    return double(u64(x) ^ (u64(y) << 21)) * kInverse53 + kInverse53 / 2.0;
  }
};

/// L'Ecuyer's combined generator.
struct Mrg {
  u32 a[3], b[3];
  __device__ void load(const GenerateParameters& p, int sequence) {
    const u32* const from = (const u32*)p.states + sequence * kStateWords;
    for (int i = 0; i < 3; ++i) a[i] = from[i], b[i] = from[3 + i];
  }
  __device__ void save(const GenerateParameters& p, int sequence) const {
    u32* const to = (u32*)p.states + sequence * kStateWords;
    for (int i = 0; i < 3; ++i) to[i] = a[i], to[3 + i] = b[i];
  }
  /// 1 to the first modulus.
  __device__ double next() {
    constexpr u64 m1 = 4294967087, m2 = 4294944443;
    const u64 first = (1403580 * u64(a[1]) + 810728 * (m1 - a[0])) % m1;
    const u64 second = (527612 * u64(b[2]) + 1370589 * (m2 - b[0])) % m2;
    a[0] = a[1], a[1] = a[2], a[2] = u32(first);
    b[0] = b[1], b[1] = b[2], b[2] = u32(second);
    return double(first <= second ? first + m1 - second : first - second);
  }
  __device__ u32 bits() { return u32(next() * 1.000000048662); }
  __device__ float uniform() { return float(next() * kMrgScale); }
  __device__ float angle() { return uniform() * 6.2831855f; }
  __device__ double uniform_double() { return next() * kMrgScale; }
};

/// Salmon's counter-based generator: numbers in fours from counters, without a state.
struct Philox {
  u32 counter[4], key[2], block[4], used;
  __device__ void begin(const GenerateParameters& p, u64 position, u64 sequence) {
    key[0] = u32(p.seed), key[1] = u32(p.seed >> 32);
    const u64 group = position / 4;
    counter[0] = u32(group), counter[1] = u32(group >> 32);
    counter[2] = u32(sequence), counter[3] = u32(sequence >> 32);
    make();
    used = u32(position % 4);
  }
  __device__ void make() {
    u32 c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3], k0 = key[0],
        k1 = key[1];
    for (int round = 0; round < 10; ++round) {
      const u64 first = u64(0xD2511F53) * c0, second = u64(0xCD9E8D57) * c2;
      c0 = u32(second >> 32) ^ c1 ^ k0, c1 = u32(second);
      c2 = u32(first >> 32) ^ c3 ^ k1, c3 = u32(first);
      k0 += 0x9E3779B9, k1 += 0xBB67AE85;
    }
    block[0] = c0, block[1] = c1, block[2] = c2, block[3] = c3;
  }
  __device__ u32 bits() {
    if (used == 4) {
      if (++counter[0] == 0) ++counter[1];
      make();
      used = 0;
    }
    return used == 0   ? block[used++]
           : used == 1 ? block[used++]
           : used == 2 ? block[used++]
                       : block[used++];
  }
  __device__ float angle() {
    constexpr float kScale = kInverse32 * 6.2831855f;
    return float(bits()) * kScale + kScale / 2;
  }
  __device__ float uniform() { return float(bits()) * kInverse32 + kInverse32 / 2.0f; }
  __device__ double uniform_double() {
    const u32 x = bits(), y = bits();
    return double(u64(x) ^ (u64(y) << 21)) * kInverse53 + kInverse53 / 2.0;
  }
};

/// Box and Muller's pairs, one number after the other.
template <class Generator>
struct Normal {
  float extra;
  double extra_double;
  bool has_extra = false;
  __device__ float next(Generator& g) {
    if (has_extra) {
      has_extra = false;
      return extra;
    }
    const float u = g.uniform(), angle = g.angle();
    const float size = sqrtf(-2.0f * logf(u));
    float x, y;
    __sincosf(angle, &x, &y);  // as NVIDIA's headers have it
    extra = size * y;
    has_extra = true;
    return size * x;
  }
  __device__ double next_double(Generator& g) {
    if (has_extra) {
      has_extra = false;
      return extra_double;
    }
    const double u = g.uniform_double(), angle = g.uniform_double() * 2.0;
    const double size = sqrt(-2.0 * log(u));
    double x, y;
    sincospi(angle, &x, &y);
    extra_double = size * y;
    has_extra = true;
    return size * x;
  }
};

/// The sum of parts with small means, each counted by Knuth's product of uniform numbers.
template <class Generator>
__device__ u32 poisson(Generator& g, double mean) {
  constexpr double kPart = 16;
  u32 count = 0;
  for (double left = mean; left > 0; left -= kPart) {
    const double limit = exp(-(left < kPart ? left : kPart));
    double product = g.uniform_double();
    while (product > limit) {
      ++count;
      product *= g.uniform_double();
    }
  }
  return count;
}

template <class Generator>
__device__ void put(const GenerateParameters& p, Generator& g, Normal<Generator>& normal, u64 i) {
  switch (p.distribution) {
    case kBits:
      ((u32*)p.out)[i] = g.bits();
      break;
    case kUniform:
      ((float*)p.out)[i] = g.uniform();
      break;
    case kUniformDouble:
      ((double*)p.out)[i] = g.uniform_double();
      break;
    case kNormal:
      ((float*)p.out)[i] = float(p.mean) + float(p.deviation) * normal.next(g);
      break;
    case kNormalDouble:
      ((double*)p.out)[i] = p.mean + p.deviation * normal.next_double(g);
      break;
    case kLogNormal:
      ((float*)p.out)[i] = expf(float(p.mean) + float(p.deviation) * normal.next(g));
      break;
    case kLogNormalDouble:
      ((double*)p.out)[i] = exp(p.mean + p.deviation * normal.next_double(g));
      break;
    default:
      ((u32*)p.out)[i] = poisson(g, p.mean);
  }
}

template <class Generator>
__device__ void generate(const GenerateParameters& p) {
  const int sequence = blockIdx.x * blockDim.x + threadIdx.x;
  Generator g;
  Normal<Generator> normal;
  g.load(p, sequence);
  const u64 turn = p.first % kSequences;
  u64 i = (u64(sequence) + kSequences - turn) % kSequences;
  for (; i < p.count; i += kSequences) put(p, g, normal, i);
  g.save(p, sequence);
}

}  // namespace

extern "C" __global__ void generate_xorwow(const GenerateParameters p) { generate<Xorwow>(p); }
extern "C" __global__ void generate_mrg32k3a(const GenerateParameters p) { generate<Mrg>(p); }

/// Bits and uniform floats are the numbers of sequence 0 in their order. Other distributions use a
/// sequence for each four of their numbers: the one after the position of the first.
extern "C" __global__ void generate_philox(const GenerateParameters p) {
  const u64 thread = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  const u64 threads = u64(gridDim.x) * blockDim.x;
  const bool is_plain = p.distribution == kBits || p.distribution == kUniform;
  for (u64 first = thread * 4; first < p.count; first += threads * 4) {
    Philox g;
    Normal<Philox> normal;
    if (is_plain)
      g.begin(p, p.first + first, 0);
    else
      g.begin(p, 0, p.first + first + 1);
    for (u64 i = first; i < first + 4 && i < p.count; ++i) put(p, g, normal, i);
  }
}
