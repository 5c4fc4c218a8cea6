// cuRAND's host API: generators, their settings and the generation of numbers.
#include <cmath>

#include "dropin/curand/generator/generator.h"
#include "dropin/curand/generator/poisson.h"
#include "dropin/curand/generator/sobol.h"

namespace km::curand {

namespace {

curandStatus_t generate_for(curandGenerator_t handle, const Request& request,
                            const char* function = __builtin_FUNCTION()) {
  return call(handle, [&](Generator& g) { return generate(g, request); }, function);
}

/// The dynamic ordering is up to the device, and is the default one here.
bool has_ordering(const Generator& g, curandOrdering_t ordering) {
  if (g.is_quasi()) return ordering == CURAND_ORDERING_QUASI_DEFAULT;
  if (ordering == CURAND_ORDERING_PSEUDO_DEFAULT || ordering == CURAND_ORDERING_PSEUDO_LEGACY)
    return true;
  if (g.kind == kMt19937) return false;
  if (ordering == CURAND_ORDERING_PSEUDO_SEEDED) return g.kind == kXorwow;
  return ordering == CURAND_ORDERING_PSEUDO_BEST ||
         (ordering == CURAND_ORDERING_PSEUDO_DYNAMIC && !g.is_on_host);
}

/// Gives a table that lives as long as the process, in the type that programs have for it.
template <class Row, class Table>
curandStatus_t give_table(Row** out, Table&& table, const char* function = __builtin_FUNCTION()) {
  const auto give_it = [&] {
    return give(out, reinterpret_cast<Row*>(const_cast<void*>(static_cast<const void*>(table()))));
  };
  return call(give_it, function);
}

}  // namespace

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  return call([&] { return create(generator, type, false); });
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) {
  return call([&] { return create(generator, type, true); });
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  return call([&] { return destroy(generator); });
}

curandStatus_t curandGetVersion(int* version) {
  return call([&] { return give(version, 10400); });
}

curandStatus_t curandGetProperty(libraryPropertyType type, int* value) {
  constexpr int kParts[] = {10, 4, 0};
  if (type < 0 || type > 2) return CURAND_STATUS_OUT_OF_RANGE;
  return call([&] { return give(value, kParts[type]); });
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  return call(generator, [&](Generator& g) {
    g.stream = reinterpret_cast<cu::CUstream>(stream);
    return CURAND_STATUS_SUCCESS;
  });
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed) {
  return call(generator, [&](Generator& g) {
    if (g.is_quasi()) return CURAND_STATUS_TYPE_ERROR;
    g.seed = seed;
    g.restart();
    return CURAND_STATUS_SUCCESS;
  });
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  return call(generator, [&](Generator& g) {
    if (g.kind == kMtgp32 || g.kind == kMt19937) {
      return frame::fail(CURAND_STATUS_TYPE_ERROR, "Mersenne Twisters have no offsets");
    }
    g.offset = offset;
    g.restart();
    return CURAND_STATUS_SUCCESS;
  });
}

curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t ordering) {
  return call(generator, [&](Generator& g) -> curandStatus_t {
    if (!has_ordering(g, ordering)) {
      return invalid("this generator has no ordering %d", ordering);
    }
    g.ordering = ordering;
    g.restart();
    return CURAND_STATUS_SUCCESS;
  });
}

curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator,
                                                       unsigned dimensions) {
  return call(generator, [&](Generator& g) {
    if (!g.is_quasi()) return CURAND_STATUS_TYPE_ERROR;
    if (dimensions == 0 || dimensions > kMostDimensions) {
      return invalid("%u dimensions; there are 1 to %u", dimensions, kMostDimensions);
    }
    g.dimensions = dimensions;
    g.restart();
    return CURAND_STATUS_SUCCESS;
  });
}

curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return call(generator, [&](Generator& g) {
    bool is_captured = false;
    return prepare(g, nullptr, &is_captured);
  });
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned* out, size_t n) {
  return generate_for(generator, {out, n, kBits, 0, 0, 4});
}
curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long* out,
                                      size_t n) {
  return generate_for(generator, {out, n, kBits, 0, 0, 8});
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* out, size_t n) {
  return generate_for(generator, {out, n, kUniform, 0, 0, 4});
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* out, size_t n) {
  return generate_for(generator, {out, n, kUniformDouble, 0, 0, 8});
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* out, size_t n, float mean,
                                    float deviation) {
  return generate_for(generator, {out, n, kNormal, mean, deviation, 4});
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* out, size_t n,
                                          double mean, double deviation) {
  return generate_for(generator, {out, n, kNormalDouble, mean, deviation, 8});
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* out, size_t n,
                                       float mean, float deviation) {
  return generate_for(generator, {out, n, kLogNormal, mean, deviation, 4});
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* out, size_t n,
                                             double mean, double deviation) {
  return generate_for(generator, {out, n, kLogNormalDouble, mean, deviation, 8});
}
curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned* out, size_t n,
                                     double mean) {
  if (!(mean > 0 && mean <= kMostPoissonMean)) return CURAND_STATUS_OUT_OF_RANGE;
  return generate_for(generator, {out, n, kPoissonTable, mean, std::sqrt(mean), 4});
}
curandStatus_t curandGeneratePoissonMethod(curandGenerator_t generator, unsigned* out, size_t n,
                                           double mean, curandMethod_t) {
  return curandGeneratePoisson(generator, out, n, mean);
}

/// Arrays of 20,000 rows, which stay for the process.
curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t** vectors,
                                           curandDirectionVectorSet_t set) {
  if (set != CURAND_DIRECTION_VECTORS_32_JOEKUO6 &&
      set != CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6)
    return CURAND_STATUS_OUT_OF_RANGE;
  return give_table(vectors, [&] {
    return sobol_directions32(set == CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6);
  });
}
curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t** vectors,
                                           curandDirectionVectorSet_t set) {
  if (set != CURAND_DIRECTION_VECTORS_64_JOEKUO6 &&
      set != CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6)
    return CURAND_STATUS_OUT_OF_RANGE;
  return give_table(vectors, [&] {
    return sobol_directions64(set == CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6);
  });
}
curandStatus_t curandGetScrambleConstants32(unsigned** constants) {
  return give_table(constants, sobol_scrambles32);
}
curandStatus_t curandGetScrambleConstants64(unsigned long long** constants) {
  return give_table(constants, sobol_scrambles64);
}

curandStatus_t curandCreatePoissonDistribution(double mean,
                                               curandDiscreteDistribution_t* distribution) {
  return call([&] { return create_poisson(distribution, mean); });
}
curandStatus_t curandDestroyDistribution(curandDiscreteDistribution_t distribution) {
  return call([&] { return destroy_distribution(distribution); });
}

}  // extern "C"

}  // namespace km::curand
