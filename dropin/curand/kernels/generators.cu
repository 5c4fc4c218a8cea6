// Random numbers of sequences that take turns: XORWOW, MRG32k3a and Philox.
#include "dropin/curand/kernels/poisson.cuh"

using namespace km::curand;

namespace {

constexpr float kInverse32 = 2.3283064e-10f;
constexpr float kTurn = 6.2831855f;
constexpr double kInverse53 = 1.1102230246251565e-16;
constexpr double kMrgScale = 2.3283065498378288e-10;

__device__ float unit(u32 x) { return float(x) * kInverse32 + kInverse32 / 2.0f; }
__device__ float angle_of(u32 x) {
  constexpr float kScale = kInverse32 * kTurn;
  return float(x) * kScale + kScale / 2;
}
__device__ double unit(u32 low, u32 high) {
  return double(u64(low) ^ (u64(high) << 21)) * kInverse53 + kInverse53 / 2.0;
}

/// Box and Muller's pair, as NVIDIA's headers have it.
__device__ float2 normal_pair(float u, float angle) {
  const float size = sqrtf(-2.0f * logf(u));
  float x, y;
  __sincosf(angle, &x, &y);
  return {size * x, size * y};
}
/// The angle counts in half turns.
__device__ double2 normal_pair(double u, double angle) {
  const double size = sqrt(-2.0 * log(u));
  double x, y;
  sincospi(angle, &x, &y);
  return {size * x, size * y};
}

__device__ float scaled(const GenerateParameters& p, float x) {
  const float normal = float(p.mean) + float(p.deviation) * x;
  return p.is_log != 0 ? expf(normal) : normal;
}
__device__ double scaled(const GenerateParameters& p, double x) {
  const double normal = p.mean + p.deviation * x;
  return p.is_log != 0 ? exp(normal) : normal;
}
__device__ u32 poisson_from_normal(const GenerateParameters& p, float x) {
  return u32(p.deviation * double(x) + p.mean + 0.5);
}

__device__ u32& word(const GenerateParameters& p, int index, u32 sequence) {
  return ((u32*)p.states)[u64(index) * p.sequences + sequence];
}

/// Marsaglia's generator; the sixth word is a Weyl sequence.
struct Xorwow {
  u32 v[5], d;
  __device__ void load(const GenerateParameters& p, u32 sequence) {
    for (int i = 0; i < 5; ++i) v[i] = word(p, i, sequence);
    d = word(p, 5, sequence);
  }
  __device__ void save(const GenerateParameters& p, u32 sequence) const {
    for (int i = 0; i < 5; ++i) word(p, i, sequence) = v[i];
    word(p, 5, sequence) = d;
  }
  __device__ u32 bits() {
    const u32 t = v[0] ^ (v[0] >> 2);
    v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = v[4];
    v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
    d += 362437;
    return v[4] + d;
  }
  __device__ float angle() { return angle_of(bits()); }
  __device__ float uniform() { return unit(bits()); }
  __device__ double uniform_double() {
    const u32 low = bits(), high = bits();
    return unit(low, high);
  }
};

/// A number below 2^54 modulo 2^32 - rest, with a rest below 2^15: the upper half counts `rest`
/// times.
template <u32 rest>
__device__ u32 reduced(u64 x) {
  constexpr u64 kModulus = (u64(1) << 32) - rest;
  x = u64(u32(x >> 32)) * rest + u32(x);
  x = u64(u32(x >> 32)) * rest + u32(x);
  return u32(x >= kModulus ? x - kModulus : x);
}

/// L'Ecuyer's combined generator.
struct Mrg {
  u32 a[3], b[3];
  __device__ void load(const GenerateParameters& p, u32 sequence) {
    for (int i = 0; i < 3; ++i) a[i] = word(p, i, sequence), b[i] = word(p, 3 + i, sequence);
  }
  __device__ void save(const GenerateParameters& p, u32 sequence) const {
    for (int i = 0; i < 3; ++i) word(p, i, sequence) = a[i], word(p, 3 + i, sequence) = b[i];
  }
  /// 1 to the first modulus.
  __device__ double next() {
    constexpr u32 m1 = 4294967087, m2 = 4294944443;
    const u32 first = reduced<0 - m1>(u64(1403580) * a[1] + u64(810728) * (m1 - a[0]));
    const u32 second = reduced<0 - m2>(u64(527612) * b[2] + u64(1370589) * (m2 - b[0]));
    a[0] = a[1], a[1] = a[2], a[2] = first;
    b[0] = b[1], b[1] = b[2], b[2] = second;
    return double(first <= second ? first + m1 - second : first - second);
  }
  __device__ u32 bits() { return u32(next() * 1.000000048662); }
  __device__ float uniform() { return float(next() * kMrgScale); }
  __device__ float angle() { return uniform() * kTurn; }
  __device__ double uniform_double() { return next() * kMrgScale; }
};

/// The second number of a pair waits in the state for the sequence's next normal number.
template <class Generator>
__device__ float normal(const GenerateParameters& p, Generator& g, u32 sequence) {
  u32& extra = word(p, 6, sequence);
  u32& has_extra = word(p, 7, sequence);
  if (has_extra != 0) {
    has_extra = 0;
    return __uint_as_float(extra);
  }
  const float u = g.uniform();
  const float2 pair = normal_pair(u, g.angle());
  extra = __float_as_uint(pair.y);
  has_extra = 1;
  return pair.x;
}

/// Puts draw i.
template <int distribution, class Generator>
__device__ void put(const GenerateParameters& p, Generator& g, u32 sequence, u64 i) {
  if constexpr (distribution == kBits) {
    ((u32*)p.out)[i] = g.bits();
  } else if constexpr (distribution == kUniform) {
    ((float*)p.out)[i] = g.uniform();
  } else if constexpr (distribution == kUniformDouble) {
    ((double*)p.out)[i] = g.uniform_double();
  } else if constexpr (distribution == kNormal) {
    const float u = g.uniform();
    const float2 pair = normal_pair(u, g.angle());
    ((float*)p.out)[2 * i] = scaled(p, pair.x);
    ((float*)p.out)[2 * i + 1] = scaled(p, pair.y);
  } else if constexpr (distribution == kNormalDouble) {
    const double u = g.uniform_double();
    const double2 pair = normal_pair(u, g.uniform_double() * 2.0);
    ((double*)p.out)[2 * i] = scaled(p, pair.x);
    ((double*)p.out)[2 * i + 1] = scaled(p, pair.y);
  } else if constexpr (distribution == kPoissonTable) {
    ((u32*)p.out)[i] = poisson_from_table(p.table, g.bits());
  } else {
    ((u32*)p.out)[i] = poisson_from_normal(p, normal(p, g, sequence));
  }
}

/// The sequence of a call's first draw.
__device__ u32 turn_of(const GenerateParameters& p) {
  return p.counter == 0 ? p.turn : u32(begin_of(0, p.counter) % p.sequences);
}

/// Thread t makes draws t, t + sequences, t + 2 sequences ..., which are of one sequence.
template <int distribution, class Generator>
__device__ void generate(const GenerateParameters& p) {
  const u64 thread = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (thread >= p.draws || thread >= p.sequences) return;
  const u32 sequence = (turn_of(p) + u32(thread)) % p.sequences;
  Generator g;
  g.load(p, sequence);
  for (u64 i = thread; i < p.draws; i += p.sequences) put<distribution>(p, g, sequence, i);
  g.save(p, sequence);
}

/// Salmon's counter-based generator: four words of a sequence from a counter.
__device__ uint4 philox(const GenerateParameters& p, u64 counter, u32 sequence) {
  u32 c0 = u32(counter), c1 = u32(counter >> 32), c2 = sequence, c3 = 0;
  u32 k0 = u32(p.seed), k1 = u32(p.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const u64 first = u64(0xD2511F53) * c0, second = u64(0xCD9E8D57) * c2;
    c0 = u32(second >> 32) ^ c1 ^ k0, c1 = u32(second);
    c2 = u32(first >> 32) ^ c3 ^ k1, c3 = u32(first);
    k0 += 0x9E3779B9, k1 += 0xBB67AE85;
  }
  return {c0, c1, c2, c3};
}

/// Puts those of four numbers that are asked for; `begin` is the place of the first, and wraps if
/// that is before the place 0.
template <class Number>
__device__ void put_four(const GenerateParameters& p, u64 begin, const Number (&numbers)[4]) {
  Number* const out = (Number*)p.out;
  if (begin < p.count && p.count - begin >= 4) {
    for (int i = 0; i < 4; ++i) out[begin + i] = numbers[i];
    return;
  }
  for (int i = 0; i < 4; ++i) {
    if (begin + i < p.count) out[begin + i] = numbers[i];
  }
}

/// The four numbers of a draw, which begins at the counter.
template <int distribution>
__device__ void put_philox(const GenerateParameters& p, u64 counter, u32 sequence, u64 begin) {
  const uint4 x = philox(p, counter, sequence);
  if constexpr (distribution == kBits) {
    put_four<u32>(p, begin, {x.x, x.y, x.z, x.w});
  } else if constexpr (distribution == kUniform) {
    put_four<float>(p, begin, {unit(x.x), unit(x.y), unit(x.z), unit(x.w)});
  } else if constexpr (distribution == kPoissonTable) {
    put_four<u32>(p, begin,
                  {poisson_from_table(p.table, x.x), poisson_from_table(p.table, x.y),
                   poisson_from_table(p.table, x.z), poisson_from_table(p.table, x.w)});
  } else if constexpr (distribution == kUniformDouble || distribution == kNormalDouble) {
    const uint4 y = philox(p, counter + 1, sequence);
    const double u[4] = {unit(x.x, x.y), unit(x.z, x.w), unit(y.x, y.y), unit(y.z, y.w)};
    if constexpr (distribution == kUniformDouble) {
      put_four<double>(p, begin, u);
    } else {
      const double2 a = normal_pair(u[0], u[1] * 2.0), b = normal_pair(u[2], u[3] * 2.0);
      put_four<double>(p, begin, {scaled(p, a.x), scaled(p, a.y), scaled(p, b.x), scaled(p, b.y)});
    }
  } else {
    const float2 a = normal_pair(unit(x.x), angle_of(x.y)),
                 b = normal_pair(unit(x.z), angle_of(x.w));
    if constexpr (distribution == kNormal) {
      put_four<float>(p, begin, {scaled(p, a.x), scaled(p, a.y), scaled(p, b.x), scaled(p, b.y)});
    } else {
      put_four<u32>(p, begin,
                    {poisson_from_normal(p, a.x), poisson_from_normal(p, a.y),
                     poisson_from_normal(p, b.x), poisson_from_normal(p, b.y)});
    }
  }
}

/// The call that makes the last number of a draw moves the sequence's counter on: by two words of
/// each number for doubles, by one for others.
template <int distribution>
__device__ void generate_philox(const GenerateParameters& p) {
  constexpr int kStep = distribution == kUniformDouble || distribution == kNormalDouble ? 2 : 1;
  const u64 thread = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  u32 turn = p.turn, lead = p.lead;
  u64 draws = p.draws;
  if (p.counter != 0) {
    const u64 first = begin_of(0, p.counter);
    turn = u32(first / 4 % p.sequences);
    lead = u32(first % 4);
    draws = (lead + p.count + 3) / 4;
  }
  if (thread >= draws || thread >= p.sequences) return;
  const u32 sequence = (turn + u32(thread)) % p.sequences;
  u64& saved = ((u64*)p.states)[sequence];
  u64 counter = saved;
  for (u64 draw = thread; draw < draws; draw += p.sequences) {
    put_philox<distribution>(p, counter, sequence, draw * 4 - lead);
    if (draw * 4 + 4 <= p.count + lead) counter += kStep;
  }
  saved = counter;
}

}  // namespace

#define KM_KERNELS(distribution)                                                   \
  extern "C" __global__ void xorwow_##distribution(const GenerateParameters p) {   \
    generate<distribution, Xorwow>(p);                                             \
  }                                                                                \
  extern "C" __global__ void mrg32k3a_##distribution(const GenerateParameters p) { \
    generate<distribution, Mrg>(p);                                                \
  }                                                                                \
  extern "C" __global__ void philox_##distribution(const GenerateParameters p) {   \
    generate_philox<distribution>(p);                                              \
  }
KM_KERNELS(kBits)
KM_KERNELS(kUniform)
KM_KERNELS(kUniformDouble)
KM_KERNELS(kNormal)
KM_KERNELS(kNormalDouble)
KM_KERNELS(kPoissonTable)
KM_KERNELS(kPoissonNormal)

/// After a call, in the order of its stream.
extern "C" __global__ void count_given(const CountParameters p) { *(u64*)p.counter += p.count; }
