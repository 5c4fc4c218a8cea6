// Tables of Poisson distributions, for generators and for the device API's curand_discrete().
#pragma once

#include <cstdint>
#include <vector>

#include "dropin/curand/generator/generator.h"

namespace km::curand {

constexpr double kMostPoissonMean = 400000;
constexpr double kMostTableMean = 2000;  // larger means use no tables
constexpr uint32_t kMostTableEntries = 4096;

/// The arrays of a PoissonTable, including the entry for the uniform number 1.
struct Histogram {
  std::vector<double> bounds;
  std::vector<uint32_t> indices;
  uint32_t length = 0, shift = 0;
};

/// Builds a table with all counts whose probability is not zero in f64.
Histogram poisson_histogram(double mean);

/// The method by which a generator of this kind makes Poisson numbers with this mean.
Distribution poisson_method(int kind, double mean);

/// Puts a distribution into device memory, which curand_discrete() reads.
curandStatus_t create_poisson(curandDiscreteDistribution_t* out, double mean);
/// Fails with CURAND_STATUS_NOT_INITIALIZED if create_poisson() has not made the distribution.
curandStatus_t destroy_distribution(curandDiscreteDistribution_t distribution);

}  // namespace km::curand
