// cuRAND's host API: generators, their settings, their numbers.
#include <cmath>

#include "dropin/curand/generator/generator.h"
#include "dropin/curand/generator/poisson.h"
#include "dropin/curand/generator/sobol.h"

namespace km::curand {

namespace {

curandStatus_t generate_for(void* handle, const Request& request,
                            const char* function = __builtin_FUNCTION()) {
  return call(handle, [&](Generator& g) { return generate(g, request); }, function);
}

/// The dynamic ordering is up to the device, and is the default one here.
bool has_ordering(const Generator& g, int ordering) {
  if (g.is_quasi()) return ordering == kQuasiDefault;
  if (ordering == kDefault || ordering == kLegacy) return true;
  if (g.kind == kMt19937) return false;
  if (ordering == kSeeded) return g.kind == kXorwow;
  return ordering == kBest || (ordering == kDynamic && !g.is_on_host);
}

/// curandDirectionVectorSet.
enum DirectionSet { kPlain32 = 101, kScrambled32 = 102, kPlain64 = 103, kScrambled64 = 104 };

/// Gives a table that lives as long as the process.
template <class Word, class Table>
curandStatus_t give_table(const Word** out, Table&& table,
                          const char* function = __builtin_FUNCTION()) {
  return call([&] { return give(out, table()); }, function);
}

}  // namespace

extern "C" {

int32_t curandCreateGenerator(void** generator, int type) {
  return call([&] { return create(generator, type, false); });
}
int32_t curandCreateGeneratorHost(void** generator, int type) {
  return call([&] { return create(generator, type, true); });
}

int32_t curandDestroyGenerator(void* generator) {
  return call([&] { return destroy(generator); });
}

int32_t curandGetVersion(int* version) {
  return call([&] { return give(version, 10400); });
}

int32_t curandGetProperty(int type, int* value) {
  constexpr int kParts[] = {10, 4, 0};
  if (type < 0 || type > 2) return kOutOfRange;
  return call([&] { return give(value, kParts[type]); });
}

int32_t curandSetStream(void* generator, void* stream) {
  return call(generator, [&](Generator& g) {
    g.stream = static_cast<cu::CUstream>(stream);
    return kSuccess;
  });
}

int32_t curandSetPseudoRandomGeneratorSeed(void* generator, unsigned long long seed) {
  return call(generator, [&](Generator& g) {
    if (g.is_quasi()) return kTypeError;
    g.seed = seed;
    g.restart();
    return kSuccess;
  });
}

int32_t curandSetGeneratorOffset(void* generator, unsigned long long offset) {
  return call(generator, [&](Generator& g) {
    if (g.kind == kMtgp32 || g.kind == kMt19937) {
      return frame::fail(kTypeError, "Mersenne Twisters have no offsets");
    }
    g.offset = offset;
    g.restart();
    return kSuccess;
  });
}

int32_t curandSetGeneratorOrdering(void* generator, int ordering) {
  return call(generator, [&](Generator& g) -> curandStatus_t {
    if (!has_ordering(g, ordering)) {
      return invalid("the ordering %d is not there for this generator", ordering);
    }
    g.ordering = ordering;
    g.restart();
    return kSuccess;
  });
}

int32_t curandSetQuasiRandomGeneratorDimensions(void* generator, unsigned dimensions) {
  return call(generator, [&](Generator& g) {
    if (!g.is_quasi()) return kTypeError;
    if (dimensions == 0 || dimensions > kMostDimensions) {
      return invalid("%u dimensions; there are 1 to %u", dimensions, kMostDimensions);
    }
    g.dimensions = dimensions;
    g.restart();
    return kSuccess;
  });
}

int32_t curandGenerateSeeds(void* generator) {
  return call(generator, [&](Generator& g) {
    bool is_captured = false;
    return prepare(g, nullptr, &is_captured);
  });
}

int32_t curandGenerate(void* generator, unsigned* out, size_t n) {
  return generate_for(generator, {out, n, kBits, 0, 0, 4});
}
int32_t curandGenerateLongLong(void* generator, unsigned long long* out, size_t n) {
  return generate_for(generator, {out, n, kBits, 0, 0, 8});
}
int32_t curandGenerateUniform(void* generator, float* out, size_t n) {
  return generate_for(generator, {out, n, kUniform, 0, 0, 4});
}
int32_t curandGenerateUniformDouble(void* generator, double* out, size_t n) {
  return generate_for(generator, {out, n, kUniformDouble, 0, 0, 8});
}
int32_t curandGenerateNormal(void* generator, float* out, size_t n, float mean, float deviation) {
  return generate_for(generator, {out, n, kNormal, mean, deviation, 4});
}
int32_t curandGenerateNormalDouble(void* generator, double* out, size_t n, double mean,
                                   double deviation) {
  return generate_for(generator, {out, n, kNormalDouble, mean, deviation, 8});
}
int32_t curandGenerateLogNormal(void* generator, float* out, size_t n, float mean,
                                float deviation) {
  return generate_for(generator, {out, n, kLogNormal, mean, deviation, 4});
}
int32_t curandGenerateLogNormalDouble(void* generator, double* out, size_t n, double mean,
                                      double deviation) {
  return generate_for(generator, {out, n, kLogNormalDouble, mean, deviation, 8});
}
int32_t curandGeneratePoisson(void* generator, unsigned* out, size_t n, double mean) {
  if (!(mean > 0 && mean <= kMostPoissonMean)) return kOutOfRange;
  return generate_for(generator, {out, n, kPoissonTable, mean, std::sqrt(mean), 4});
}
int32_t curandGeneratePoissonMethod(void* generator, unsigned* out, size_t n, double mean, int) {
  return curandGeneratePoisson(generator, out, n, mean);
}

/// Arrays of 20,000 rows, which stay for the process.
int32_t curandGetDirectionVectors32(const uint32_t** vectors, int set) {
  if (set != kPlain32 && set != kScrambled32) return kOutOfRange;
  return give_table(vectors, [&] { return sobol_directions32(set == kScrambled32); });
}
int32_t curandGetDirectionVectors64(const uint64_t** vectors, int set) {
  if (set != kPlain64 && set != kScrambled64) return kOutOfRange;
  return give_table(vectors, [&] { return sobol_directions64(set == kScrambled64); });
}
int32_t curandGetScrambleConstants32(const uint32_t** constants) {
  return give_table(constants, sobol_scrambles32);
}
int32_t curandGetScrambleConstants64(const uint64_t** constants) {
  return give_table(constants, sobol_scrambles64);
}

int32_t curandCreatePoissonDistribution(double mean, void** distribution) {
  return call([&] { return create_poisson(distribution, mean); });
}
int32_t curandDestroyDistribution(void* distribution) {
  return call([&] { return destroy_distribution(distribution); });
}

}  // extern "C"

}  // namespace km::curand
